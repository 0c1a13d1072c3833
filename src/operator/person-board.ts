import { StructBoard } from '../core/memory/struct-board.ts';
import { number, numbers, type StructOf, struct } from '../core/memory/struct-layout.ts';
import type { Person } from '../messages/person.ts';

/** A person's hand that was measured while the operator runs; NaN where it was not. `count` grows with each. */
export const PERSON_BOARD = struct({
  count: number,
  lengthM: numbers(5),
  touchM: numbers(4),
  openRad: numbers(12),
  thumbM: numbers(3),
});
export type PersonBoard = StructBoard<StructOf<typeof PERSON_BOARD>>;

export const personBoard = (buffer: SharedArrayBuffer): PersonBoard =>
  new StructBoard(buffer, PERSON_BOARD.create(0));

/** Main thread. */
export function writePersonBoard(board: PersonBoard, { lengthM, touchM, openRad, thumbM }: Person): void {
  const { value } = board;
  const put = (to: Float64Array, from: readonly number[] | undefined) => {
    if (from === undefined) to.fill(Number.NaN);
    else to.set(from);
  };
  put(value.lengthM, lengthM);
  put(value.touchM, touchM);
  put(value.openRad, openRad?.flat());
  put(value.thumbM, thumbM);
  value.count++;
  board.write();
}

/** Control thread: hands over each newly measured person once. */
export class PersonFeed {
  readonly #board: PersonBoard;
  #count = 0;

  constructor(buffer: SharedArrayBuffer) {
    this.#board = personBoard(buffer);
  }

  /** Null without a new one. Allocates only for a new one. */
  next(): Person | null {
    if (!this.#board.read() || this.#board.value.count === this.#count) return null;
    const { count, lengthM, touchM, openRad, thumbM } = this.#board.value;
    this.#count = count;
    const bends = [0, 3, 6, 9].map((at) => [...openRad.subarray(at, at + 3)] as [number, number, number]);
    return {
      ...(!Number.isNaN(lengthM[0]) && { lengthM: [...lengthM] }),
      ...(!Number.isNaN(touchM[0]) && { touchM: [...touchM] }),
      ...(!Number.isNaN(openRad[0]) && { openRad: bends }),
      ...(!Number.isNaN(thumbM[0]) && { thumbM: [...thumbM] as [number, number, number] }),
    };
  }
}
