import { type Chain, createChain, TRANSFORM_SIZE } from '../../geometry/chain.ts';
import type { RobotModel } from '../../geometry/robot-model.ts';
import type { NumericSolver, SolverOptions } from './contract.ts';
import { createLeastSquares, type LeastSquares } from './least-squares.ts';
import { poseError } from './pose-error.ts';
import { createTarget, isFiniteSeed } from './target.ts';

const MAX_ITERATIONS = 60;
/** Converged below this, in metres and in radians. */
const DONE = 1e-9;
/** Counts as on target below this, in metres and in radians. */
const ARRIVED = 1e-5;
/**
 * Weight of a radian in metres when position and orientation cannot both be met. An arm with fewer than six
 * joints can seldom meet both: it goes to the position and gets as close to the orientation as it can.
 */
const RADIAN_M = 0.3;
const FEW_JOINTS_RADIAN_M = 0.02;
/** Then from there on, so that the position is exact to some micrometres. */
const EXACT_RADIAN_M = 0.001;
/** A joint turns no more than this per iteration. */
const MAX_STEP_RAD = 0.6;
/** A redundant arm that moves backs off from a nearby limit by this share of the depth per solve. */
const NEAR_LIMIT_RAD = 0.3;
const LEAVE_LIMIT = 0.05;
/** If the seed fails: further starts this far around it, a little away from the limits. */
const NEARBY_STARTS = 5;
const NEARBY_RAD = 0.35;
const OFF_LIMIT_RAD = 0.1;
/** A nearby start must not end further from the seed than this: a follower must not jump. */
const NEARBY_MOVE_RAD = 1;
/** A step that improves the cost by less than this share ends the search. */
const STALLED = 1e-6;

interface Search {
  model: RobotModel;
  chain: Chain;
  minRad: Float64Array;
  maxRad: Float64Array;
  squares: LeastSquares;
  jacobian: Float64Array;
  flange: Float64Array;
  placeM: Float64Array;
  matrix: Float64Array;
  /** Best pose so far with its weighted error, and the pose being tried. */
  bestRad: Float64Array;
  triedRad: Float64Array;
  radianM: number;
  /** Linear rows over weighted angular rows. */
  error: Float64Array;
  residual: Float64Array;
  /** Half the weighted squared error of the tried pose, and of the best. */
  cost: Float64Array;
  /** The given seed, and the result. */
  givenRad: Float64Array;
  foundRad: Float64Array;
  foundResidual: Float64Array;
}

/**
 * Damped least squares for any chain: Levenberg–Marquardt with joints locked at their limits, warm-started, bounded.
 * A redundant arm moves as little as possible from the seed, except to stay away from its limits.
 */
export function createNumericSolver(model: RobotModel, options: SolverOptions = {}): NumericSolver {
  const search = createSearch(model);
  const joints = model.joints.length;
  // The chain ends at the flange, so the tool need not be removed from the target.
  const target = createTarget(
    { ...model, tool: { xyzM: [0, 0, 0], rpyRad: [0, 0, 0] } },
    search.matrix,
    search.placeM,
  );
  const reachM = reachOf(model);
  return {
    residual: search.foundResidual,
    solve(positionM, quatXyzw, seedRad, outRad) {
      if (!isFiniteSeed(seedRad, joints) || !target.place(positionM, quatXyzw)) return 'bad-input';
      for (let j = 0; j < joints; j++) search.bestRad[j] = search.givenRad[j] = seedRad[j]!;
      descend(search);
      if (joints < 6) descendExactly(search);
      keep(search);
      const isBeyond = isOutside(positionM, reachM);
      // With fewer than six joints, the full pose usually cannot be reached.
      if (joints >= 6 && !isThere(search.foundResidual) && !isBeyond) retry(search, options.restarts ?? 0);
      for (let j = 0; j < joints; j++) outRad[j] = search.foundRad[j]!;
      if (isThere(search.foundResidual)) return 'ok';
      return isBeyond ? 'unreachable' : 'clamped';
    },
  };
}

function createSearch(model: RobotModel): Search {
  const joints = model.joints.length;
  return {
    model,
    chain: createChain(model),
    minRad: Float64Array.from(model.joints, (joint) => joint.minRad),
    maxRad: Float64Array.from(model.joints, (joint) => joint.maxRad),
    squares: createLeastSquares(joints),
    jacobian: new Float64Array(6 * joints),
    flange: new Float64Array(TRANSFORM_SIZE),
    placeM: new Float64Array(3),
    matrix: new Float64Array(9),
    bestRad: new Float64Array(joints),
    triedRad: new Float64Array(joints),
    radianM: joints < 6 ? FEW_JOINTS_RADIAN_M : RADIAN_M,
    error: new Float64Array(6),
    residual: new Float64Array(2),
    cost: new Float64Array(2),
    givenRad: new Float64Array(joints),
    foundRad: new Float64Array(joints),
    foundResidual: new Float64Array(2),
  };
}

/** The orientation has been found: now it yields where it keeps the position from being exact. */
function descendExactly(search: Search): void {
  search.radianM = EXACT_RADIAN_M;
  descend(search);
  search.radianM = FEW_JOINTS_RADIAN_M;
}

const isThere = (residual: Float64Array): boolean => residual[0]! < ARRIVED && residual[1]! < ARRIVED;

function keep(search: Search): void {
  search.foundRad.set(search.bestRad);
  search.foundResidual.set(search.residual);
}

/** Tries other starts, nearby ones first; keeps the first that arrives. */
function retry(search: Search, restarts: number): void {
  for (let start = 1; start <= NEARBY_STARTS + restarts; start++) {
    const isNearby = start <= NEARBY_STARTS;
    if (isNearby) startNearby(search, start);
    else startAnywhere(search, start);
    descend(search);
    if (!isThere(search.residual) || (isNearby && isFar(search.bestRad, search.givenRad))) continue;
    keep(search);
    return;
  }
}

