/** Longer than any line a trace can contain; longer lines are skipped. */
export const MAX_LINE_BYTES = 1 << 20;

const LINE_FEED = 10;

/** Splits a byte stream into lines while holding at most one chunk and one line. */
export class LineSplitter {
  readonly #carry = Buffer.allocUnsafe(MAX_LINE_BYTES);
  #carried = 0;
  #overflowed = false;
  readonly #onLine: (text: string) => void;
  readonly #onOversize: () => void;
  readonly #onBytes: ((bytes: Buffer, start: number, end: number) => boolean) | null;

  /** `onBytes` may consume a line before it is decoded; the bytes are valid only during the call. */
  constructor(
    onLine: (text: string) => void,
    onOversize: () => void,
    onBytes: ((bytes: Buffer, start: number, end: number) => boolean) | null = null,
  ) {
    this.#onLine = onLine;
    this.#onOversize = onOversize;
    this.#onBytes = onBytes;
  }

  /** The caller may reuse `bytes` afterwards. */
  push(bytes: Buffer): void {
    let start = 0;
    if (this.#carried > 0 || this.#overflowed) {
      const end = bytes.indexOf(LINE_FEED);
      this.#keep(bytes, 0, end < 0 ? bytes.length : end);
      if (end < 0) return;
      this.#emitCarried();
      start = end + 1;
    }
    for (let end = bytes.indexOf(LINE_FEED, start); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
      this.#emit(bytes, start, end);
      start = end + 1;
    }
    this.#keep(bytes, start, bytes.length);
  }

  /** What followed the last line feed; null if nothing. */
  end(): string | null {
    if (this.#overflowed) this.#onOversize();
    if (this.#overflowed || this.#carried === 0) return null;
    return this.#carry.toString('utf8', 0, this.#carried);
  }

  #keep(bytes: Buffer, start: number, end: number): void {
    if (this.#carried + end - start > MAX_LINE_BYTES) this.#overflowed = true;
    if (!this.#overflowed) this.#carried += bytes.copy(this.#carry, this.#carried, start, end);
  }

  #emit(bytes: Buffer, start: number, end: number): void {
    if (this.#onBytes?.(bytes, start, end) !== true) this.#onLine(bytes.toString('utf8', start, end));
  }

  #emitCarried(): void {
    if (this.#overflowed) this.#onOversize();
    else this.#emit(this.#carry, 0, this.#carried);
    this.#carried = 0;
    this.#overflowed = false;
  }
}
