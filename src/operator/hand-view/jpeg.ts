/** Baseline JPEG, greyscale, with the tables of ITU-T T.81 annex K. For drawings: blocks of one tone cost next to nothing. */

// biome-ignore format: a table
const QUANTISATION = [
  16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51, 87, 80, 62,
  18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99,
];
// biome-ignore format: a table
const ZIGZAG = [
  0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
  35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
];
const DC_BITS = [0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0];
const DC_VALUES = Array.from({ length: 12 }, (_, i) => i);
const AC_BITS = [0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 0x7d];
const AC_VALUES = [
  ...Buffer.from(
    '01020300041105122131410613516107227114328191a1082342b1c11552d1f02433627282090a161718191a25262728292a3435363738393a434445464748494a535455565758595a636465666768696a737475767778797a838485868788898a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2e3e4e5e6e7e8e9eaf1f2f3f4f5f6f7f8f9fa',
    'hex',
  ),
];

interface Codes {
  code: Uint16Array;
  length: Uint8Array;
}

function codesOf(bits: readonly number[], values: readonly number[]): Codes {
  const [code, length] = [new Uint16Array(256), new Uint8Array(256)];
  let [next, at] = [0, 0];
  bits.forEach((count, i) => {
    for (let k = 0; k < count; k++) {
      code[values[at]!] = next++;
      length[values[at++]!] = i + 1;
    }
    next <<= 1;
  });
  return { code, length };
}

const [DC, AC] = [codesOf(DC_BITS, DC_VALUES), codesOf(AC_BITS, AC_VALUES)];
const END_OF_BLOCK = 0;
const SIXTEEN_ZEROS = 0xf0;
/** cos((2x + 1) u π / 16) with the normalisation of the transform. */
const COSINES = Float64Array.from({ length: 64 }, (_, i) => {
  const [u, x] = [i >> 3, i & 7];
  return (u === 0 ? Math.SQRT1_2 : 1) * 0.5 * Math.cos(((2 * x + 1) * u * Math.PI) / 16);
});

/** `pixels`: width · height bytes, rows from the top; both sides multiples of 8. */
export function encodeJpeg(pixels: Uint8Array, width: number, height: number, quality = 75): Buffer {
  const scale = quality < 50 ? 50 / quality : 2 - quality / 50;
  const steps = QUANTISATION.map((step) => Math.min(255, Math.max(1, Math.round(step * scale))));
  const bits = new BitWriter();
  let dc = 0;
  for (let y = 0; y < height; y += 8)
    for (let x = 0; x < width; x += 8) {
      transform(pixels, y * width + x, width, steps);
      dc = writeBlock(bits, dc);
    }
  return Buffer.concat([header(width, height, steps), bits.finish(), Buffer.from([0xff, 0xd9])]);
}

function header(width: number, height: number, steps: readonly number[]): Buffer {
  const segment = (marker: number, body: readonly number[]) => [
    0xff,
    marker,
    (body.length + 2) >> 8,
    (body.length + 2) & 255,
    ...body,
  ];
  return Buffer.from([
    0xff,
    0xd8,
    ...segment(0xe0, [0x4a, 0x46, 0x49, 0x46, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0]),
    ...segment(0xdb, [0, ...ZIGZAG.map((at) => steps[at]!)]),
    ...segment(0xc0, [8, height >> 8, height & 255, width >> 8, width & 255, 1, 1, 0x11, 0]),
    ...segment(0xc4, [0x00, ...DC_BITS, ...DC_VALUES]),
    ...segment(0xc4, [0x10, ...AC_BITS, ...AC_VALUES]),
    ...segment(0xda, [1, 1, 0x00, 0, 63, 0]),
  ]);
}

const rows = new Float64Array(64);
/** Quantised coefficients of the block at hand, in zigzag order. */
const block = new Int32Array(64);

function transform(pixels: Uint8Array, from: number, stride: number, steps: readonly number[]): void {
  block.fill(0);
  const first = pixels[from]!;
  let same = true;
  for (let y = 0; y < 8 && same; y++)
    for (let x = 0; x < 8; x++) if (pixels[from + y * stride + x] !== first) same = false;
  if (same) {
    block[0] = Math.round((8 * (first - 128)) / steps[0]!);
    return;
  }
  for (let y = 0; y < 8; y++)
    for (let u = 0; u < 8; u++) {
      let sum = 0;
      for (let x = 0; x < 8; x++) sum += (pixels[from + y * stride + x]! - 128) * COSINES[8 * u + x]!;
      rows[8 * y + u] = sum;
    }
  for (let i = 0; i < 64; i++) {
    const [v, u] = [ZIGZAG[i]! >> 3, ZIGZAG[i]! & 7];
    let sum = 0;
    for (let y = 0; y < 8; y++) sum += rows[8 * y + u]! * COSINES[8 * v + y]!;
    block[i] = Math.round(sum / steps[ZIGZAG[i]!]!);
  }
}

/** Returns the block's DC value, from which the next one's is told. */
function writeBlock(bits: BitWriter, previousDc: number): number {
  const difference = block[0]! - previousDc;
  const size = bitsOf(difference);
  bits.write(DC.code[size]!, DC.length[size]!);
  bits.write(magnitude(difference, size), size);
  let zeros = 0;
  for (let i = 1; i < 64; i++) {
    const value = block[i]!;
    if (value === 0) {
      zeros++;
      continue;
    }
    for (; zeros > 15; zeros -= 16) bits.write(AC.code[SIXTEEN_ZEROS]!, AC.length[SIXTEEN_ZEROS]!);
    const symbol = 16 * zeros + bitsOf(value);
    bits.write(AC.code[symbol]!, AC.length[symbol]!);
    bits.write(magnitude(value, bitsOf(value)), bitsOf(value));
    zeros = 0;
  }
  if (zeros > 0) bits.write(AC.code[END_OF_BLOCK]!, AC.length[END_OF_BLOCK]!);
  return block[0]!;
}

const bitsOf = (value: number): number => 32 - Math.clz32(Math.abs(value));
/** Negative values are sent as their ones' complement. */
const magnitude = (value: number, size: number): number => (value < 0 ? value + (1 << size) - 1 : value);

class BitWriter {
  #bytes = Buffer.alloc(1 << 14);
  #length = 0;
  #held = 0;
  #count = 0;

  write(value: number, size: number): void {
    for (let i = size - 1; i >= 0; i--) {
      this.#held = (this.#held << 1) | ((value >> i) & 1);
      if (++this.#count === 8) this.#flush();
    }
  }

  /** A byte of all ones is followed by one of none, so that no marker is seen. */
  #flush(): void {
    if (this.#length + 2 > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes, this.#bytes]);
    this.#bytes[this.#length++] = this.#held;
    if (this.#held === 255) this.#bytes[this.#length++] = 0;
    this.#held = 0;
    this.#count = 0;
  }

  finish(): Buffer {
    while (this.#count !== 0) this.write(1, 1);
    return this.#bytes.subarray(0, this.#length);
  }
}
