import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PLACES = [
  process.env['FARHAND_CHROMIUM'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

export const chromiumPath = PLACES.find((place) => place !== undefined && existsSync(place)) ?? null;

/** Why the browser tests cannot run here, or false. In CI a missing browser is a failure, not a reason. */
export const noChromium: string | false =
  chromiumPath === null && !process.env['CI']
    ? 'no Chromium found: install one (apt-get install chromium) or set FARHAND_CHROMIUM to its path'
    : false;

export function launchChromium(more: readonly string[] = []): Promise<Browser> {
  if (chromiumPath === null) throw new Error('no Chromium: CI must install one');
  return chromium.launch({
    executablePath: chromiumPath,
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--enable-unsafe-swiftshader',
      ...more,
    ],
  });
}
