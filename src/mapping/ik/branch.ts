import { TURN_RAD } from '../../geometry/frames.ts';
import type { RobotModel } from '../../geometry/robot-model.ts';

/**
 * `clamped`: the way to a solution was cut short. `unreachable`: no solution lies within the limits. In both cases the
 * nearest candidate was written, stopped at the limits.
 */
export type Choice = 'ok' | 'clamped' | 'unreachable';

/** Picks among the solutions of consecutive joints. Hot path: nothing allocates. */
export interface BranchChooser {
  /** Filled with all candidates, `width` angles each, any number of turns off, before each `choose`. */
  readonly candidates: Float64Array;
  /** Zero for a candidate that only comes close to the target; filled likewise, all exact until then. */
  readonly exact: Uint8Array;
  /**
   * Writes the solution nearest to the seed by max |difference|, unwrapped toward the seed and within the limits.
   * `out` may be `seed`.
   */
  choose(seedRad: Float64Array, outRad: Float64Array): Choice;
  /** Writes every distinct exact solution within the limits, one after the other; returns how many. */
  list(out: Float64Array): number;
}

export interface BranchOptions {
  /** Joints per candidate. */
  width?: number;
  /**
   * At a limit or at the end of the reach, take another solution however far it is. Otherwise an arm driven there
   * stays: it does not unwind a turn or flip over to carry on.
   */
  switchAtLimit?: boolean;
}

/** A seed this close to the limit it is asked to pass is being driven into it. */
const AT_STOP_RAD = 0.25;
/** A solution within the limits this close is a way past the stop, as where the elbow folds through ±π. */
const DETOUR_RAD = 0.5;
/** Rounding noise past a limit; results are still within it. */
const SLACK_RAD = 1e-9;
/** Weight of the sum of the moves: decides between solutions that share their largest move. */
const TIE = 1e-6;
/** Solutions closer than this are one. */
const SAME_RAD = 1e-7;
const TURNS_PER_RAD = 1 / TURN_RAD;

interface Branches {
  first: number;
  width: number;
  switchAtLimit: boolean;
  minRad: Float64Array;
  maxRad: Float64Array;
  candidates: Float64Array;
  exact: Uint8Array;
  /** The candidates turned into the limits. */
  legal: Float64Array;
  /** Largest move from the seed of each candidate, ties broken. */
  moveRad: Float64Array;
}

export function createBranchChooser(
  model: RobotModel,
  first: number,
  count: number,
  { width = 3, switchAtLimit = false }: BranchOptions = {},
): BranchChooser {
  const joints = model.joints.slice(first, first + width);
  const branches: Branches = {
    first,
    width,
    switchAtLimit,
    minRad: Float64Array.from(joints, (joint) => joint.minRad),
    maxRad: Float64Array.from(joints, (joint) => joint.maxRad),
    candidates: new Float64Array(width * count),
    exact: new Uint8Array(count).fill(1),
    legal: new Float64Array(width * count),
    moveRad: new Float64Array(count),
  };
  const origin = new Float64Array(first + width);
  return {
    candidates: branches.candidates,
    exact: branches.exact,
    choose(seedRad, outRad) {
      for (let i = 0; i < count; i++) unwrap(branches, i, seedRad);
      const nearest = smallest(branches.moveRad);
      if (branches.exact[nearest] === 1 && isWithin(branches, nearest)) {
        write(branches, branches.candidates, nearest, outRad);
        return 'ok';
      }
      return chooseAtLimit(branches, nearest, seedRad, outRad);
    },
    list: (out) => listAll(branches, origin, out),
  };
}

// Helpers pass numbers through arrays: V8 boxes a float that crosses a call it does not inline.

/** Brings a solution by whole turns next to the seed. */
function unwrap(
  { first, width, candidates, moveRad }: Branches,
  branch: number,
  seedRad: Float64Array,
): void {
  let farthestRad = 0;
  let sumRad = 0;
  for (let j = 0; j < width; j++) {
    const seed = seedRad[first + j]!;
    const off = candidates[branch * width + j]! - seed;
    const move = off - TURN_RAD * Math.floor(off * TURNS_PER_RAD + 0.5);
    candidates[branch * width + j] = seed + move;
    farthestRad = Math.max(farthestRad, Math.abs(move));
    sumRad += Math.abs(move);
  }
  moveRad[branch] = farthestRad + TIE * sumRad;
}

function isWithin({ width, minRad, maxRad, candidates }: Branches, branch: number): boolean {
  for (let j = 0; j < width; j++) {
    const angle = candidates[branch * width + j]!;
    if (angle < minRad[j]! - SLACK_RAD || angle > maxRad[j]! + SLACK_RAD) return false;
  }
  return true;
}

