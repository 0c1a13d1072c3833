/** A joint stays at its seed when moving it would bring the arm less than this closer (m or rad): rounding noise. */
export const HOLD = 1e-12;
/** A wrist on the base axis (m), or straight (sine of its middle joint): the joint that has no effect stays. */
export const SINGULAR = 1e-7;
/** Sine of the middle joint of a wrist below which it counts as near its singularity. */
export const NEAR_WRIST = 0.15;

/**
 * A joint near its singularity (`lever` → 0): at the seed where turning has no effect, else a bounded step toward
 * `wanted` or its opposite, whichever is nearer: the other is another branch.
 */
export function boundedTurn(
  seed: number,
  wanted: number,
  lever: number,
  near: number,
  stepRad: number,
): number {
  const turn = wanted - seed - Math.PI * Math.round((wanted - seed) / Math.PI);
  const size = Math.abs(turn);
  if (lever < SINGULAR || lever * size < HOLD) return seed;
  return seed + Math.sign(turn) * Math.min(size, stepRad / (1 - lever / near));
}
