/** Longer than any line a trace can hold; what exceeds it is passed over. */
export const MAX_LINE_BYTES = 1 << 20;

const LINE_FEED = 10;

/** Cuts a stream of bytes into lines without ever holding more than one chunk and one line. */
export class LineSplitter {
  readonly #carry = Buffer.allocUnsafe(MAX_LINE_BYTES);
  #carried = 0;
  #overflowed = false;
  readonly #onLine: (text: string) => void;
  readonly #onOversize: () => void;

  constructor(onLine: (text: string) => void, onOversize: () => void) {
    this.#onLine = onLine;
    this.#onOversize = onOversize;
  }

  /** `bytes` may be reused by the caller afterwards. */
  push(bytes: Buffer): void {
    let start = 0;
    if (this.#carried > 0 || this.#overflowed) {
      const end = bytes.indexOf(LINE_FEED);
      this.#keep(bytes, 0, end < 0 ? bytes.length : end);
      if (end < 0) return;
      this.#emitCarried();
      start = end + 1;
    }
    const stop = bytes.lastIndexOf(LINE_FEED);
    if (stop >= start) {
      for (const line of bytes.toString('utf8', start, stop).split('\n')) this.#onLine(line);
      start = stop + 1;
    }
    this.#keep(bytes, start, bytes.length);
  }

  /** What followed the last line feed; null when nothing did. */
  end(): string | null {
    if (this.#overflowed) this.#onOversize();
    if (this.#overflowed || this.#carried === 0) return null;
    return this.#carry.toString('utf8', 0, this.#carried);
  }

  #keep(bytes: Buffer, start: number, end: number): void {
    if (this.#carried + end - start > MAX_LINE_BYTES) this.#overflowed = true;
    if (!this.#overflowed) this.#carried += bytes.copy(this.#carry, this.#carried, start, end);
  }

  #emitCarried(): void {
    if (this.#overflowed) this.#onOversize();
    else this.#onLine(this.#carry.toString('utf8', 0, this.#carried));
    this.#carried = 0;
    this.#overflowed = false;
  }
}
