import type { SerialLine } from './serial.ts';

const FLUSH_MS = 1;

/** Send queue for a serial port that may be slow to accept bytes. */
export class SerialQueue {
  readonly bytes: Uint8Array;
  /** Queued bytes. To append: write the bytes, increase this, then flush. */
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
