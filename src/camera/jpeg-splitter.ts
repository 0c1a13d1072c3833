/** A stream without a complete picture in this many bytes is not a JPEG stream. */
const MAX_PICTURE_BYTES = 16 * 2 ** 20;
const SOI = 0xd8;
const EOI = 0xd9;
const SOS = 0xda;

/**
 * Splits a byte stream into JPEG pictures, wherever the reads are cut: MJPEG from a file or pipe, multipart
 * over HTTP. Skips what lies between pictures. Follows the segments, so an embedded thumbnail does not end a
 * picture.
 */
export class JpegSplitter {
  readonly #emit: (jpeg: Uint8Array) => void;
  #held = new Uint8Array(1 << 16);
  #length = 0;
  /** How far the held bytes have been parsed; 0: no picture started. */
  #at = 0;
  #inScan = false;
  /** Bytes discarded because they were not a picture. */
  skippedBytes = 0;

  constructor(emit: (jpeg: Uint8Array) => void) {
    this.#emit = emit;
  }

  push(bytes: Uint8Array): void {
    this.#append(bytes);
    while (this.#advance());
    if (this.#length > MAX_PICTURE_BYTES) this.#drop(this.#length);
  }

  #append(bytes: Uint8Array): void {
    if (this.#length + bytes.length > this.#held.length) {
      const larger = new Uint8Array(2 * (this.#length + bytes.length));
      larger.set(this.#held.subarray(0, this.#length));
      this.#held = larger;
    }
    this.#held.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** True when something was parsed and there may be more. */
  #advance(): boolean {
    if (this.#at === 0) return this.#seekStart();
    const marker = this.#inScan ? this.#seekMarker() : this.#at;
    if (marker + 4 > this.#length && !this.#isEnd(marker)) return false;
    this.#at = marker;
    const kind = this.#held[marker + 1]!;
    if (this.#held[marker] !== 0xff) this.#restart();
    else if (kind === 0xff) this.#at = marker + 1;
    else if (kind === EOI) this.#finish(marker + 2);
    else return this.#skipSegment(marker, kind);
    return true;
  }

  #isEnd(at: number): boolean {
    return at + 2 <= this.#length && this.#held[at] === 0xff && this.#held[at + 1] === EOI;
  }

  #skipSegment(marker: number, kind: number): boolean {
    const end = marker + 2 + ((this.#held[marker + 2]! << 8) | this.#held[marker + 3]!);
    if (end > this.#length) {
      this.#inScan = false;
      return false;
    }
    this.#at = end;
    this.#inScan = kind === SOS;
    return true;
  }

  /** The next FF not followed by 00 or RST; remembers how far it searched. */
  #seekMarker(): number {
    const held = this.#held.subarray(0, this.#length);
    let at = held.indexOf(0xff, this.#at);
    while (at >= 0 && at + 1 < this.#length) {
      const next = held[at + 1]!;
      if (next !== 0 && (next < 0xd0 || next > 0xd7)) return at;
      at = held.indexOf(0xff, at + 2);
    }
    this.#at = at < 0 ? this.#length : at;
    return this.#length;
  }

  #seekStart(): boolean {
    const held = this.#held.subarray(0, this.#length);
    let at = held.indexOf(0xff);
    while (at >= 0 && at + 1 < this.#length && held[at + 1] !== SOI) at = held.indexOf(0xff, at + 1);
    const found = at >= 0 && at + 1 < this.#length;
    this.#drop(at < 0 ? this.#length : at);
    if (found) this.#at = 2;
    return found;
  }

  /** Not a picture: look for the next start. */
  #restart(): void {
    this.skippedBytes += 2;
    this.#drop(2);
  }

  #finish(end: number): void {
    this.#emit(this.#held.slice(0, end));
    this.#drop(end);
  }

  #drop(bytes: number): void {
    this.#held.copyWithin(0, bytes, this.#length);
    this.#length -= bytes;
    this.#at = 0;
    this.#inScan = false;
  }
}
