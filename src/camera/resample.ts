import { emptyPicture } from './drawing.ts';
import type { RgbPicture } from './source.ts';

/** A picture at another size, each pixel the mean of the area it covers. The same picture if the size is the same. */
export function resampled(from: RgbPicture, widthPx: number, heightPx: number): RgbPicture {
  if (from.widthPx === widthPx && from.heightPx === heightPx) return from;
  const out = emptyPicture(widthPx, heightPx);
  const columns = shares(from.widthPx, widthPx);
  const rows = shares(from.heightPx, heightPx);
  for (let y = 0, to = 0; y < heightPx; y++)
    for (let x = 0; x < widthPx; x++, to += 3) {
      let [r, g, b] = [0, 0, 0];
      for (const [fromY, shareY] of rows[y]!)
        for (const [fromX, shareX] of columns[x]!) {
          const at = 3 * (fromY * from.widthPx + fromX);
          const share = shareX * shareY;
          r += share * from.pixels[at]!;
          g += share * from.pixels[at + 1]!;
          b += share * from.pixels[at + 2]!;
        }
      out.pixels[to] = Math.round(r);
      out.pixels[to + 1] = Math.round(g);
      out.pixels[to + 2] = Math.round(b);
    }
  return out;
}

/** For each pixel of the result, the pixels it covers and their shares, which add up to 1. */
function shares(from: number, to: number): [number, number][][] {
  const scale = from / to;
  return Array.from({ length: to }, (_, i) => {
    const [start, end] = [i * scale, (i + 1) * scale];
    const covered: [number, number][] = [];
    for (let at = Math.floor(start); at < Math.min(from, Math.ceil(end - 1e-9)); at++)
      covered.push([at, (Math.min(end, at + 1) - Math.max(start, at)) / scale]);
    return covered;
  });
}
