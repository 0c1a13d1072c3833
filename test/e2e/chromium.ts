import { type Browser, chromium } from 'playwright-core';
import { chromiumPath } from '../needs.ts';

export function launchChromium(more: readonly string[] = []): Promise<Browser> {
  if (chromiumPath === null) throw new Error("no Chromium: a test that uses one needs('chromium')");
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