/** `ball` is centre and radius. */
function isOutside(positionM: Float64Array, ball: Float64Array): boolean {
  const x = positionM[0]! - ball[0]!;
  const y = positionM[1]! - ball[1]!;
  const z = positionM[2]! - ball[2]!;
  return Math.sqrt(x * x + y * y + z * z) > ball[3]!;
}

function isFar(qRad: Float64Array, givenRad: Float64Array): boolean {
  for (let j = 0; j < qRad.length; j++) if (Math.abs(qRad[j]! - givenRad[j]!) > NEARBY_MOVE_RAD) return true;
  return false;
}

/** Iterates from `bestRad` until it converges or stalls; keeps the final pose and its residual. */
function descend(search: Search): void {
  const { squares, bestRad, triedRad, minRad, maxRad, residual, cost } = search;
  for (let j = 0; j < bestRad.length; j++)
    triedRad[j] = bestRad[j] = Math.min(Math.max(bestRad[j]!, minRad[j]!), maxRad[j]!);
  evaluate(search);
  cost[1] = cost[0]!;
  let damping = 1e-3;
  for (let i = 0; i < MAX_ITERATIONS && !(residual[0]! < DONE && residual[1]! < DONE); i++) {
    squares.damping[0] = damping * cost[1]!;
    setDesired(search, i);
    squares.solve(search.jacobian, search.error, bestRad, minRad, maxRad);
    let largestRad = 0;
    for (let j = 0; j < bestRad.length; j++) largestRad = Math.max(largestRad, Math.abs(squares.stepRad[j]!));
    const scale = largestRad > MAX_STEP_RAD ? MAX_STEP_RAD / largestRad : 1;
    for (let j = 0; j < bestRad.length; j++)
      triedRad[j] = Math.min(Math.max(bestRad[j]! + scale * squares.stepRad[j]!, minRad[j]!), maxRad[j]!);
    evaluate(search);
    if (cost[0]! < cost[1]!) {
      bestRad.set(triedRad);
      const isStalled = cost[1]! - cost[0]! < STALLED * cost[1]!;
      cost[1] = cost[0]!;
      if (isStalled) break;
      damping = Math.max(damping / 4, 1e-6);
    } else {
      triedRad.set(bestRad);
      evaluate(search);
      damping *= 16;
      if (damping * cost[1]! > 1e6) break;
    }
  }
}

/** Moves away from nearby limits, in the first iteration only: repeated, it would prevent convergence. */
function setDesired({ squares, bestRad, minRad, maxRad }: Search, iteration: number): void {
  if (bestRad.length <= 6 || iteration > 1) return;
  for (let j = 0; j < bestRad.length; j++) {
    const low = Math.max(0, minRad[j]! + NEAR_LIMIT_RAD - bestRad[j]!);
    const high = Math.max(0, bestRad[j]! - maxRad[j]! + NEAR_LIMIT_RAD);
    squares.desiredRad[j] = iteration === 0 ? LEAVE_LIMIT * (low - high) : 0;
  }
}

/** Jacobian, error, residual and cost at `triedRad`. */
function evaluate(search: Search): void {
  const { chain, triedRad, jacobian, flange, error, residual, radianM } = search;
  chain.jacobian(triedRad, jacobian, flange);
  poseError(flange, search.placeM, search.matrix, error);
  residual[0] = Math.sqrt(error[0]! ** 2 + error[1]! ** 2 + error[2]! ** 2);
  residual[1] = Math.sqrt(error[3]! ** 2 + error[4]! ** 2 + error[5]! ** 2);
  for (let i = 3; i < 6; i++) error[i]! *= radianM;
  for (let i = 3 * triedRad.length; i < jacobian.length; i++) jacobian[i]! *= radianM;
  const turned = radianM * residual[1]!;
  search.cost[0] = (residual[0]! * residual[0]! + turned * turned) / 2;
}

/** Centre and radius of a sphere that the flange cannot leave. */
function reachOf(model: RobotModel): Float64Array {
  const chain = createChain(model);
  const origins = new Float64Array(3 * (chain.joints + 1));
  chain.linkOrigins(new Float64Array(chain.joints), origins);
  const first = model.joints[0]!.origin ? 1 : 0;
  let radiusM = 0;
  for (let i = 3 * first; i < origins.length - 3; i += 3)
    radiusM += Math.hypot(
      origins[i + 3]! - origins[i]!,
      origins[i + 4]! - origins[i + 1]!,
      origins[i + 5]! - origins[i + 2]!,
    );
  return Float64Array.of(origins[3 * first]!, origins[3 * first + 1]!, origins[3 * first + 2]!, radiusM);
}

/** Spread over 0 to 1 by joint and start, the same in every solve; an additive recurrence. */
const share = (start: number, joint: number): number => (0.5 + start * Math.sqrt(2 + joint * 3.7)) % 1;

function startNearby({ bestRad, givenRad, minRad, maxRad }: Search, start: number): void {
  for (let j = 0; j < bestRad.length; j++) {
    const angle = givenRad[j]! + NEARBY_RAD * (2 * share(start, j) - 1);
    bestRad[j] = Math.min(Math.max(angle, minRad[j]! + OFF_LIMIT_RAD), maxRad[j]! - OFF_LIMIT_RAD);
  }
}

function startAnywhere({ bestRad, minRad, maxRad }: Search, start: number): void {
  for (let j = 0; j < bestRad.length; j++)
    bestRad[j] = minRad[j]! + share(start, j) * (maxRad[j]! - minRad[j]!);
}
