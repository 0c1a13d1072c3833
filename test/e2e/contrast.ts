import type { Page } from 'playwright-core';

/** A text that is hard to read. */
export interface FaintText {
  text: string;
  selector: string;
  ratio: number;
  wanted: number;
  colours: string;
}

/**
 * Contrast of every visible text against what is behind it, by the formula of WCAG 2.2: 4.5, or 3 for large text.
 * Disabled controls are exempt, as there. Pictures and the 3D view count with the colour of the element they are in.
 */
export const faintTexts = (page: Page): Promise<FaintText[]> => page.evaluate<FaintText[]>(SCRIPT);

const SCRIPT = `(() => {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 1;
  const ink = canvas.getContext('2d', { willReadFrequently: true });
  const known = new Map();
  const rgba = (colour) => {
    if (!known.has(colour)) {
      ink.clearRect(0, 0, 1, 1);
      ink.fillStyle = colour;
      ink.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = ink.getImageData(0, 0, 1, 1).data;
      known.set(colour, [r, g, b, a / 255]);
    }
    return known.get(colour);
  };
  const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ratioOf = (a, b) => {
    const [high, low] = [light(a), light(b)].sort((p, q) => q - p);
    return (high + 0.05) / (low + 0.05);
  };
  const behind = (node) => {
    const layers = [];
    for (let at = node; at; at = at.parentElement) layers.push(rgba(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255, 1]);
  };
  const opacityOf = (node) => {
    let opacity = 1;
    for (let at = node; at; at = at.parentElement) opacity *= Number(getComputedStyle(at).opacity);
    return opacity;
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim();
    const node = walker.currentNode.parentElement;
    if (text === '' || !node || ['SCRIPT', 'STYLE', 'NOSCRIPT', 'OPTION'].includes(node.tagName)) continue;
    if (!node.checkVisibility({ visibilityProperty: true })) continue;
    if (node.closest('.visually-hidden, :disabled, [aria-hidden="true"], [inert], .skip')) continue;
    const style = getComputedStyle(node);
    const [r, g, b, a] = rgba(style.color);
    const ground = behind(node);
    const shown = over([r, g, b, a * opacityOf(node)], ground);
    const sizePx = parseFloat(style.fontSize);
    const isLarge = sizePx >= 24 || (sizePx >= 18.66 && Number(style.fontWeight) >= 700);
    const wanted = isLarge ? 3 : 4.5;
    const ratio = ratioOf(shown, ground);
    const selector = node.tagName.toLowerCase() + (node.id ? '#' + node.id : '') + (node.className ? '.' + node.className : '');
    if (ratio < wanted) found.push({ text: text.slice(0, 40), selector, ratio: Math.round(ratio * 100) / 100, wanted, colours: shown.slice(0, 3).map(Math.round) + ' on ' + ground.slice(0, 3).map(Math.round) });
  }
  return found;
})()`;
