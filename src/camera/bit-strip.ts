import { fillRect } from './drawing.ts';
import type { RgbPicture } from './source.ts';

/** Numbers as light and dark cells along the bottom edge: a program can read them from a lossy picture. */
const STRIP_BITS = 32;

const cellPx = ({ widthPx }: RgbPicture): number => Math.floor(widthPx / STRIP_BITS);

/** Most significant bit first, from the left. */
export function drawStrip(to: RgbPicture, value: number): void {
  const size = cellPx(to);
  for (let bit = 0; bit < STRIP_BITS; bit++) {
    const tone = (value >>> (STRIP_BITS - 1 - bit)) & 1 ? 235 : 16;
    fillRect(to, bit * size, to.heightPx - size, size, size, [tone, tone, tone]);
  }
}

export function readStrip(from: RgbPicture): number {
  const size = cellPx(from);
  let value = 0;
  for (let bit = 0; bit < STRIP_BITS; bit++) {
    const row = from.heightPx - Math.ceil(size / 2);
    const tone = from.pixels[3 * (row * from.widthPx + bit * size + (size >> 1))]!;
    value = ((value << 1) | (tone > 128 ? 1 : 0)) >>> 0;
  }
  return value;
}

/** The low 16 bits of the frame number, then the low 16 bits of the capture time in milliseconds. */
export const stripValue = (frame: number, captureNs: number): number =>
  (((frame & 0xffff) << 16) | (Math.floor(captureNs / 1e6) & 0xffff)) >>> 0;
