import { StructBoard } from '../core/memory/struct-board.ts';
import { flag, number, perJoint, type StructOf, struct } from '../core/memory/struct-layout.ts';
import { NS_PER_MS } from '../core/time/clock.ts';
import type { Supervisor } from './supervisor/supervisor.ts';

/** Report of the other arm. Both processes share one machine's monotonic clock. */
export const PAIR_BOARD = struct({ measuredNs: number, isStopped: flag, positionsRad: perJoint });
export type PairBoard = StructBoard<StructOf<typeof PAIR_BOARD>>;

export const pairBoard = (buffer: SharedArrayBuffer, joints: number): PairBoard =>
  new StructBoard(buffer, PAIR_BOARD.create(joints));

/** Passes the other arm's pose, stop or silence to the supervisor. Called once per control cycle. */
export class PairWatch {
  readonly #board: PairBoard;
  readonly #silenceNs: number;

  constructor(buffer: SharedArrayBuffer, joints: number, silenceMs: number) {
    this.#board = pairBoard(buffer, joints);
    this.#silenceNs = silenceMs * NS_PER_MS;
  }

  tick(nowNs: number, supervisor: Supervisor): void {
    const received = this.#board.read();
    const { measuredNs, isStopped, positionsRad } = this.#board.value;
    // A NaN or future stamp also counts as silence.
    if (received && Math.abs(nowNs - measuredNs) <= this.#silenceNs)
      supervisor.neighbourAt(positionsRad, isStopped, nowNs);
    else supervisor.neighbourSilent(nowNs);
  }
}
