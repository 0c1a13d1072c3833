/** JPEG's own base tables (ITU T.81, annex K), for a quality of 50. */
const LUMA = [
  16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22,
  29, 51, 87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103,
  121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99,
];
const CHROMA = Array.from({ length: 64 }, (_, i) =>
  (i >> 3) + (i & 7) < 4 ? [17, 18, 24, 47][Math.max(i >> 3, i & 7)]! : 99,
);
const BLOCK = 8;
export const COEFFICIENTS = 64;
export const TABLES = { luma: LUMA, chroma: CHROMA };

/** basis[u][x] of the orthonormal transform. */
const BASIS = Array.from({ length: BLOCK }, (_, u) =>
  Float64Array.from(
    { length: BLOCK },
    (_, x) => Math.sqrt((u === 0 ? 1 : 2) / BLOCK) * Math.cos(((2 * x + 1) * u * Math.PI) / (2 * BLOCK)),
  ),
);

/** Blocks of a picture in 4:2:0: luma, then the two chroma planes. */
export const blocksOf = (widthPx: number, heightPx: number): number =>
  (widthPx * heightPx * 1.5) / (BLOCK * BLOCK);

/**
 * A picture as the quantised coefficients of JPEG, without its entropy coding: coefficient-major, so that a general
 * compressor finds the zeros. Any program with a matrix product can undo it. Width and height: multiples of 16.
 */
export function toCoefficients(rgb: Uint8Array, widthPx: number, heightPx: number, out: Int8Array): void {
  const blocks = blocksOf(widthPx, heightPx);
  const { y, cb, cr } = planesOf(rgb, widthPx, heightPx);
  let block = 0;
  const add = (plane: Float64Array, width: number, height: number, table: readonly number[]) => {
    for (let top = 0; top < height; top += BLOCK)
      for (let left = 0; left < width; left += BLOCK, block++)
        transform(plane, top * width + left, width, table, out, block, blocks);
  };
  add(y, widthPx, heightPx, LUMA);
  add(cb, widthPx / 2, heightPx / 2, CHROMA);
  add(cr, widthPx / 2, heightPx / 2, CHROMA);
}

function planesOf(rgb: Uint8Array, width: number, height: number) {
  const y = new Float64Array(width * height);
  const cb = new Float64Array((width * height) / 4);
  const cr = new Float64Array((width * height) / 4);
  for (let row = 0; row < height; row++)
    for (let column = 0; column < width; column++) {
      const i = row * width + column;
      const [r, g, b] = [rgb[3 * i]!, rgb[3 * i + 1]!, rgb[3 * i + 2]!];
      y[i] = 0.299 * r + 0.587 * g + 0.114 * b - 128;
      const half = (row >> 1) * (width / 2) + (column >> 1);
      cb[half]! += (-0.168736 * r - 0.331264 * g + 0.5 * b) / 4;
      cr[half]! += (0.5 * r - 0.418688 * g - 0.081312 * b) / 4;
    }
  return { y, cb, cr };
}

const half = new Float64Array(BLOCK * BLOCK);

function transform(
  plane: Float64Array,
  start: number,
  stride: number,
  table: readonly number[],
  out: Int8Array,
  block: number,
  blocks: number,
): void {
  for (let v = 0; v < BLOCK; v++)
    for (let x = 0; x < BLOCK; x++) {
      let sum = 0;
      for (let row = 0; row < BLOCK; row++) sum += BASIS[v]![row]! * plane[start + row * stride + x]!;
      half[v * BLOCK + x] = sum;
    }
  for (let v = 0; v < BLOCK; v++)
    for (let u = 0; u < BLOCK; u++) {
      let sum = 0;
      for (let x = 0; x < BLOCK; x++) sum += BASIS[u]![x]! * half[v * BLOCK + x]!;
      const k = v * BLOCK + u;
      out[k * blocks + block] = Math.max(-127, Math.min(127, Math.round(sum / table[k]!)));
    }
}
