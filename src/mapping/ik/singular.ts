/** A joint stays at its seed when moving it would bring the arm less than this closer (m or rad): rounding noise. */
export const HOLD = 1e-12;
/** A wrist on the base axis (m), or straight (sine of its middle joint): the joint that has no effect stays. */
export const SINGULAR = 1e-7;
/** Sine of the middle joint of a wrist below which it counts as near its singularity. */
export const NEAR_WRIST = 0.15;

/** A joint near its singularity. Hot path: nothing allocates, so numbers come in arrays. */
export interface BoundedTurn {
  /** How much turning the joint still does (→ 0 at the singularity); fill before `apply`. */
  readonly lever: Float64Array;
  /**
   * Moves the wanted angle `anglesRad[at]` to the seed where turning has no effect, else to a bounded step toward it
   * or its opposite, whichever is nearer: the other is another branch.
   */
  apply(anglesRad: Float64Array, at: number, seedRad: Float64Array, seedAt: number): void;
}

/** Within `near` of the singularity a turn is at most `stepRad`, more the farther away. */
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
