import { TURN_RAD } from '../../geometry/frames.ts';
import type { RobotModel } from '../../geometry/robot-model.ts';

/**
 * `clamped`: the move to a solution was cut short. `unreachable`: no solution lies within the limits. In both
 * cases the nearest candidate is written, clamped to the limits.
 */
export type Choice = 'ok' | 'clamped' | 'unreachable';

/** Picks among the solutions of consecutive joints. Hot path: nothing allocates. */
export interface BranchChooser {
  /** All candidates, `width` angles each, modulo full turns; fill before each `choose`. */
  readonly candidates: Float64Array;
  /** Zero for a candidate that only comes close to the target; fill before `choose`, initially all exact. */
  readonly exact: Uint8Array;
  /**
   * Writes the solution nearest to the seed by max |difference|, unwrapped toward the seed and within the limits.
   * `out` may be `seed`.
   */
  choose(seedRad: Float64Array, outRad: Float64Array): Choice;
  /** Writes every distinct exact solution within the limits, consecutively; returns their number. */
  list(out: Float64Array): number;
}

export interface BranchOptions {
  /** Joints per candidate. */
  width?: number;
  /**
   * At a limit or at full reach, take another solution however far away. Otherwise the arm stays there: it
   * does not unwind a turn or flip over to continue.
   */
  switchAtLimit?: boolean;
}

/** A seed this close to a limit that the solution exceeds is being driven into it. */
const AT_STOP_RAD = 0.25;
/** A legal solution this close leads past the stop, for example when the elbow folds through ±π. */
const DETOUR_RAD = 0.5;
/** Rounding tolerance at a limit; results still lie within the limit. */
const SLACK_RAD = 1e-9;
/** Weight of the sum of the moves, as a tie-break between solutions with the same largest move. */
const TIE = 1e-6;
/** Solutions closer than this count as equal. */
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
  /** The candidates shifted by whole turns into the limits. */
  legal: Float64Array;
  /** Largest move from the seed to each candidate, with tie-break. */
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

// Helpers pass numbers through arrays: V8 boxes a float passed to a call that it does not inline.

/** Shifts a solution by whole turns next to the seed. */
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

/** Used when the nearest candidate exceeds a limit or is not exact. */
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

/** Whether the seed is already at every limit that the solution exceeds. */
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

/**
 * Shifts an exact, unwrapped solution by whole turns into its limits; the move is Infinity if it does not
 * fit.
 */
function turnIntoLimits(branches: Branches, branch: number, seedRad: Float64Array): void {
  const { first, width, minRad, maxRad, candidates, exact, legal } = branches;
  let farthestRad = 0;
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
  // Not by `farthestRad` starting as 0 or Infinity: V8 boxes that.
  if (exact[branch] !== 1) branches.moveRad[branch] = Infinity;
}

/** Lists those that fit, each shifted as close to zero as its limits allow. */
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

/** Whether one of the first `found` listed solutions equals this one modulo full turns. */
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
 * Fills the chooser with all solutions for the last joint's frame at `placeM` and `matrix` (3×3 row-major). A
 * branch without a solution gets the nearest one that keeps the orientation, marked as not exact. Hot path:
 * nothing allocates.
 */
export type Fill = (seedRad: Float64Array) => void;

export interface FillContext {
  model: RobotModel;
  chooser: BranchChooser;
  placeM: Float64Array;
  matrix: Float64Array;
  singularStepRad: number;
}
