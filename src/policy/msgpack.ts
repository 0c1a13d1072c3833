/** A NumPy array as openpi's clients and servers send it: little-endian, row-major. */
export interface NdArray {
  dtype: string;
  shape: readonly number[];
  bytes: Uint8Array;
}

export type Packable = string | number | boolean | NdArray | { readonly [key: string]: Packable };

const text = new TextEncoder();
const strict = new TextDecoder('utf-8', { fatal: true });
const isArray = (value: object): value is NdArray => 'bytes' in value && value.bytes instanceof Uint8Array;

/** MessagePack of the kinds that an observation needs. Arrays are maps whose keys are byte strings, as openpi's are. */
export function pack(value: Packable): Uint8Array {
  const parts: Uint8Array[] = [];
  put(value, parts);
  return Buffer.concat(parts);
}

function put(value: Packable, out: Uint8Array[]): void {
  if (typeof value === 'string') return sized(text.encode(value), [0xd9, 0xda, 0xdb], out);
  if (typeof value === 'boolean') return void out.push(Uint8Array.of(value ? 0xc3 : 0xc2));
  if (typeof value === 'number') return putNumber(value, out);
  if (isArray(value)) return putArray(value, out);
  const entries = Object.entries(value);
  head(entries.length, 0xde, out);
  for (const [key, each] of entries) {
    put(key, out);
    put(each, out);
  }
}

function putNumber(value: number, out: Uint8Array[]): void {
  const bytes = Buffer.alloc(Number.isInteger(value) && value >= 0 && value < 2 ** 32 ? 5 : 9);
  if (bytes.length === 5) bytes.writeUInt32BE(value, bytes.writeUInt8(0xce));
  else bytes.writeDoubleBE(value, bytes.writeUInt8(0xcb));
  out.push(bytes);
}

function putArray({ dtype, shape, bytes }: NdArray, out: Uint8Array[]): void {
  head(4, 0xde, out);
  const key = (name: string) => sized(text.encode(name), BINARY, out);
  key('__ndarray__');
  put(true, out);
  key('data');
  sized(bytes, BINARY, out);
  key('dtype');
  put(dtype, out);
  key('shape');
  head(shape.length, 0xdc, out);
  for (const length of shape) putNumber(length, out);
}

const BINARY = [0xc4, 0xc5, 0xc6] as const;

/** Bytes behind a length of 8, 16 or 32 bits. */
function sized(bytes: Uint8Array, [small, middle, large]: readonly number[], out: Uint8Array[]): void {
  const { length } = bytes;
  const start = Buffer.alloc(length < 0x100 ? 2 : length < 0x10000 ? 3 : 5);
  if (length < 0x100) start.set([small!, length]);
  else if (length < 0x10000) start.writeUInt16BE(length, start.writeUInt8(middle!));
  else start.writeUInt32BE(length, start.writeUInt8(large!));
  out.push(start, bytes);
}

/** Of a list or a map with at most 65,535 entries. */
function head(length: number, code: number, out: Uint8Array[]): void {
  out.push(Uint8Array.of(code, length >> 8, length & 255));
}

const MAX_DEPTH = 16;
/** Of a message, including the keys: reading more would take this process seconds. Arrays of numbers are one value. */
const MAX_VALUES = 100_000;

/** Reads one value; throws for anything but a whole, valid message. Maps become objects without a prototype. */
export function unpack(bytes: Uint8Array): unknown {
  const reader = new Reader(bytes);
  const value = reader.value(0);
  if (!reader.isAtEnd) throw new Error('bytes follow the message');
  return value;
}

class Reader {
  readonly #view: DataView;
  readonly #bytes: Uint8Array;
  #at = 0;
  #values = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  value(depth: number): unknown {
    if (depth > MAX_DEPTH) throw new Error('nested too deeply');
    if (++this.#values > MAX_VALUES) throw new Error(`the message has more than ${MAX_VALUES} values`);
    const code = this.#number('getUint8', 1);
    if (code < 0x80) return code;
    if (code < 0x90) return this.#map(code & 15, depth);
    if (code < 0xa0) return this.#list(code & 15, depth);
    if (code < 0xc0) return this.#text(code & 31);
    if (code >= 0xe0) return code - 256;
    return this.#coded(code, depth);
  }

  #coded(code: number, depth: number): unknown {
    if (code === 0xc0) return null;
    if (code === 0xc2 || code === 0xc3) return code === 0xc3;
    if (code >= 0xc4 && code <= 0xc6) return this.#take(this.#length(code - 0xc4));
    if (code === 0xca) return this.#number('getFloat32', 4);
    if (code === 0xcb) return this.#number('getFloat64', 8);
    if (code >= 0xcc && code <= 0xce) return this.#length(code - 0xcc);
    if (code === 0xcf) return Number(this.#view.getBigUint64(this.#skip(8)));
    if (code === 0xd0) return this.#number('getInt8', 1);
    if (code === 0xd1) return this.#number('getInt16', 2);
    if (code === 0xd2) return this.#number('getInt32', 4);
    if (code === 0xd3) return Number(this.#view.getBigInt64(this.#skip(8)));
    if (code >= 0xd9 && code <= 0xdb) return this.#text(this.#length(code - 0xd9));
    if (code === 0xdc || code === 0xdd) return this.#list(this.#length(code - 0xdb), depth);
    if (code === 0xde || code === 0xdf) return this.#map(this.#length(code - 0xdd), depth);
    throw new Error(`kind ${code} is not supported`);
  }

  #number(
    read: 'getUint8' | 'getInt8' | 'getInt16' | 'getInt32' | 'getFloat32' | 'getFloat64',
    size: number,
  ) {
    return this.#view[read](this.#skip(size));
  }

  /** An unsigned number of 1, 2 or 4 bytes. */
  #length(power: number): number {
    const at = this.#skip(1 << power);
    if (power === 0) return this.#view.getUint8(at);
    return power === 1 ? this.#view.getUint16(at) : this.#view.getUint32(at);
  }

  #skip(size: number): number {
    const at = this.#at;
    if (at + size > this.#bytes.length) throw new Error('the message is cut off');
    this.#at += size;
    return at;
  }

  #take(size: number): Uint8Array {
    const at = this.#skip(size);
    return this.#bytes.subarray(at, at + size);
  }

  #text(size: number): string {
    return strict.decode(this.#take(size));
  }

  #list(length: number, depth: number): unknown[] {
    const out: unknown[] = [];
    for (let i = 0; i < length; i++) out.push(this.value(depth + 1));
    return out;
  }

  #map(length: number, depth: number): Record<string, unknown> {
    const out: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
    for (let i = 0; i < length; i++) {
      const key = this.value(depth + 1);
      out[key instanceof Uint8Array ? strict.decode(key) : String(key)] = this.value(depth + 1);
    }
    return out;
  }
}
