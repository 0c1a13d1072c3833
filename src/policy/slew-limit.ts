import type { Chunk } from './policy.ts';

/**
 * Below the policy's own steps: then a switch between chunks is no faster than motion inside one. Switches are judged by
 * the 99th percentile of the steps of a whole run; the one of the chunks so far may be a third above that, so the limit
 * is taken from a lower one, with a margin.
 */
const QUANTILE = 0.98;
const SHARE = 0.8;
const KEPT_STEPS = 4000;

/** Limits each joint's speed to what the policy's own chunks do. */
export class SlewLimit {
  readonly #fps: number;
  readonly #joints: number;
  #stepsRad: number[] = [];
  /** Rad per second; no limit before the first chunk. */
  maxRadS = Number.POSITIVE_INFINITY;

  constructor(fps: number, joints: number) {
    this.#fps = fps;
    this.#joints = joints;
  }

  learn(chunk: Chunk): void {
    for (let row = 1; row < chunk.rows; row++) this.#stepsRad.push(largestStep(chunk, row, this.#joints));
    if (this.#stepsRad.length > KEPT_STEPS) this.#stepsRad = this.#stepsRad.slice(-KEPT_STEPS);
    const sorted = Float64Array.from(this.#stepsRad).sort();
    const step = sorted[Math.max(0, Math.ceil(QUANTILE * sorted.length) - 1)] ?? 0;
    if (step > 0) this.maxRadS = SHARE * step * this.#fps;
  }

  /** Moves `rad` towards `goalRad` for `dtS`. */
  step(rad: Float64Array, goalRad: Float64Array, dtS: number): void {
    const most = dtS > 0 ? this.maxRadS * dtS : 0;
    for (let i = 0; i < this.#joints; i++) rad[i]! += Math.max(-most, Math.min(most, goalRad[i]! - rad[i]!));
  }
}

/** The largest joint's step from the row before, in radians. */
export function largestStep({ width, values }: Chunk, row: number, joints: number): number {
  let most = 0;
  for (let i = 0; i < joints; i++)
    most = Math.max(most, Math.abs(values[row * width + i]! - values[(row - 1) * width + i]!));
  return most;
}
