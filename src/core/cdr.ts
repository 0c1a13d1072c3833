/** The first two bytes of a serialized payload: how the rest is encoded. */
export const ENCAPSULATION = { cdrBe: 0, cdrLe: 1, plCdrBe: 2, plCdrLe: 3 } as const;
export const ENCAPSULATION_BYTES = 4;

const utf8 = new TextDecoder('utf-8');
const toUtf8 = new TextEncoder();

/**
 * Reads XCDR version 1 of either byte order. Bytes come from outside, so nothing throws: past the end or on a
 * violation, `ok` stays false from then on and every further value is zero or empty.
 */
export class CdrReader {
  ok = true;
  readonly little: boolean;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  /** Alignment counts from here. */
  readonly #origin: number;
  readonly #end: number;
  #at: number;

  constructor(bytes: Uint8Array, at: number, end: number, little: boolean) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#origin = at;
    this.#at = at;
    this.#end = Math.min(end, bytes.length);
    this.little = little;
  }

  get left(): number {
    return this.#end - this.#at;
  }

  /** Offset of the next `count` bytes, after padding to `align`; −1 if they are missing. */
  take(count: number, align = 1): number {
    const at = this.#at + ((align - ((this.#at - this.#origin) % align)) % align);
    if (!this.ok || at + count > this.#end) {
      this.ok = false;
      return -1;
    }
    this.#at = at + count;
    return at;
  }

  u8(): number {
    const at = this.take(1);
    return at < 0 ? 0 : this.#bytes[at]!;
  }

  u16(): number {
    const at = this.take(2, 2);
    return at < 0 ? 0 : this.#view.getUint16(at, this.little);
  }

  u32(): number {
    const at = this.take(4, 4);
    return at < 0 ? 0 : this.#view.getUint32(at, this.little);
  }

  i32(): number {
    return this.u32() | 0;
  }

  f64(): number {
    const at = this.take(8, 8);
    return at < 0 ? 0 : this.#view.getFloat64(at, this.little);
  }

  /** A copy. */
  bytes(count: number): Uint8Array {
    const at = this.take(count);
    return at < 0 ? new Uint8Array(0) : this.#bytes.slice(at, at + count);
  }

  /** A length, then the text and its terminating zero. */
  string(): string {
    const length = this.u32();
    if (length === 0) return '';
    const at = this.take(length);
    if (at < 0) return '';
    if (this.#bytes[at + length - 1] !== 0) {
      this.ok = false;
      return '';
    }
    return utf8.decode(this.#bytes.subarray(at, at + length - 1));
  }

  /** Length of a sequence, if that many elements of at least `elementBytes` can follow. */
  count(elementBytes: number): number {
    const count = this.u32();
    if (this.ok && count * elementBytes <= this.left) return count;
    this.ok = false;
    return 0;
  }

  strings(): string[] {
    const count = this.count(4);
    const texts: string[] = [];
    for (let i = 0; i < count && this.ok; i++) texts.push(this.string());
    return texts;
  }

  f64s(): Float64Array {
    const values = new Float64Array(this.count(8));
    for (let i = 0; i < values.length; i++) values[i] = this.f64();
    return values;
  }
}

/** A reader for a payload in plain CDR; null for any other encapsulation. */
export function payloadReader(payload: Uint8Array): CdrReader | null {
  const kind = encapsulationOf(payload);
  if (kind !== ENCAPSULATION.cdrBe && kind !== ENCAPSULATION.cdrLe) return null;
  return new CdrReader(payload, ENCAPSULATION_BYTES, payload.length, kind === ENCAPSULATION.cdrLe);
}

export const encapsulationOf = (payload: Uint8Array): number =>
  payload.length < ENCAPSULATION_BYTES ? -1 : payload[0]! * 256 + payload[1]!;

/** Writes little-endian XCDR version 1 into the given memory; `ok` is false when that was too small. */
export class CdrWriter {
  ok = true;
  readonly bytes: Uint8Array;
  readonly #view: DataView;
  #origin = 0;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get length(): number {
    return this.#at;
  }

  /** Starts over. */
  restart(): void {
    this.ok = true;
    this.#at = 0;
    this.#origin = 0;
  }

  /** Starts over, after the four bytes of the encapsulation. */
  begin(encapsulation: number): void {
    this.restart();
    this.u8(encapsulation >> 8);
    this.u8(encapsulation & 0xff);
    this.u8(0);
    this.u8(0);
    this.#origin = ENCAPSULATION_BYTES;
  }

  #put(count: number, align: number): number {
    const padding = (align - ((this.#at - this.#origin) % align)) % align;
    const at = this.#at + padding;
    if (!this.ok || at + count > this.bytes.length) {
      this.ok = false;
      return -1;
    }
    this.bytes.fill(0, this.#at, at);
    this.#at = at + count;
    return at;
  }

  align(align: number): void {
    this.#put(0, align);
  }

  u8(value: number): void {
    const at = this.#put(1, 1);
    if (at >= 0) this.bytes[at] = value;
  }

  u16(value: number): void {
    const at = this.#put(2, 2);
    if (at >= 0) this.#view.setUint16(at, value, true);
  }

  u32(value: number): void {
    const at = this.#put(4, 4);
    if (at >= 0) this.#view.setUint32(at, value, true);
  }

  i32(value: number): void {
    this.u32(value >>> 0);
  }

  f64(value: number): void {
    const at = this.#put(8, 8);
    if (at >= 0) this.#view.setFloat64(at, value, true);
  }

  raw(source: Uint8Array): void {
    const at = this.#put(source.length, 1);
    if (at >= 0) this.bytes.set(source, at);
  }

  string(text: string): void {
    const encoded = toUtf8.encode(text);
    this.u32(encoded.length + 1);
    this.raw(encoded);
    this.u8(0);
  }

  strings(texts: readonly string[]): void {
    this.u32(texts.length);
    for (const text of texts) this.string(text);
  }

  f64s(values: ArrayLike<number>): void {
    this.u32(values.length);
    for (let i = 0; i < values.length; i++) this.f64(values[i]!);
  }

  /** Fills in a length after its content was written: `at` is where its two bytes are. */
  patchU16(at: number, value: number): void {
    if (this.ok) this.#view.setUint16(at, value, true);
  }
}
