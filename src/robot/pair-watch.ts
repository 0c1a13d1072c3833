import type { SnapshotBoard } from '../core/memory/snapshot.ts';
import { NS_PER_MS } from '../core/time/clock.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import type { Neighbour } from './supervisor/collision.ts';
import type { Supervisor } from './supervisor/supervisor.ts';
import type { SupervisorConfig } from './supervisor/supervisor-config.ts';

/** [when it was measured, 1 where it is stopped], then its joints. One monotonic clock: both run on one machine. */
const HEAD = 2;

export const pairBoardSize = (joints: number): number => HEAD + joints;

/** Puts what the other arm told where the control thread finds it. `numbers` is scratch of `pairBoardSize`. */
export function writePairBoard(
  board: SnapshotBoard,
  numbers: Float64Array,
  measuredNs: number,
  isStopped: boolean,
  positionsRad: ArrayLike<number>,
): void {
  numbers[0] = measuredNs;
  numbers[1] = isStopped ? 1 : 0;
  numbers.set(positionsRad, HEAD);
  board.write(numbers, '');
}

/** The control thread's look at the other arm, once per cycle: its pose, its stop, its silence. */
export class PairWatch {
  readonly #board: SnapshotBoard;
  readonly #numbers: Float64Array;
  readonly #joints: Float64Array;
  readonly #silenceNs: number;

  constructor(board: SnapshotBoard, joints: number, silenceMs: number) {
    this.#board = board;
    this.#numbers = new Float64Array(pairBoardSize(joints));
    this.#joints = this.#numbers.subarray(HEAD);
    this.#silenceNs = silenceMs * NS_PER_MS;
  }

  tick(nowNs: number, supervisor: Supervisor): void {
    const received = this.#board.read(this.#numbers) !== null;
    const ageNs = nowNs - this.#numbers[0]!;
    // Written so that a stamp that is no number, or of the future, is silence.
    if (received && Math.abs(ageNs) <= this.#silenceNs)
      supervisor.neighbourAt(this.#joints, this.#numbers[1] !== 0, nowNs);
    else supervisor.neighbourSilent(nowNs);
  }
}

export function neighbourOf(config: SupervisorConfig['pair'], model: RobotModel | null): Neighbour | null {
  if (config === null || model === null) return null;
  const { baseXyzM, baseRpyRad, sharedBase, marginM } = config;
  return { model, base: { xyzM: baseXyzM, rpyRad: baseRpyRad }, sharedBase, marginM };
}
