import { emptyPicture } from './drawing.ts';
import type { RgbPicture } from './source.ts';

/** A third of the width and height, each pixel the mean of nine; leftover edge pixels are cropped. */
export function toThird(from: RgbPicture, out: RgbPicture = thirdOf(from)): RgbPicture {
  const stride = 3 * from.widthPx;
  const { pixels } = from;
  for (let row = 0, to = 0; row < out.heightPx; row++)
    for (let column = 0; column < out.widthPx; column++) {
      let a = 3 * row * stride + 9 * column;
      for (let k = 0; k < 3; k++, a++, to++) {
        const b = a + stride;
        const c = b + stride;
        const upper = pixels[a]! + pixels[a + 3]! + pixels[a + 6]! + pixels[b]! + pixels[b + 3]!;
        out.pixels[to] = ((upper + pixels[b + 6]! + pixels[c]! + pixels[c + 3]! + pixels[c + 6]!) / 9) | 0;
      }
    }
  return out;
}

const thirdOf = ({ widthPx, heightPx }: RgbPicture): RgbPicture =>
  emptyPicture(Math.max(1, Math.floor(widthPx / 3)), Math.max(1, Math.floor(heightPx / 3)));
