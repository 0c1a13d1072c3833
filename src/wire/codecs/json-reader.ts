import { TAG_BYTES } from './frame.ts';
import { JSON_BYTES } from './json-writer.ts';

const { QUOTE, COMMA, MINUS, POINT, ZERO, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST } = JSON_BYTES;
const [BACKSLASH, SPACE, EXPONENT] = [0x5c, 0x20, 0x65];
const encoder = new TextEncoder();
const [NULL, TRUE, FALSE] = ['null', 'true', 'false'].map((text) => encoder.encode(text)) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
];
/** Powers that are exact, so that one division rounds as a JSON parser does. */
const POWERS = Float64Array.from({ length: 23 }, (_, i) => 10 ** i);
const MAX_CACHED_BYTES = 256;

/** The texts of an enumeration as they stand on the wire. */
export const choiceBytes = (texts: readonly string[]): Uint8Array[] =>
  texts.map((text) => encoder.encode(JSON.stringify(text)));

/** The text that a field had last time. */
export class TextCache {
  text = '';
  readonly bytes = new Uint8Array(MAX_CACHED_BYTES);
  length = 0;

  /** After another parser has found out what the text is. */
  keep(text: string): void {
    if (text === this.text) return;
    const { read, written } = encoder.encodeInto(text, this.bytes);
    this.length = read === text.length && !/["\\]|\p{Cc}|\p{Cs}/u.test(text) ? written : 0;
    this.text = this.length === 0 ? '' : text;
  }
}

/**
 * Reads a datagram whose fields stand as our own encoder writes them, without allocating. Anything else, however
 * valid, makes `isOk` false, and the caller parses it as JSON instead: what this reader accepts means the same there.
 * Numbers leave through a typed array. Hot path.
 */
export class JsonReader {
  readonly numbers = new Float64Array(16);
  isOk = true;
  #bytes: Uint8Array = new Uint8Array(0);
  #at = 0;
  #end = 0;
  #isFirst = true;

  begin(bytes: Uint8Array, length: number): void {
    this.#bytes = bytes;
    this.#at = TAG_BYTES;
    this.#end = length;
    this.#isFirst = true;
    this.isOk = true;
    this.#expect(OPEN);
  }

  /** True if all was read. */
  end(): boolean {
    this.#expect(CLOSE);
    return this.isOk && this.#at === this.#end;
  }

  key(name: Uint8Array): void {
    if (!this.has(name)) this.isOk = false;
  }

  /** Moves past the field's name if it comes next. */
  has(name: Uint8Array): boolean {
    const from = this.#at;
    if (!this.#isFirst && this.#bytes[this.#at] === COMMA) this.#at++;
    else if (!this.#isFirst) return false;
    if (this.#starts(name)) {
      this.#isFirst = false;
      return true;
    }
    this.#at = from;
    return false;
  }

  /** A whole number of at least 0, into numbers[i]. */
  count(i: number): void {
    this.#number(this.numbers, i);
    const value = this.numbers[i]!;
    if (!(value >= 0 && Math.floor(value) === value)) this.isOk = false;
  }

  number(i: number): void {
    this.#number(this.numbers, i);
  }

  /** NaN for null. */
  stamp(i: number): void {
    if (this.#starts(NULL)) this.numbers[i] = Number.NaN;
    else this.#number(this.numbers, i);
  }

  isNull(): boolean {
    return this.#starts(NULL);
  }

  list(out: Float64Array): void {
    this.openList();
    this.elements(out);
    this.closeList();
  }

  elements(out: Float64Array): void {
    for (let i = 0; i < out.length; i++) {
      if (i > 0) this.comma();
      this.#number(out, i);
    }
  }

  openList(): void {
    this.#expect(OPEN_LIST);
  }

  closeList(): void {
    this.#expect(CLOSE_LIST);
  }

  /** True if the list ends here. */
  endsList(): boolean {
    if (this.#bytes[this.#at] !== CLOSE_LIST || this.#at >= this.#end) return false;
    this.#at++;
    return true;
  }

  comma(): void {
    this.#expect(COMMA);
  }

  flag(): boolean {
    if (this.#starts(TRUE)) return true;
    if (!this.#starts(FALSE)) this.isOk = false;
    return false;
  }

  /** Index of the text that comes next; -1 if none of them does. */
  choice(texts: readonly Uint8Array[]): number {
    for (let i = 0; i < texts.length; i++) if (this.#starts(texts[i]!)) return i;
    this.isOk = false;
    return -1;
  }

  /** The text, if it is what the field had last time. */
  text(cache: TextCache): string {
    this.#expect(QUOTE);
    const { bytes, length } = cache;
    if (this.#at + length >= this.#end) this.isOk = false;
    for (let i = 0; this.isOk && i < length; i++) {
      const byte = this.#bytes[this.#at + i]!;
      if (byte !== bytes[i] || byte === BACKSLASH || byte < SPACE) this.isOk = false;
    }
    this.#at += length;
    this.#expect(QUOTE);
    return cache.text;
  }

  #starts(text: Uint8Array): boolean {
    if (this.#at + text.length > this.#end) return false;
    for (let i = 0; i < text.length; i++) if (this.#bytes[this.#at + i] !== text[i]) return false;
    this.#at += text.length;
    return true;
  }

  #expect(byte: number): void {
    if (this.#at >= this.#end || this.#bytes[this.#at] !== byte) this.isOk = false;
    else this.#at++;
  }

  #number(out: Float64Array, i: number): void {
    const isNegative = this.#bytes[this.#at] === MINUS;
    if (isNegative) this.#at++;
    const from = this.#at;
    let value = 0;
    let digit = this.#digit();
    if (digit < 0) this.isOk = false;
    for (; digit >= 0; digit = this.#digit()) value = value * 10 + digit;
    // JSON has no leading zeros.
    if (this.#bytes[from] === ZERO && this.#at - from > 1) this.isOk = false;
    let places = 0;
    if (this.#at < this.#end && this.#bytes[this.#at] === POINT) {
      const pointAt = this.#at++;
      for (digit = this.#digit(); digit >= 0; digit = this.#digit()) value = value * 10 + digit;
      places = this.#at - pointAt - 1;
      if (places === 0) this.isOk = false;
    }
    places += this.#negativeExponent();
    // Exact as long as it is a safe integer; -0 is left to the other parser.
    if (!(value <= Number.MAX_SAFE_INTEGER) || places >= POWERS.length || (isNegative && value === 0))
      this.isOk = false;
    else out[i] = (isNegative ? -value : value) / POWERS[places]!;
  }

  /** `e-7`: one digit. */
  #negativeExponent(): number {
    if (this.#at >= this.#end || this.#bytes[this.#at] !== EXPONENT) return 0;
    this.#at++;
    this.#expect(MINUS);
    const digit = this.#digit();
    if (digit < 0) this.isOk = false;
    return digit;
  }

  /** Moves past a digit; -1 if there is none. */
  #digit(): number {
    if (this.#at >= this.#end) return -1;
    const digit = this.#bytes[this.#at]! - ZERO;
    if (digit < 0 || digit > 9) return -1;
    this.#at++;
    return digit;
  }
}
