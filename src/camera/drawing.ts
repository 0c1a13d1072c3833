import type { RgbPicture } from './source.ts';

export type Colour = readonly [red: number, green: number, blue: number];

export const emptyPicture = (widthPx: number, heightPx: number): RgbPicture => ({
  kind: 'rgb',
  pixels: new Uint8Array(3 * widthPx * heightPx),
  widthPx,
  heightPx,
});

export function fillRect(
  to: RgbPicture,
  x: number,
  y: number,
  width: number,
  height: number,
  colour: Colour,
): void {
  const [left, right] = [Math.max(0, Math.round(x)), Math.min(to.widthPx, Math.round(x + width))];
  const [top, bottom] = [Math.max(0, Math.round(y)), Math.min(to.heightPx, Math.round(y + height))];
  for (let row = top; row < bottom; row++)
    for (let at = 3 * (row * to.widthPx + left); at < 3 * (row * to.widthPx + right); at += 3) {
      to.pixels[at] = colour[0];
      to.pixels[at + 1] = colour[1];
      to.pixels[at + 2] = colour[2];
    }
}

export function fillDisc(to: RgbPicture, x: number, y: number, radius: number, colour: Colour): void {
  for (let dy = -radius; dy <= radius; dy++) {
    const half = Math.sqrt(radius * radius - dy * dy);
    fillRect(to, x - half, y + dy, 2 * half, 1, colour);
  }
}

/** Three columns by five rows, a bit per pixel, rows from the top. */
const GLYPHS: Record<string, number> = {
  '0': 0b111_101_101_101_111,
  '1': 0b010_110_010_010_111,
  '2': 0b111_001_111_100_111,
  '3': 0b111_001_111_001_111,
  '4': 0b101_101_111_001_001,
  '5': 0b111_100_111_001_111,
  '6': 0b111_100_111_101_111,
  '7': 0b111_001_010_010_010,
  '8': 0b111_101_111_101_111,
  '9': 0b111_101_111_001_111,
  ':': 0b000_010_000_010_000,
  '.': 0b000_000_000_000_010,
  '%': 0b101_001_010_100_101,
  '-': 0b000_000_111_000_000,
  A: 0b111_101_111_101_101,
  B: 0b110_101_110_101_110,
  C: 0b111_100_100_100_111,
  D: 0b110_101_101_101_110,
  E: 0b111_100_110_100_111,
  F: 0b111_100_110_100_100,
  G: 0b111_100_101_101_111,
  H: 0b101_101_111_101_101,
  I: 0b111_010_010_010_111,
  J: 0b001_001_001_101_111,
  K: 0b101_101_110_101_101,
  L: 0b100_100_100_100_111,
  M: 0b101_111_111_101_101,
  N: 0b110_101_101_101_101,
  O: 0b111_101_101_101_111,
  P: 0b111_101_111_100_100,
  Q: 0b111_101_101_111_001,
  R: 0b110_101_110_101_101,
  S: 0b111_100_111_001_111,
  T: 0b111_010_010_010_010,
  U: 0b101_101_101_101_111,
  V: 0b101_101_101_101_010,
  W: 0b101_101_111_111_101,
  X: 0b101_101_010_101_101,
  Y: 0b101_101_010_010_010,
  Z: 0b111_001_010_100_111,
};

/** Capital letters, digits and `:.%-`; a character is 4 × 5 pixels times `scale`. */
export function drawText(
  to: RgbPicture,
  x: number,
  y: number,
  text: string,
  scale: number,
  colour: Colour,
): void {
  for (const [i, character] of [...text].entries()) {
    const glyph = GLYPHS[character] ?? 0;
    for (let bit = 0; bit < 15; bit++)
      if ((glyph >> (14 - bit)) & 1)
        fillRect(to, x + scale * (4 * i + (bit % 3)), y + scale * Math.floor(bit / 3), scale, scale, colour);
  }
}

/** Hours, minutes, seconds and milliseconds. */
export function timeCode(ns: number): string {
  const ms = Math.floor(ns / 1e6);
  const two = (value: number) => String(value).padStart(2, '0');
  const seconds = Math.floor(ms / 1000);
  return `${two(Math.floor(seconds / 3600) % 100)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}.${String(ms % 1000).padStart(3, '0')}`;
}
