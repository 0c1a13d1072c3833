import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { faintTexts } from './contrast.ts';

/** More controls than this are a list: its first ones stand for the others. */
const MAX_TABS = 40;

/**
 * Contrast in both themes, a name for every control, a visible focus that Tab takes to every control, a region that announces
 * changes, and no motion where it is unwanted.
 */
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
  assert.deepEqual(await page.evaluate<string[]>(UNNAMED), [], `${name}: controls without a name`);
  await expectReachable(page, name);
}

/** Tab reaches every control, and shows where it is. */
async function expectReachable(page: Page, name: string): Promise<void> {
  await page.evaluate(FROM_THE_START);
  const controls = (await page.evaluate<string[]>(CONTROLS)).slice(0, MAX_TABS);
  const [reached, unseen] = [new Set<string>(), new Set<string>()];
  for (let i = 0; i < 2 * MAX_TABS && controls.some((each) => !reached.has(each)); i++) {
    await page.keyboard.press('Tab');
    reached.add(await page.evaluate<string>(FOCUSED));
    const hidden = await page.evaluate<string | null>(UNSEEN_FOCUS);
    if (hidden !== null) unseen.add(hidden);
  }
  const missed = controls.filter((each) => !reached.has(each));
  assert.deepEqual(missed, [], `${name}: Tab does not reach`);
  assert.deepEqual([...unseen], [], `${name}: focus`);
}

const KEY = `const keyOf = (node) => node?.dataset.testid ?? node?.id ?? node?.textContent.trim().slice(0, 40) ?? '';`;
const SELECTOR = `'button, a[href], input, select, textarea, summary, [role="button"], [tabindex="0"]'`;
const VISIBLE = `const isSeen = (node) => node.checkVisibility({ visibilityProperty: true }) && !node.closest('[inert], .skip') && !node.disabled;`;

const CONTROLS = `(() => {
  ${KEY} ${VISIBLE}
  return [...new Set([...document.querySelectorAll(${SELECTOR})].filter((node) => isSeen(node) && node.tabIndex >= 0).map(keyOf))];
})()`;

/** Tab goes on from the last click, and a long list has no end: it begins at the top. */
const FROM_THE_START = `(() => {
  const mark = document.createElement('span');
  mark.tabIndex = -1;
  document.body.prepend(mark);
  mark.focus();
  mark.remove();
})()`;

const FOCUSED = `(() => { ${KEY} return keyOf(document.activeElement); })()`;

/** Visible controls and pictures that a screen reader could only call "button" or "picture". */
const UNNAMED = `(() => {
  ${VISIBLE}
  const text = (node) => node?.textContent.trim() ?? '';
  const labelled = (node) => (node.getAttribute('aria-labelledby') ?? '').split(' ').map((id) => text(document.getElementById(id))).join('');
  const nameOf = (node) => node.getAttribute('aria-label') || labelled(node) || [...(node.labels ?? [])].map(text).join('') || node.getAttribute('alt') || (/INPUT|SELECT|TEXTAREA|CANVAS|IMG/.test(node.tagName) ? '' : text(node)) || node.title;
  const controls = [...document.querySelectorAll(${SELECTOR} + ', canvas, img, [role="img"]')];
  return controls.filter((node) => isSeen(node) && !node.closest('[aria-hidden="true"]') && nameOf(node).trim() === '').map((node) => node.outerHTML.slice(0, 90));
})()`;

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
