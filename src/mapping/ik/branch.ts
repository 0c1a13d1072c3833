import { TURN_RAD } from '../../core/frames.ts';
import type { RobotModel } from '../../core/robot-model.ts';

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
  candidates: Float64Array;
  /** The candidates turned into the limits. */
  legal: Float64Array;
  /** Largest move from the seed of each candidate, ties broken. */
  moveRad: Float64Array;
}

export function createBranchChooser(model: RobotModel, first: number, count: number): BranchChooser {
  const joints = model.joints.slice(first, first + 3);
  const triple: Triple = {
    first,
    minRad: Float64Array.from(joints, (joint) => joint.minRad),
    maxRad: Float64Array.from(joints, (joint) => joint.maxRad),
    candidates: new Float64Array(3 * count),
    legal: new Float64Array(3 * count),
    moveRad: new Float64Array(count),
  };
  return {
    candidates: triple.candidates,
    choose(seedRad, outRad) {
      for (let i = 0; i < count; i++) unwrap(triple, i, seedRad);
      const nearest = smallest(triple.moveRad);
      if (isWithin(triple, nearest)) {
        write(triple, triple.candidates, nearest, outRad);
        return true;
      }
      return chooseAtLimit(triple, nearest, seedRad, outRad);
    },
  };
}

// Helpers pass numbers through arrays: V8 boxes a float that crosses a call it does not inline.

/** Brings a solution by whole turns next to the seed. */
function unwrap({ first, candidates, moveRad }: Triple, branch: number, seedRad: Float64Array): void {
  let farthestRad = 0;
  let sumRad = 0;
  for (let j = 0; j < 3; j++) {
    const seed = seedRad[first + j]!;
    const off = candidates[branch * 3 + j]! - seed;
    const move = off - TURN_RAD * Math.round(off / TURN_RAD);
    candidates[branch * 3 + j] = seed + move;
    farthestRad = Math.max(farthestRad, Math.abs(move));
    sumRad += Math.abs(move);
  }
  moveRad[branch] = farthestRad + TIE * sumRad;
}

function isWithin({ minRad, maxRad, candidates }: Triple, branch: number): boolean {
  for (let j = 0; j < 3; j++) {
    const angle = candidates[branch * 3 + j]!;
    if (angle < minRad[j]! - SLACK_RAD || angle > maxRad[j]! + SLACK_RAD) return false;
  }
  return true;
}

function write(triple: Triple, angles: Float64Array, branch: number, outRad: Float64Array): void {
  const { first, minRad, maxRad } = triple;
  for (let j = 0; j < 3; j++)
    outRad[first + j] = Math.min(Math.max(angles[branch * 3 + j]!, minRad[j]!), maxRad[j]!);
}

function smallest(values: Float64Array): number {
  let at = 0;
  for (let i = 1; i < values.length; i++) if (values[i]! < values[at]!) at = i;
  return at;
}

/** The nearest solution passes a limit. */
function chooseAtLimit(
  triple: Triple,
  nearest: number,
  seedRad: Float64Array,
  outRad: Float64Array,
): boolean {
  for (let i = 0; i < triple.moveRad.length; i++) turnIntoLimits(triple, i, seedRad);
  const legal = smallest(triple.moveRad);
  const moveRad = triple.moveRad[legal]!;
  const stopped =
    moveRad === Infinity || (moveRad > DETOUR_RAD && isDrivenIntoStop(triple, nearest, seedRad));
  if (stopped) write(triple, triple.candidates, nearest, outRad);
  else write(triple, triple.legal, legal, outRad);
  return !stopped;
}

/** Every limit that the solution passes is one the seed is already at. */
function isDrivenIntoStop(
  { first, minRad, maxRad, candidates }: Triple,
  branch: number,
  seedRad: Float64Array,
): boolean {
  for (let j = 0; j < 3; j++) {
    const seed = seedRad[first + j]!;
    const angle = candidates[branch * 3 + j]!;
    if (angle < minRad[j]! && seed > minRad[j]! + AT_STOP_RAD) return false;
    if (angle > maxRad[j]! && seed < maxRad[j]! - AT_STOP_RAD) return false;
  }
  return true;
}

/** Turns every joint of an unwrapped solution into its limits; the move is Infinity when one does not fit. */
function turnIntoLimits(triple: Triple, branch: number, seedRad: Float64Array): void {
  const { first, minRad, maxRad, candidates, legal } = triple;
  let farthestRad = 0;
  let sumRad = 0;
  for (let j = 0; j < 3; j++) {
    const lowRad = minRad[j]! - SLACK_RAD;
    const highRad = maxRad[j]! + SLACK_RAD;
    let angle = candidates[branch * 3 + j]!;
    if (angle > highRad) angle -= TURN_RAD * Math.ceil((angle - highRad) / TURN_RAD);
    else if (angle < lowRad) angle += TURN_RAD * Math.ceil((lowRad - angle) / TURN_RAD);
    legal[branch * 3 + j] = angle;
    const fits = angle >= lowRad && angle <= highRad;
    const moveRad = fits ? Math.abs(angle - seedRad[first + j]!) : Infinity;
    farthestRad = Math.max(farthestRad, moveRad);
    sumRad += moveRad;
  }
  triple.moveRad[branch] = farthestRad + TIE * sumRad;
}
