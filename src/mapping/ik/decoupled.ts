import { wrapRad } from '../../geometry/frames.ts';
import type { RobotModel } from '../../geometry/robot-model.ts';
import { type BranchChooser, createBranchChooser } from './branch.ts';
import type { SolverOptions } from './contract.ts';
import { urRows } from './geometry.ts';
import { type BoundedTurn, createBoundedTurn, HOLD, SINGULAR } from './singular.ts';
import { createTarget, FAR_M, isFiniteSeed } from './target.ts';
import { createWrist, type Wrist } from './wrist.ts';

export interface DecoupledSolver {
  /**
   * Joint angles that put the origin of link 3 at `positionM` and the tool at `quatXyzw` (any length), both in the
   * base frame, by the solution nearest to `seedRad`. `outRad` is untouched on `bad-input` and may be `seedRad`.
   * Hot path: nothing allocates; one caller at a time.
   */
  solve(
    positionM: Float64Array,
    quatXyzw: Float64Array,
    seedRad: Float64Array,
    outRad: Float64Array,
  ): 'ok' | 'clamped' | 'bad-input';
  /** Size of the buffer for `all`: solutions times joints. */
  readonly allSize: number;
  /**
   * Writes every distinct solution within the limits to `out`, consecutively; returns their number, −1 on bad
   * input.
   */
  all(positionM: Float64Array, quatXyzw: Float64Array, out: Float64Array): number;
}

/** Two shoulders, two elbows; two wrists for each. */
const PLACES = 4;
const WRISTS = 2;

/** Distance kept from full stretch and full fold, so that the sign of the elbow is preserved. */
export const SHELL_MARGIN_M = 1e-6;
/** Link 3 closer to the base axis than this counts as near the singularity of joint 1. */
const NEAR_AXIS_M = 0.03;
/** Below this sin θ3, rounding in the target becomes visible in the elbow. */
const NEAR_ELBOW = 1e-3;
interface Arm {
  d1M: number;
  a2M: number;
  a3M: number;
  innerSqM2: number;
  outerSqM2: number;
  pan: BoundedTurn;
  turn: Wrist;
  shoulder: BranchChooser;
  wrist: BranchChooser;
  /** Scratch: the target in the arm's plane, and the tool's rotation. */
  planeM: Float64Array;
  matrix: Float64Array;
}

/** Closed form of "decoupled mapping": joints 1–3 set the position of link 3, joints 4–6 the orientation. */
export function createDecoupledSolver(model: RobotModel, options: SolverOptions = {}): DecoupledSolver {
  const dh = urRows(model);
  const a2M = dh[1]!.aM;
  const a3M = dh[2]!.aM;
  const stepRad = options.singularStepRad ?? Infinity;
  const arm: Arm = {
    d1M: dh[0]!.dM,
    a2M,
    a3M,
    innerSqM2: (Math.abs(Math.abs(a2M) - Math.abs(a3M)) + SHELL_MARGIN_M) ** 2,
    outerSqM2: (Math.abs(a2M) + Math.abs(a3M) - SHELL_MARGIN_M) ** 2,
    pan: createBoundedTurn(NEAR_AXIS_M, stepRad),
    turn: createWrist(-1, stepRad),
    shoulder: createBranchChooser(model, 0, PLACES, options),
    wrist: createBranchChooser(model, 3, WRISTS, options),
    planeM: new Float64Array(2),
    matrix: new Float64Array(9),
  };
  const target = createTarget(model, arm.matrix);
  const homeRad = Float64Array.from(model.homeRad);
  const places = new Float64Array(PLACES * 3);
  const wrists = new Float64Array(WRISTS * 3);
  return {
    allSize: PLACES * WRISTS * 6,
    solve(positionM, quatXyzw, seedRad, outRad) {
      if (!isFiniteSeed(seedRad, 6) || !target.turn(positionM, quatXyzw)) return 'bad-input';
      const reached = solvePosition(arm, positionM, seedRad, outRad);
      const aligned = solveWrist(arm, seedRad, outRad);
      return reached && aligned ? 'ok' : 'clamped';
    },
    all(positionM, quatXyzw, out) {
      if (!target.turn(positionM, quatXyzw)) return -1;
      if (!offerPosition(arm, positionM, homeRad)) return 0;
      const count = arm.shoulder.list(places);
      let found = 0;
      for (let place = 0; place < count; place++) {
        const placeRad = places.subarray(3 * place, 3 * place + 3);
        if (!offerWrist(arm, homeRad, placeRad)) continue;
        const flips = arm.wrist.list(wrists);
        for (let flip = 0; flip < flips; flip++) {
          out.set(placeRad, 6 * found);
          out.set(wrists.subarray(3 * flip, 3 * flip + 3), 6 * found + 3);
          found += 1;
        }
      }
      return found;
    },
  };
}

function solvePosition(
  arm: Arm,
  positionM: Float64Array,
  seedRad: Float64Array,
  outRad: Float64Array,
): boolean {
  const reached = offerPosition(arm, positionM, seedRad);
  return arm.shoulder.choose(seedRad, outRad) === 'ok' && reached;
}

