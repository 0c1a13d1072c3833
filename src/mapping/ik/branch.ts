import type { RobotModel } from '../../core/robot-model.ts';
import { TURN_RAD } from '../frames.ts';

/** Picks among the solutions of three consecutive joints. Hot path: nothing allocates. */
export interface BranchChooser {
  /** Filled with all solutions, three angles each, any number of turns off, before each `choose`. */
  readonly candidates: Float64Array;
  /**
   * Writes the solution nearest to the seed by max |difference|, unwrapped toward the seed and within the limits.
   * False when a joint was stopped at its limit instead: an arm driven into a stop stays there, it does not unwind a
   * turn or flip over to carry on. `out` may be `seed`.
   */
  choose(seedRad: Float64Array, outRad: Float64Array): boolean;
}

/** A seed this close to the limit it is asked to pass is being driven into it. */
const AT_STOP_RAD = 0.25;
/** A solution within the limits this close is a way past the stop, as where the elbow folds through ±π. */
const DETOUR_RAD = 0.5;
/** Rounding noise past a limit; results are still within it. */
const SLACK_RAD = 1e-9;
/** Weight of the sum of the moves: decides between solutions that share their largest move. */
const TIE = 1e-6;

interface Triple {
  first: number;
  minRad: Float64Array;
  maxRad: Float64Array;
  /** The solutions next to the seed, and those turned into the limits from there. */
  free: Float64Array;
  legal: Float64Array;
  /** Largest move from the seed of each, ties broken; Infinity where no turn is within the limits. */
  freeMove: Float64Array;
  legalMove: Float64Array;
}

export function createBranchChooser(model: RobotModel, first: number, count: number): BranchChooser {
  const joints = model.joints.slice(first, first + 3);
  const triple: Triple = {
    first,
    minRad: Float64Array.from(joints, (joint) => joint.minRad),
    maxRad: Float64Array.from(joints, (joint) => joint.maxRad),
    free: new Float64Array(3 * count),
    legal: new Float64Array(3 * count),
    freeMove: new Float64Array(count),
    legalMove: new Float64Array(count),
  };
  const { free, legal, freeMove, legalMove, minRad, maxRad } = triple;
  return {
    candidates: free,
    choose(seedRad, outRad) {
      for (let i = 0; i < count; i++) unwrap(triple, i, seedRad);
      const nearest = smallest(freeMove);
      const within = smallest(legalMove);
      const detourRad = legalMove[within]!;
      const stopped =
        detourRad > DETOUR_RAD &&
        detourRad > freeMove[nearest]! &&
        (detourRad === Infinity || drivenIntoStop(triple, nearest, seedRad));
      for (let j = 0; j < 3; j++) {
        const angle = stopped ? free[nearest * 3 + j]! : legal[within * 3 + j]!;
        outRad[first + j] = Math.min(Math.max(angle, minRad[j]!), maxRad[j]!);
      }
      return !stopped;
    },
  };
}

// Helpers pass numbers through arrays: V8 boxes a float that crosses a call it does not inline.

/** A solution by whole turns next to the seed. */
function unwrap(triple: Triple, branch: number, seedRad: Float64Array): void {
  const { first, minRad, maxRad, free, legal } = triple;
  let farthestRad = 0;
  let sumRad = 0;
  let within = true;
  for (let j = 0; j < 3; j++) {
    const seed = seedRad[first + j]!;
    const off = free[branch * 3 + j]! - seed;
    const move = off - TURN_RAD * Math.round(off / TURN_RAD);
    const angle = seed + move;
    free[branch * 3 + j] = angle;
    legal[branch * 3 + j] = angle;
    if (angle < minRad[j]! - SLACK_RAD || angle > maxRad[j]! + SLACK_RAD) within = false;
    const moveRad = Math.abs(move);
    if (moveRad > farthestRad) farthestRad = moveRad;
    sumRad += moveRad;
  }
  triple.freeMove[branch] = triple.legalMove[branch] = farthestRad + TIE * sumRad;
  if (!within) turnIntoLimits(triple, branch, seedRad);
}

function turnIntoLimits(triple: Triple, branch: number, seedRad: Float64Array): void {
  const { first, minRad, maxRad, legal } = triple;
  let farthestRad = 0;
  let sumRad = 0;
  for (let j = 0; j < 3; j++) {
    const lowRad = minRad[j]! - SLACK_RAD;
    const highRad = maxRad[j]! + SLACK_RAD;
    let angle = legal[branch * 3 + j]!;
    if (angle > highRad) angle -= TURN_RAD * Math.ceil((angle - highRad) / TURN_RAD);
    else if (angle < lowRad) angle += TURN_RAD * Math.ceil((lowRad - angle) / TURN_RAD);
    legal[branch * 3 + j] = angle;
    const fits = angle >= lowRad && angle <= highRad;
    const moveRad = fits ? Math.abs(angle - seedRad[first + j]!) : Infinity;
    farthestRad = Math.max(farthestRad, moveRad);
    sumRad += moveRad;
  }
  triple.legalMove[branch] = farthestRad + TIE * sumRad;
}

/** Every limit that the solution passes is one the seed is already at. */
function drivenIntoStop(triple: Triple, branch: number, seedRad: Float64Array): boolean {
  const { first, minRad, maxRad, free } = triple;
  for (let j = 0; j < 3; j++) {
    const seed = seedRad[first + j]!;
    const angle = free[branch * 3 + j]!;
    if (angle < minRad[j]! && seed > minRad[j]! + AT_STOP_RAD) return false;
    if (angle > maxRad[j]! && seed < maxRad[j]! - AT_STOP_RAD) return false;
  }
  return true;
}

function smallest(values: Float64Array): number {
  let at = 0;
  for (let i = 1; i < values.length; i++) if (values[i]! < values[at]!) at = i;
  return at;
}
