import type { RobotModel } from '../../core/robot-model.ts';
import { TURN_RAD, wrapRad } from '../frames.ts';

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

export function createBranchChooser(model: RobotModel, first: number, count: number): BranchChooser {
  const candidates = new Float64Array(3 * count);
  const limits = new Float64Array(6);
  for (let j = 0; j < 3; j++) {
    limits[2 * j] = model.joints[first + j]!.minRad;
    limits[2 * j + 1] = model.joints[first + j]!.maxRad;
  }
  return {
    candidates,
    choose(seedRad, outRad) {
      let free = 0;
      let freeRad = Infinity;
      let legal = -1;
      let legalRad = Infinity;
      for (let i = 0; i < count; i++) {
        const nearRad = unwrap(candidates, i, seedRad, first);
        const withinRad = isWithin(candidates, i, limits)
          ? nearRad
          : legalMove(candidates, i, limits, seedRad, first);
        if (nearRad < freeRad) {
          freeRad = nearRad;
          free = i;
        }
        if (withinRad < legalRad) {
          legalRad = withinRad;
          legal = i;
        }
      }
      const detour = legalRad > freeRad && legalRad > DETOUR_RAD;
      const stopped = legal < 0 || (detour && drivenIntoStop(candidates, free, limits, seedRad, first));
      for (let j = 0; j < 3; j++) {
        const low = limits[2 * j]!;
        const high = limits[2 * j + 1]!;
        outRad[first + j] = stopped
          ? Math.min(Math.max(candidates[free * 3 + j]!, low), high)
          : legalTurn(candidates[legal * 3 + j]!, low, high);
      }
      return !stopped;
    },
  };
}

/** Moves a solution by whole turns next to the seed; its largest move from there, ties broken. */
function unwrap(candidates: Float64Array, branch: number, seedRad: Float64Array, first: number): number {
  let farthestRad = 0;
  let sumRad = 0;
  for (let j = 0; j < 3; j++) {
    const seed = seedRad[first + j]!;
    const move = wrapRad(candidates[branch * 3 + j]! - seed);
    candidates[branch * 3 + j] = seed + move;
    const moveRad = Math.abs(move);
    if (moveRad > farthestRad) farthestRad = moveRad;
    sumRad += moveRad;
  }
  return farthestRad + TIE * sumRad;
}

function isWithin(candidates: Float64Array, branch: number, limits: Float64Array): boolean {
  for (let j = 0; j < 3; j++) {
    const angle = candidates[branch * 3 + j]!;
    if (angle < limits[2 * j]! - SLACK_RAD || angle > limits[2 * j + 1]! + SLACK_RAD) return false;
  }
  return true;
}

/** The move with every joint turned into its limits; Infinity when one does not fit. */
function legalMove(
  candidates: Float64Array,
  branch: number,
  limits: Float64Array,
  seedRad: Float64Array,
  first: number,
): number {
  let farthestRad = 0;
  let sumRad = 0;
  for (let j = 0; j < 3; j++) {
    const angle = legalTurn(candidates[branch * 3 + j]!, limits[2 * j]!, limits[2 * j + 1]!);
    const moveRad = Math.abs(angle - seedRad[first + j]!);
    farthestRad = Math.max(farthestRad, moveRad);
    sumRad += moveRad;
  }
  return farthestRad + TIE * sumRad;
}

/** The angle moved by whole turns into its limits; Infinity when none fits. */
function legalTurn(angleRad: number, minRad: number, maxRad: number): number {
  const overRad = angleRad - maxRad;
  const underRad = minRad - angleRad;
  if (overRad > SLACK_RAD) angleRad -= TURN_RAD * Math.ceil((overRad - SLACK_RAD) / TURN_RAD);
  else if (underRad > SLACK_RAD) angleRad += TURN_RAD * Math.ceil((underRad - SLACK_RAD) / TURN_RAD);
  if (angleRad > maxRad + SLACK_RAD || angleRad < minRad - SLACK_RAD) return Infinity;
  return Math.min(Math.max(angleRad, minRad), maxRad);
}

/** Every limit that the unwrapped solution passes is one the seed is already at. */
function drivenIntoStop(
  candidates: Float64Array,
  branch: number,
  limits: Float64Array,
  seedRad: Float64Array,
  first: number,
): boolean {
  for (let j = 0; j < 3; j++) {
    const seed = seedRad[first + j]!;
    const angle = candidates[branch * 3 + j]!;
    if (angle < limits[2 * j]! && seed > limits[2 * j]! + AT_STOP_RAD) return false;
    if (angle > limits[2 * j + 1]! && seed < limits[2 * j + 1]! - AT_STOP_RAD) return false;
  }
  return true;
}