/** Joint 1 turns the arm's plane to the target; the rest happens in that plane. */
function offerPosition(arm: Arm, positionM: Float64Array, seedRad: Float64Array): boolean {
  const farM = Math.max(Math.abs(positionM[0]!), Math.abs(positionM[1]!), Math.abs(positionM[2]!));
  const scale = farM > FAR_M ? FAR_M / farM : 1;
  const xM = positionM[0]! * scale;
  const yM = positionM[1]! * scale;
  const axisM = Math.sqrt(xM * xM + yM * yM);
  let outM = axisM;
  let offPlaneM = 0;
  const c = arm.shoulder.candidates;
  c[0] = Math.atan2(yM, xM);
  if (axisM < NEAR_AXIS_M) {
    arm.pan.lever[0] = axisM;
    arm.pan.apply(c, 0, seedRad, 0);
    outM = Math.cos(c[0]) * xM + Math.sin(c[0]) * yM;
    offPlaneM = Math.cos(c[0]) * yM - Math.sin(c[0]) * xM;
  }
  c[3] = c[0]!;
  c[6] = c[0]! + Math.PI;
  c[9] = c[0]! + Math.PI;
  arm.planeM[0] = outM;
  arm.planeM[1] = positionM[2]! * scale - arm.d1M;
  return offerPlane(arm, seedRad) && scale === 1 && Math.abs(offPlaneM) <= SINGULAR;
}

/** Joints 2 and 3 for `planeM` (outward, up from the shoulder): this shoulder and its back, elbow up and down. */
function offerPlane(arm: Arm, seedRad: Float64Array): boolean {
  const { a2M, a3M } = arm;
  const outM = arm.planeM[0]!;
  const upM = arm.planeM[1]!;
  const spanSqM2 = outM * outM + upM * upM;
  const shellSqM2 = Math.min(Math.max(spanSqM2, arm.innerSqM2), arm.outerSqM2);
  const inShell = shellSqM2 === spanSqM2;
  let cosElbow = (shellSqM2 - a2M * a2M - a3M * a3M) / (2 * a2M * a3M);
  let sinElbow = Math.sqrt(1 - cosElbow * cosElbow);
  let elbow = Math.acos(cosElbow);
  const held = (!inShell || sinElbow < NEAR_ELBOW) && keepsSpan(arm, seedRad);
  if (held) {
    elbow = Math.abs(wrapRad(seedRad[2]!));
    cosElbow = Math.cos(elbow);
    sinElbow = Math.sin(elbow);
  }
  const inner = Math.atan2(a3M * sinElbow, a2M + a3M * cosElbow);
  const ray = spanSqM2 > HOLD * HOLD ? Math.atan2(upM, outM) : seedRay(arm, seedRad);
  const c = arm.shoulder.candidates;
  c[1] = ray - inner;
  c[4] = ray + inner;
  c[7] = Math.PI - ray - inner;
  c[10] = Math.PI - ray + inner;
  c[2] = c[8] = elbow;
  c[5] = c[11] = -elbow;
  return held || inShell;
}

/**
 * Whether the seed's elbow already gives the requested distance: near stretch and fold, rounding must not
 * move it.
 */
function keepsSpan({ a2M, a3M, planeM }: Arm, seedRad: Float64Array): boolean {
  const spanSqM2 = planeM[0]! * planeM[0]! + planeM[1]! * planeM[1]!;
  const seedSqM2 = a2M * a2M + a3M * a3M + 2 * a2M * a3M * Math.cos(seedRad[2]!);
  return Math.abs(spanSqM2 - seedSqM2) < 2 * HOLD * Math.sqrt(spanSqM2);
}

/** Direction in the arm's plane from the shoulder to link 3 of the seed. */
function seedRay({ a2M, a3M }: Arm, seedRad: Float64Array): number {
  const elbow = seedRad[2]!;
  return seedRad[1]! + Math.atan2(a3M * Math.sin(elbow), a2M + a3M * Math.cos(elbow));
}

function solveWrist(arm: Arm, seedRad: Float64Array, outRad: Float64Array): boolean {
  const aligned = offerWrist(arm, seedRad, outRad);
  return arm.wrist.choose(seedRad, outRad) === 'ok' && aligned;
}

/** The orientation seen from link 3 of the first joints in `placeRad`: R3ᵀ K = Rz(θ4) Ry(−θ5) Rz(θ6). */
function offerWrist(arm: Arm, seedRad: Float64Array, placeRad: Float64Array): boolean {
  const k = arm.matrix;
  const cosPan = Math.cos(placeRad[0]!);
  const sinPan = Math.sin(placeRad[0]!);
  const cosArm = Math.cos(placeRad[1]! + placeRad[2]!);
  const sinArm = Math.sin(placeRad[1]! + placeRad[2]!);
  const flat0 = cosPan * k[0]! + sinPan * k[3]!;
  const flat1 = cosPan * k[1]! + sinPan * k[4]!;
  const flat2 = cosPan * k[2]! + sinPan * k[5]!;
  const n = arm.turn.matrix;
  n[0] = cosArm * flat0 + sinArm * k[6]!;
  n[1] = cosArm * flat1 + sinArm * k[7]!;
  n[2] = cosArm * flat2 + sinArm * k[8]!;
  n[3] = cosArm * k[6]! - sinArm * flat0;
  n[4] = cosArm * k[7]! - sinArm * flat1;
  n[5] = cosArm * k[8]! - sinArm * flat2;
  n[8] = sinPan * k[2]! - cosPan * k[5]!;
  const aligned = arm.turn.solve(seedRad, 3);
  const { anglesRad } = arm.turn;
  const c = arm.wrist.candidates;
  c[0] = anglesRad[0]!;
  c[1] = anglesRad[1]!;
  c[2] = anglesRad[2]!;
  c[3] = anglesRad[0]! + Math.PI;
  c[4] = -anglesRad[1]!;
  c[5] = anglesRad[2]! + Math.PI;
  return aligned;
}
