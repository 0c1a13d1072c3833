import type { Reason } from '../../core/counters.ts';
import type { RobotModel } from '../../geometry/robot-model.ts';

/** A sender that knows the model never exceeds its ranges by more than this. */
const BEYOND_RAD = 0.1;

/**
 * Rejects goals that cannot be intended; goals slightly beyond a limit are clamped later. A joint far outside
 * the model's range belongs to another robot; a joint that leaps between two commands is a flipped wrist or a
 * broken program, not a hand. Hot path: nothing allocates.
 */
export class Plausibility {
  readonly #joints: RobotModel['joints'];
  readonly #maxLeapRad: number;
  readonly #lastRad: Float64Array;

  constructor({ joints }: RobotModel, maxLeapRad: number) {
    this.#joints = joints;
    this.#maxLeapRad = maxLeapRad;
    this.#lastRad = new Float64Array(joints.length);
  }

  /** An arm found outside its ranges may be moved back. */
  outOfRange(goalRad: Float64Array, measuredRad: Float64Array): Reason | null {
    for (let i = 0; i < goalRad.length; i++) {
      const { minRad, maxRad } = this.#joints[i]!;
      const low = Math.min(minRad, measuredRad[i]!) - BEYOND_RAD;
      const high = Math.max(maxRad, measuredRad[i]!) + BEYOND_RAD;
      if (goalRad[i]! < low || goalRad[i]! > high) return 'bad-range';
    }
    return null;
  }

  /** Compares with the previous command, or with another pose. */
  leaps(goalRad: Float64Array, fromRad = this.#lastRad): Reason | null {
    for (let i = 0; i < goalRad.length; i++)
      if (Math.abs(goalRad[i]! - fromRad[i]!) > this.#maxLeapRad) return 'joint-leap';
    return null;
  }

  /** Whether a goal may follow another one. */
  isNext(goalRad: Float64Array, fromRad: Float64Array, measuredRad: Float64Array): boolean {
    return this.outOfRange(goalRad, measuredRad) === null && this.leaps(goalRad, fromRad) === null;
  }

  /** The next command is compared with this one. */
  remember(goalRad: Float64Array): void {
    this.#lastRad.set(goalRad);
  }
}

/** The largest difference of any joint. */
export function largestGapRad(aRad: Float64Array, bRad: Float64Array): number {
  let largest = 0;
  for (let i = 0; i < aRad.length; i++) largest = Math.max(largest, Math.abs(aRad[i]! - bRad[i]!));
  return largest;
}
