import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { faintTexts } from './contrast.ts';

const TABS = 20;

/** Contrast in both themes, visible focus, a region that announces changes, and no motion where it is unwanted. */
export async function expectAccessible(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    // A page reads the system's theme when it loads.
    await page.evaluate(`document.documentElement.dataset.theme = '${colorScheme}'`);
    await page.waitForTimeout(100);
    assert.deepEqual(await faintTexts(page), [], `${name}, ${colorScheme}`);
  }
  assert.equal(await page.evaluate('document.getAnimations().length'), 0, `${name}: animations`);
  assert.equal(await page.evaluate(ANIMATED), 0, `${name}: animated elements`);
  assert.notEqual(await page.evaluate(LIVE_REGIONS), 0, `${name}: live regions`);
  const hidden = new Set<string>();
  for (let i = 0; i < TABS; i++) {
    await page.keyboard.press('Tab');
    const unseen = await page.evaluate<string | null>(UNSEEN_FOCUS);
    if (unseen !== null) hidden.add(unseen);
  }
  assert.deepEqual([...hidden], [], `${name}: focus`);
}

const LIVE_REGIONS = `document.querySelectorAll('[aria-live="polite"], [aria-live="assertive"], [role="status"], [role="alert"]').length`;

/** The element with the focus, if nothing shows that it has it. */
export const UNSEEN_FOCUS = `(() => {
  const node = document.activeElement;
  if (!node || node === document.body) return null;
  const seen = (at) => {
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(at);
    return (outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2) || boxShadow !== 'none';
  };
  return seen(node) || seen(node.parentElement) ? null : node.outerHTML.slice(0, 80);
})()`;

export const ANIMATED = `[...document.querySelectorAll('*')].filter((node) => {
  const { animationName, transitionDuration } = getComputedStyle(node);
  return animationName !== 'none' || parseFloat(transitionDuration) > 0;
}).length`;
