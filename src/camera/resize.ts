import { emptyPicture } from './drawing.ts';
import type { RgbPicture } from './source.ts';

/** A third of the width and height, each pixel the mean of nine; what is left over at the edges is cut off. */
export function toThird(from: RgbPicture, out: RgbPicture = thirdOf(from)): RgbPicture {
  const stride = 3 * from.widthPx;
  for (let row = 0, to = 0; row < out.heightPx; row++)
    for (let column = 0; column < out.widthPx; column++)
      for (let k = 0; k < 3; k++) {
        const at = 3 * row * stride + 9 * column + k;
        let sum = 0;
        for (let line = at; line <= at + 2 * stride; line += stride)
          sum += from.pixels[line]! + from.pixels[line + 3]! + from.pixels[line + 6]!;
        out.pixels[to++] = sum / 9;
      }
  return out;
}

const thirdOf = ({ widthPx, heightPx }: RgbPicture): RgbPicture =>
  emptyPicture(Math.max(1, Math.floor(widthPx / 3)), Math.max(1, Math.floor(heightPx / 3)));
