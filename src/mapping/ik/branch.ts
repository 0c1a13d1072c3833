import type { RobotModel } from '../../core/robot-model.ts';
import { TURN_RAD, wrapRad } from '../frames.ts';

/** Picks among the solutions of three consecutive joints. Hot path: nothing allocates. */
export interface BranchChooser {
  /** Room for the solutions, three angles each, any number of turns off. */
  readonly candidates: Float64Array;
  /**
   * Writes the solution nearest to the seed by max |difference|, unwrapped toward the seed and within the limits.
   * False when a joint was stopped at its limit instead: an arm driven into a stop stays there, it does not unwind a
   * turn or flip over to carry on. `out` may be `seed`.
   */
  choose(count: number, seedRad: Float64Array, outRad: Float64Array): boolean;
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
    choose(offered, seedRad, outRad) {
      let free = 0;
      let freeRad = Infinity;
      let legal = -1;
      let legalRad = Infinity;
      for (let i = 0; i < offered; i++) {
        const nearRad = distanceRad(candidates, i, limits, seedRad, first, false);
        const withinRad = distanceRad(candidates, i, limits, seedRad, first, true);
        if (nearRad < freeRad) {
          freeRad = nearRad;
          free = i;
        }
        if (withinRad < legalRad) {
          legalRad = withinRad;
          legal = i;
        }
      }
      const stopped =
        legal < 0 ||
        (legalRad > freeRad &&
          legalRad > DETOUR_RAD &&
          drivenIntoStop(candidates, free, limits, seedRad, first));
      write(candidates, stopped ? free : legal, limits, seedRad, first, stopped, outRad);
      return !stopped;
    },
  };
}

/** Largest move of a joint from the seed to a solution, ties broken; Infinity when `legally` and no turn of it is within limits. */
function distanceRad(
  candidates: Float64Array,
  branch: number,
  limits: Float64Array,
  seedRad: Float64Array,
  first: number,
  legally: boolean,
): number {
  let farthestRad = 0;
  let sumRad = 0;
  for (let j = 0; j < 3; j++) {
    const seed = seedRad[first + j]!;
    let angle = seed + wrapRad(candidates[branch * 3 + j]! - seed);
    if (legally) angle = legalTurn(angle, limits[2 * j]!, limits[2 * j + 1]!);
    const moveRad = Math.abs(angle - seed);
    if (moveRad > farthestRad) farthestRad = moveRad;
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

function drivenIntoStop(
  candidates: Float64Array,
  branch: number,
  limits: Float64Array,
  seedRad: Float64Array,
  first: number,
): boolean {
  for (let j = 0; j < 3; j++) {
    const seed = seedRad[first + j]!;
    const angle = seed + wrapRad(candidates[branch * 3 + j]! - seed);
    if (angle < limits[2 * j]! && seed > limits[2 * j]! + AT_STOP_RAD) return false;
    if (angle > limits[2 * j + 1]! && seed < limits[2 * j + 1]! - AT_STOP_RAD) return false;
  }
  return true;
}

function write(
  candidates: Float64Array,
  branch: number,
  limits: Float64Array,
  seedRad: Float64Array,
  first: number,
  stopped: boolean,
  outRad: Float64Array,
): void {
  for (let j = 0; j < 3; j++) {
    const minRad = limits[2 * j]!;
    const maxRad = limits[2 * j + 1]!;
    const seed = seedRad[first + j]!;
    const angle = seed + wrapRad(candidates[branch * 3 + j]! - seed);
    outRad[first + j] = stopped
      ? Math.min(Math.max(angle, minRad), maxRad)
      : legalTurn(angle, minRad, maxRad);
  }
}
