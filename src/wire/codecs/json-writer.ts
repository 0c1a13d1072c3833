import { type MessageType, writeTag } from './frame.ts';

const [QUOTE, COMMA, MINUS, POINT, ZERO, COLON] = [0x22, 0x2c, 0x2d, 0x2e, 0x30, 0x3a];
const [OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];
const encoder = new TextEncoder();
const ascii = (text: string): Uint8Array => encoder.encode(text);
const [NULL, TRUE, FALSE] = [ascii('null'), ascii('true'), ascii('false')];
const EXPONENT = ascii('e-7');
const POWERS = Float64Array.from({ length: 9 }, (_, i) => 10 ** i);
const HALF = 1e8;

/** A field's name as it stands on the wire, made once. */
export const keyBytes = (name: string): Uint8Array => ascii(`"${name}":`);

/** The JSON of a text that seldom changes. */
export class TextBytes {
  #text = '';
  bytes = ascii('""');

  of(text: string): Uint8Array {
    if (text !== this.#text) {
      this.#text = text;
      this.bytes = ascii(JSON.stringify(text));
    }
    return this.bytes;
  }
}

/**
 * Writes the same bytes as `JSON.stringify`, straight into a datagram. Numbers pass through typed arrays, because V8
 * allocates an object for every fractional number that it passes to a function. Never allocates after construction,
 * except for a text that changed. Hot path.
 */
export class JsonWriter {
  /** Scalars on their way in. */
  readonly numbers = new Float64Array(16);
  #out: Uint8Array = new Uint8Array(0);
  #at = 0;
  #isFirst = true;

  begin(type: MessageType, out: Uint8Array): void {
    this.#out = out;
    this.#at = writeTag(type, out);
    this.#isFirst = true;
    this.#put(OPEN);
  }

  /** Length of the datagram; 0 when it does not fit. */
  end(): number {
    this.#put(CLOSE);
    return this.#at <= this.#out.length ? this.#at : 0;
  }

  key(name: Uint8Array): void {
    if (!this.#isFirst) this.#put(COMMA);
    this.#isFirst = false;
    this.#copy(name);
  }

  /** numbers[i], rounded to `places` decimals; null where it is not finite. */
  number(i: number, places: number): void {
    this.#element(this.numbers, i, places);
  }

  list(values: Float64Array, places: number): void {
    this.#put(OPEN_LIST);
    this.elements(values, places);
    this.#put(CLOSE_LIST);
  }

  elements(values: Float64Array, places: number): void {
    for (let i = 0; i < values.length; i++) {
      if (i > 0) this.#put(COMMA);
      this.#element(values, i, places);
    }
  }

  flag(value: boolean): void {
    this.#copy(value ? TRUE : FALSE);
  }

  null(): void {
    this.#copy(NULL);
  }

  bytes(value: Uint8Array): void {
    this.#copy(value);
  }

  openList(): void {
    this.#put(OPEN_LIST);
  }

  closeList(): void {
    this.#put(CLOSE_LIST);
  }

  comma(): void {
    this.#put(COMMA);
  }

  #element(values: Float64Array, i: number, places: number): void {
    const scale = POWERS[places]!;
    const whole = Math.round(values[i]! * scale);
    if (!(whole - whole === 0)) return this.null();
    if (whole >= 2 ** 53 || whole <= -(2 ** 53)) return this.#copy(ascii(JSON.stringify(whole / scale)));
    if (whole < 0) this.#put(MINUS);
    const size = Math.abs(whole);
    if (places === 7 && size < 10 && size > 0) {
      this.#put(ZERO + size);
      return this.#copy(EXPONENT);
    }
    const integer = Math.floor(size / scale);
    const high = Math.floor(integer / HALF);
    const low = integer - high * HALF;
    if (high > 0) this.#digits(high);
    if (high > 0) this.#padded(low, 8);
    else this.#digits(low);
    const fraction = size - integer * scale;
    if (fraction > 0) this.#fraction(fraction, places);
  }

  #fraction(fraction: number, places: number): void {
    this.#put(POINT);
    let rest = fraction | 0;
    let digits = places;
    while (rest % 10 === 0) {
      rest = (rest / 10) | 0;
      digits--;
    }
    this.#padded(rest, digits);
  }

  #digits(value: number): void {
    let digits = 1;
    for (let rest = (value / 10) | 0; rest > 0; rest = (rest / 10) | 0) digits++;
    this.#padded(value, digits);
  }

  #padded(value: number, digits: number): void {
    let rest = value | 0;
    for (let i = this.#at + digits - 1; i >= this.#at; i--) {
      this.#out[i] = ZERO + (rest % 10);
      rest = (rest / 10) | 0;
    }
    this.#at += digits;
  }

  #put(byte: number): void {
    this.#out[this.#at++] = byte;
  }

  #copy(from: Uint8Array): void {
    for (let i = 0; i < from.length; i++) this.#out[this.#at + i] = from[i]!;
    this.#at += from.length;
  }
}

export const JSON_BYTES = { QUOTE, COMMA, MINUS, POINT, ZERO, COLON, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST };
