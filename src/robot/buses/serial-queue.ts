import type { SerialLine } from './serial.ts';

const FLUSH_MS = 1;

/** Bytes on their way into a serial line that may be slow to take them. */
export class SerialQueue {
  readonly bytes: Uint8Array;
  /** How many of them wait. Whoever appends counts them here, then flushes. */
  count = 0;
  #line: SerialLine | null = null;
  #flushing: NodeJS.Timeout | undefined;

  constructor(size: number) {
    this.bytes = new Uint8Array(size);
  }

  get line(): SerialLine | null {
    return this.#line;
  }

  begin(line: SerialLine): void {
    this.#line = line;
  }

  flush(): void {
    if (this.count === 0 || this.#line === null) return;
    const written = this.#line.write(this.bytes, this.count);
    this.bytes.copyWithin(0, written, this.count);
    this.count -= written;
    if (this.count > 0) this.#flushing ??= setTimeout(this.#flushLater, FLUSH_MS);
  }

  end(): void {
    this.#line = null;
    clearTimeout(this.#flushing);
  }

  readonly #flushLater = (): void => {
    this.#flushing = undefined;
    this.flush();
  };
}