function write(branches: Branches, angles: Float64Array, branch: number, outRad: Float64Array): void {
  const { first, width, minRad, maxRad } = branches;
  for (let j = 0; j < width; j++)
    outRad[first + j] = Math.min(Math.max(angles[branch * width + j]!, minRad[j]!), maxRad[j]!);
}

function smallest(values: Float64Array): number {
  let at = 0;
  for (let i = 1; i < values.length; i++) if (values[i]! < values[at]!) at = i;
  return at;
}

/** The nearest candidate passes a limit or is not exact. */
function chooseAtLimit(
  branches: Branches,
  nearest: number,
  seedRad: Float64Array,
  outRad: Float64Array,
): Choice {
  const { candidates, exact, legal, moveRad, switchAtLimit } = branches;
  for (let i = 0; i < moveRad.length; i++) turnIntoLimits(branches, i, seedRad);
  const other = smallest(moveRad);
  if (moveRad[other] === Infinity) {
    write(branches, candidates, nearest, outRad);
    return 'unreachable';
  }
  const stays =
    !switchAtLimit &&
    moveRad[other]! > DETOUR_RAD &&
    (exact[nearest] === 0 || isDrivenIntoStop(branches, nearest, seedRad));
  write(branches, stays ? candidates : legal, stays ? nearest : other, outRad);
  return stays ? 'clamped' : 'ok';
}

/** Every limit that the solution passes is one the seed is already at. */
function isDrivenIntoStop(
  { first, width, minRad, maxRad, candidates }: Branches,
  branch: number,
  seedRad: Float64Array,
): boolean {
  for (let j = 0; j < width; j++) {
    const seed = seedRad[first + j]!;
    const angle = candidates[branch * width + j]!;
    if (angle < minRad[j]! && seed > minRad[j]! + AT_STOP_RAD) return false;
    if (angle > maxRad[j]! && seed < maxRad[j]! - AT_STOP_RAD) return false;
  }
  return true;
}

/** Turns an exact, unwrapped solution into its limits; the move is Infinity when it does not fit. */
function turnIntoLimits(branches: Branches, branch: number, seedRad: Float64Array): void {
  const { first, width, minRad, maxRad, candidates, exact, legal } = branches;
  let farthestRad = exact[branch] === 1 ? 0 : Infinity;
  let sumRad = 0;
  for (let j = 0; j < width; j++) {
    const lowRad = minRad[j]! - SLACK_RAD;
    const highRad = maxRad[j]! + SLACK_RAD;
    let angle = candidates[branch * width + j]!;
    if (angle > highRad) angle -= TURN_RAD * Math.ceil((angle - highRad) / TURN_RAD);
    else if (angle < lowRad) angle += TURN_RAD * Math.ceil((lowRad - angle) / TURN_RAD);
    legal[branch * width + j] = angle;
    const fits = angle >= lowRad && angle <= highRad;
    const moveRad = fits ? Math.abs(angle - seedRad[first + j]!) : Infinity;
    farthestRad = Math.max(farthestRad, moveRad);
    sumRad += moveRad;
  }
  branches.moveRad[branch] = farthestRad + TIE * sumRad;
}

/** Those that fit, each turned as near to zero as its limits allow. */
function listAll(branches: Branches, origin: Float64Array, out: Float64Array): number {
  const { width, legal, moveRad } = branches;
  let found = 0;
  for (let i = 0; i < moveRad.length; i++) {
    unwrap(branches, i, origin);
    turnIntoLimits(branches, i, origin);
    if (moveRad[i] === Infinity || isListed(branches, i, out, found)) continue;
    for (let j = 0; j < width; j++) out[found * width + j] = legal[i * width + j]!;
    found += 1;
  }
  return found;
}

/** One of the first `found` listed solutions is this one, whole turns apart or not at all. */
function isListed({ width, legal }: Branches, branch: number, out: Float64Array, found: number): boolean {
  for (let other = 0; other < found; other++) {
    let same = 0;
    while (same < width) {
      const off = legal[branch * width + same]! - out[other * width + same]!;
      if (Math.abs(off - TURN_RAD * Math.round(off / TURN_RAD)) > SAME_RAD) break;
      same += 1;
    }
    if (same === width) return true;
  }
  return false;
}

/**
 * Fills the chooser with all solutions for the last joint's frame at `placeM` and `matrix` (3×3 row-major). Where a
 * branch has none, it gets the nearest that keeps the orientation, marked as not exact. Hot path: nothing allocates.
 */
export type Fill = (seedRad: Float64Array) => void;

export interface FillContext {
  model: RobotModel;
  chooser: BranchChooser;
  placeM: Float64Array;
  matrix: Float64Array;
  singularStepRad: number;
}
