import { SnapshotBoard } from './snapshot.ts';
import type { Packed } from './struct-layout.ts';

/** The newest value of a struct and one short text, from one thread to another; one side writes, the other reads. */
export class StructBoard<S extends Packed> {
  /** What `write` publishes, and what the last successful `read` found. */
  readonly value: S;
  /** Of the last successful `read`. */
  text = '';
  readonly #board: SnapshotBoard;
  readonly #incoming: Float64Array;

  constructor(buffer: SharedArrayBuffer, value: S) {
    this.value = value;
    this.#board = new SnapshotBoard(buffer);
    this.#incoming = new Float64Array(value.packed.length);
  }

  /** Hot path. */
  write(text = ''): void {
    this.#board.write(this.value.packed, text);
  }

  /** Hot path. False, with nothing changed, before the first write or while a write is in progress throughout. */
  read(): boolean {
    const text = this.#board.read(this.#incoming);
    if (text === null) return false;
    this.value.packed.set(this.#incoming);
    this.text = text;
    return true;
  }
}
