/**
 * A joint stays at its seed if moving it would bring the arm closer by less than this (m or rad): rounding
 * noise.
 */
export const HOLD = 1e-12;
/** Wrist on the base axis (m), or straight (sine of its middle joint): the joint without effect stays. */
export const SINGULAR = 1e-7;
/** Sine of the middle joint of a wrist below which it counts as near its singularity. */
export const NEAR_WRIST = 0.15;

/** A joint near its singularity. Hot path: nothing allocates, so numbers are passed in arrays. */
export interface BoundedTurn {
  /** How much effect the joint's rotation has (→ 0 at the singularity); fill before `apply`. */
  readonly lever: Float64Array;
  /**
   * Sets the wanted angle `anglesRad[at]` to the seed if turning has no effect, else to a bounded step toward
   * it or its opposite, whichever is nearer: the other is another branch.
   */
  apply(anglesRad: Float64Array, at: number, seedRad: Float64Array, seedAt: number): void;
}

/** Within `near` of the singularity, limits a turn to `stepRad`, growing with the distance. */
export function createBoundedTurn(near: number, stepRad: number): BoundedTurn {
  const lever = new Float64Array(1);
  return {
    lever,
    apply(anglesRad, at, seedRad, seedAt) {
      const seed = seedRad[seedAt]!;
      const off = anglesRad[at]! - seed;
      const turn = off - Math.PI * Math.round(off / Math.PI);
      const size = Math.abs(turn);
      if (lever[0]! < SINGULAR || lever[0]! * size < HOLD) anglesRad[at] = seed;
      else anglesRad[at] = seed + Math.sign(turn) * Math.min(size, stepRad / (1 - lever[0]! / near));
    },
  };
}
