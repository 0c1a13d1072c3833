/**
 * The newest value, from one control thread to any reader, without locks: the version is odd during a write.
 * Holds numbers and one short text.
 */
export class SnapshotBoard {
  readonly buffer: SharedArrayBuffer;
  readonly #version: Int32Array;
  readonly #numbers: Float64Array;
  readonly #text: Uint16Array;
  /** Of the last `read`. */
  #last = '';

  constructor(buffer: SharedArrayBuffer) {
    this.buffer = buffer;
    this.#version = new Int32Array(buffer, 0, 2);
    this.#text = new Uint16Array(buffer, 8, TEXT_CHARS + 1);
    this.#numbers = new Float64Array(buffer, TEXT_END);
  }

  static create(numbers: number): SnapshotBoard {
    return new SnapshotBoard(new SharedArrayBuffer(TEXT_END + numbers * 8));
  }

  /** Hot path. */
  write(numbers: Float64Array, text: string): void {
    Atomics.add(this.#version, 0, 1);
    this.#numbers.set(numbers);
    const length = Math.min(text.length, TEXT_CHARS);
    this.#text[0] = length;
    for (let i = 0; i < length; i++) this.#text[i + 1] = text.charCodeAt(i);
    Atomics.add(this.#version, 0, 1);
  }

  /**
   * Fills `out` and returns the text; null when nothing was written yet or a write was in progress
   * throughout.
   */
  read(out: Float64Array): string | null {
    for (let attempt = 0; attempt < 100; attempt++) {
      const before = Atomics.load(this.#version, 0);
      if (before === 0 || before % 2 !== 0) continue;
      out.set(this.#numbers);
      const text = this.#isLast() ? this.#last : this.#readText();
      // A read-modify-write: on ARM a plain atomic load does not order the reads above.
      if (Atomics.add(this.#version, 0, 0) !== before) continue;
      this.#last = text;
      return text;
    }
    return null;
  }

  /** The text seldom changes: it is not made again if it did not. */
  #isLast(): boolean {
    const text = this.#last;
    if (this.#text[0] !== text.length) return false;
    for (let i = 0; i < text.length; i++) if (this.#text[i + 1] !== text.charCodeAt(i)) return false;
    return true;
  }

  #readText(): string {
    return String.fromCharCode(...this.#text.subarray(1, 1 + this.#text[0]!));
  }
}

const TEXT_CHARS = 191;
const TEXT_END = 8 + (TEXT_CHARS + 1) * 2;
