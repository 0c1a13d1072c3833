import { type Browser, type BrowserContext, chromium } from 'playwright-core';
import { chromiumPath } from '../needs.ts';

const PICTURE_EVERY_MS = 100;
/** Within a test's 60 s. */
const PATIENCE_MS = 50_000;

/**
 * The browser draws in software, and at 60 pictures per second that fills a core. No test looks at every picture:
 * they come `everyMs`, or with 0 as fast as they can. An emulated headset samples its hands with each of them.
 */
export async function launchChromium(
  more: readonly string[] = [],
  everyMs = PICTURE_EVERY_MS,
): Promise<Browser> {
  if (chromiumPath === null) throw new Error("no Chromium: a test that uses one needs('chromium')");
  const browser = await chromium.launch({
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
  return everyMs === 0 ? browser : forTests(browser, everyMs);
}

/** Every page of the browser; also those of `newPage`, which opens a context of its own. */
function forTests(browser: Browser, everyMs: number): Browser {
  const open = browser.newContext.bind(browser);
  browser.newContext = async (options): Promise<BrowserContext> => {
    const context = await open(options);
    context.setDefaultTimeout(PATIENCE_MS);
    await context.addInitScript(`
      window.requestAnimationFrame = (draw) => setTimeout(() => draw(performance.now()), ${everyMs});
      window.cancelAnimationFrame = clearTimeout;
    `);
    return context;
  };
  return browser;
}
