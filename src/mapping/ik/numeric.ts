import { type Chain, createChain, TRANSFORM_SIZE } from '../../core/chain.ts';
import type { RobotModel } from '../../core/robot-model.ts';
import { createLeastSquares, type LeastSquares } from './least-squares.ts';
import { poseError } from './pose-error.ts';
import type { NumericSolver, SolverOptions } from './solver.ts';
import { createTarget, isFiniteSeed } from './target.ts';

const MAX_ITERATIONS = 60;
/** Converged below this, in metres and in radians. */
const DONE = 1e-9;
/** Counts as the target itself below this, in metres and in radians. */
const ARRIVED = 1e-5;
/** Metres that a radian is worth when both cannot be had. */
const RADIAN_M = 0.3;
/** A joint turns no more than this per iteration. */
const MAX_STEP_RAD = 0.6;
/** A step that wins less than this share is the end of the road. */
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
  /** Linear over angular, radians weighted. */
  error: Float64Array;
  residual: Float64Array;
}

/**
 * Damped least squares for any chain: Levenberg–Marquardt with joints locked at their limits, warm-started, bounded.
 * A redundant arm moves as little as it can from the seed.
 */
export function createNumericSolver(model: RobotModel, options: SolverOptions = {}): NumericSolver {
  const search = createSearch(model);
  const joints = model.joints.length;
  // The chain ends in the flange, so the target needs no taking off of the tool.
  const target = createTarget(
    { ...model, tool: { xyzM: [0, 0, 0], rpyRad: [0, 0, 0] } },
    search.matrix,
    search.placeM,
  );
  const reachM = reachOf(model);
  const nextSeed = createSeeds(search, joints);
  const foundRad = new Float64Array(joints);
  const best = new Float64Array(2);
  return {
    residual: best,
    solve(positionM, quatXyzw, seedRad, outRad) {
      if (!isFiniteSeed(seedRad, joints) || !target.place(positionM, quatXyzw)) return 'bad-input';
      for (let j = 0; j < joints; j++) search.bestRad[j] = seedRad[j]!;
      descend(search);
      keep(search, foundRad, best);
      for (let i = 1; i <= (options.restarts ?? 0) && !isThere(best); i++) {
        nextSeed(i);
        descend(search);
        if (costOf(search.residual) < costOf(best)) keep(search, foundRad, best);
      }
      for (let j = 0; j < joints; j++) outRad[j] = foundRad[j]!;
      if (isThere(best)) return 'ok';
      const offM = Math.hypot(
        positionM[0]! - reachM[0]!,
        positionM[1]! - reachM[1]!,
        positionM[2]! - reachM[2]!,
      );
      return offM > reachM[3]! ? 'unreachable' : 'clamped';
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
    error: new Float64Array(6),
    residual: new Float64Array(2),
  };
}

const isThere = (residual: Float64Array): boolean => residual[0]! < ARRIVED && residual[1]! < ARRIVED;
const costOf = (residual: Float64Array): number => residual[0]! + RADIAN_M * residual[1]!;

function keep(search: Search, foundRad: Float64Array, residual: Float64Array): void {
  foundRad.set(search.bestRad);
  residual.set(search.residual);
}

/** From `bestRad` to the end of the road; leaves the pose there and its residual. */
function descend(search: Search): void {
  const { squares, bestRad, triedRad, minRad, maxRad, residual } = search;
  for (let j = 0; j < bestRad.length; j++)
    triedRad[j] = bestRad[j] = Math.min(Math.max(bestRad[j]!, minRad[j]!), maxRad[j]!);
  let cost = evaluate(search);
  let damping = 1e-3;
  for (let i = 0; i < MAX_ITERATIONS && !(residual[0]! < DONE && residual[1]! < DONE); i++) {
    squares.damping[0] = damping * cost;
    squares.solve(search.jacobian, search.error, bestRad, minRad, maxRad);
    let largestRad = 0;
    for (let j = 0; j < bestRad.length; j++) largestRad = Math.max(largestRad, Math.abs(squares.stepRad[j]!));
    const scale = largestRad > MAX_STEP_RAD ? MAX_STEP_RAD / largestRad : 1;
    for (let j = 0; j < bestRad.length; j++)
      triedRad[j] = Math.min(Math.max(bestRad[j]! + scale * squares.stepRad[j]!, minRad[j]!), maxRad[j]!);
    const tried = evaluate(search);
    if (tried < cost) {
      bestRad.set(triedRad);
      if (cost - tried < STALLED * cost) break;
      cost = tried;
      damping = Math.max(damping / 4, 1e-6);
    } else {
      triedRad.set(bestRad);
      evaluate(search);
      damping *= 16;
      if (damping * cost > 1e6) break;
    }
  }
}

/** Jacobian, error and residual at `triedRad`; returns half the weighted square. */
function evaluate(search: Search): number {
  const { chain, triedRad, jacobian, flange, error, residual } = search;
  chain.jacobian(triedRad, jacobian, flange);
  poseError(flange, search.placeM, search.matrix, error);
  residual[0] = Math.sqrt(error[0]! ** 2 + error[1]! ** 2 + error[2]! ** 2);
  residual[1] = Math.sqrt(error[3]! ** 2 + error[4]! ** 2 + error[5]! ** 2);
  for (let i = 3; i < 6; i++) error[i]! *= RADIAN_M;
  for (let i = 3 * triedRad.length; i < jacobian.length; i++) jacobian[i]! *= RADIAN_M;
  const turned = RADIAN_M * residual[1]!;
  return (residual[0]! * residual[0]! + turned * turned) / 2;
}

/** Centre and radius of a ball that the flange cannot leave. */
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

/** Seeds spread over the limits, the same ones in every solve: an additive recurrence per joint. */
function createSeeds({ bestRad, minRad, maxRad }: Search, joints: number): (index: number) => void {
  return (index) => {
    for (let j = 0; j < joints; j++) {
      const share = (0.5 + index * Math.sqrt(2 + j * 3.7)) % 1;
      bestRad[j] = minRad[j]! + share * (maxRad[j]! - minRad[j]!);
    }
  };
}
