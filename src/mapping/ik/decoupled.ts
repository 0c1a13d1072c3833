import { TeleopError } from '../../core/errors.ts';
import type { RobotModel } from '../../core/robot-model.ts';
import { matrixFromQuat, quatNormalise, wrapRad } from '../frames.ts';
import { type BranchChooser, createBranchChooser } from './branch.ts';

/** `clamped`: the nearest the arm can do (reach, a joint limit, a singularity being crossed), not the target itself. */
export type SolveStatus = 'ok' | 'clamped' | 'bad-input';

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
  ): SolveStatus;
}

export interface DecoupledOptions {
  /**
   * Most that joint 1 (link 3 over the base axis) or joint 4 (wrist straight) may turn per solve at its singularity,
   * where an arbitrarily small motion of the target asks for a quarter turn. The bound widens away from it.
   */
  singularStepRad?: number;
}

/** Distance kept from full stretch and from the fold, so that the sign of the elbow survives there. */
export const SHELL_MARGIN_M = 1e-6;
/** A joint stays at its seed when moving it would bring the arm less than this closer (m or rad): rounding noise. */
const HOLD = 1e-12;
/** Link 3 on the base axis (m), or a straight wrist (sin θ5): joint 1 or 4 stays at its seed. */
const SINGULAR = 1e-7;
/** Link 3 closer to the base axis than this, or sin θ5 below this, counts as near the singularity. */
const NEAR_AXIS_M = 0.03;
const NEAR_WRIST = 0.15;
/** sin θ3 below this: rounding in the target starts to show in the elbow. */
const NEAR_ELBOW = 1e-3;
/** Farther targets are drawn in along their ray first, so that squares stay finite. */
const FAR_M = 1e3;

interface Arm {
  d1M: number;
  a2M: number;
  a3M: number;
  innerSqM2: number;
  outerSqM2: number;
  singularStepRad: number;
  shoulder: BranchChooser;
  wrist: BranchChooser;
  matrix: Float64Array;
}

/** Closed form after "decoupled mapping": joints 1–3 carry the position of link 3, joints 4–6 the orientation. */
export function createDecoupledSolver(model: RobotModel, options: DecoupledOptions = {}): DecoupledSolver {
  checkFamily(model);
  const a2M = model.joints[1]!.dh.aM;
  const a3M = model.joints[2]!.dh.aM;
  const arm: Arm = {
    d1M: model.joints[0]!.dh.dM,
    a2M,
    a3M,
    innerSqM2: (Math.abs(Math.abs(a2M) - Math.abs(a3M)) + SHELL_MARGIN_M) ** 2,
    outerSqM2: (Math.abs(a2M) + Math.abs(a3M) - SHELL_MARGIN_M) ** 2,
    singularStepRad: options.singularStepRad ?? Infinity,
    shoulder: createBranchChooser(model, 0, 4),
    wrist: createBranchChooser(model, 3, 2),
    matrix: new Float64Array(9),
  };
  const unitQuat = new Float64Array(4);
  return {
    solve(positionM, quatXyzw, seedRad, outRad) {
      if (!isFinite3(positionM, 0) || !isFinite3(seedRad, 0) || !isFinite3(seedRad, 3)) return 'bad-input';
      if (!quatNormalise(quatXyzw, unitQuat)) return 'bad-input';
      matrixFromQuat(unitQuat, arm.matrix);
      const reached = solvePosition(arm, positionM, seedRad, outRad);
      const aligned = solveWrist(arm, seedRad, outRad);
      return reached && aligned ? 'ok' : 'clamped';
    },
  };
}

function solvePosition(
  arm: Arm,
  positionM: Float64Array,
  seedRad: Float64Array,
  outRad: Float64Array,
): boolean {
  const farM = Math.max(Math.abs(positionM[0]!), Math.abs(positionM[1]!), Math.abs(positionM[2]!));
  const scale = farM > FAR_M ? FAR_M / farM : 1;
  const xM = positionM[0]! * scale;
  const yM = positionM[1]! * scale;
  const upM = positionM[2]! * scale - arm.d1M;

  const axisM = Math.sqrt(xM * xM + yM * yM);
  const facing = Math.atan2(yM, xM);
  const bounded = isBounded(facing - seedRad[0]!, axisM, NEAR_AXIS_M, arm.singularStepRad);
  const pan = bounded ? boundedTurn(seedRad[0]!, facing, axisM, NEAR_AXIS_M, arm.singularStepRad) : facing;
  const outM = bounded ? Math.cos(pan) * xM + Math.sin(pan) * yM : axisM;

  const { a2M, a3M } = arm;
  const spanSqM2 = outM * outM + upM * upM;
  const shellSqM2 = Math.min(Math.max(spanSqM2, arm.innerSqM2), arm.outerSqM2);
  let cosElbow = (shellSqM2 - a2M * a2M - a3M * a3M) / (2 * a2M * a3M);
  let sinElbow = Math.sqrt(1 - cosElbow * cosElbow);
  const held = sinElbow < NEAR_ELBOW && keepsSpan(arm, seedRad[2]!, spanSqM2);
  if (held) {
    cosElbow = Math.cos(seedRad[2]!);
    sinElbow = Math.abs(Math.sin(seedRad[2]!));
  }
  const elbow = held ? Math.abs(wrapRad(seedRad[2]!)) : Math.acos(cosElbow);
  const inner = Math.atan2(a3M * sinElbow, a2M + a3M * cosElbow);
  const ray = spanSqM2 > HOLD * HOLD ? Math.atan2(upM, outM) : seedRay(arm, seedRad);
  offerArm(arm.shoulder.candidates, pan, ray, inner, elbow);
  const within = arm.shoulder.choose(seedRad, outRad);
  const onPlane = !bounded || Math.abs(Math.cos(pan) * yM - Math.sin(pan) * xM) <= SINGULAR;
  return within && onPlane && scale === 1 && (held || shellSqM2 === spanSqM2);
}

/** Shoulder left and right × elbow up and down. */
function offerArm(c: Float64Array, pan: number, ray: number, inner: number, elbow: number): void {
  c[0] = c[3] = pan;
  c[6] = c[9] = pan + Math.PI;
  c[1] = ray - inner;
  c[4] = ray + inner;
  c[7] = Math.PI - ray - inner;
  c[10] = Math.PI - ray + inner;
  c[2] = c[8] = elbow;
  c[5] = c[11] = -elbow;
}

/** The elbow as it is gives the distance asked for: near stretch and fold, rounding must not move it. */
function keepsSpan(arm: Arm, elbowRad: number, spanSqM2: number): boolean {
  const { a2M, a3M } = arm;
  const seedSqM2 = a2M * a2M + a3M * a3M + 2 * a2M * a3M * Math.cos(elbowRad);
  return Math.abs(spanSqM2 - seedSqM2) < 2 * HOLD * Math.sqrt(spanSqM2);
}

/** Direction in the arm's plane from the shoulder to link 3 of the seed. */
function seedRay(arm: Arm, seedRad: Float64Array): number {
  const elbow = seedRad[2]!;
  return seedRad[1]! + Math.atan2(arm.a3M * Math.sin(elbow), arm.a2M + arm.a3M * Math.cos(elbow));
}

/** With R3 of the joints already in `outRad`: M = R3ᵀ K = Rz(θ4) Ry(−θ5) Rz(θ6). */
function solveWrist(arm: Arm, seedRad: Float64Array, outRad: Float64Array): boolean {
  const k = arm.matrix;
  const cosPan = Math.cos(outRad[0]!);
  const sinPan = Math.sin(outRad[0]!);
  const cosArm = Math.cos(outRad[1]! + outRad[2]!);
  const sinArm = Math.sin(outRad[1]! + outRad[2]!);
  const flat0 = cosPan * k[0]! + sinPan * k[3]!;
  const flat1 = cosPan * k[1]! + sinPan * k[4]!;
  const flat2 = cosPan * k[2]! + sinPan * k[5]!;
  const m00 = cosArm * flat0 + sinArm * k[6]!;
  const m01 = cosArm * flat1 + sinArm * k[7]!;
  const m02 = cosArm * flat2 + sinArm * k[8]!;
  const m10 = cosArm * k[6]! - sinArm * flat0;
  const m11 = cosArm * k[7]! - sinArm * flat1;
  const m12 = cosArm * k[8]! - sinArm * flat2;
  const m22 = sinPan * k[2]! - cosPan * k[5]!;

  const sinWrist = Math.sqrt(m02 * m02 + m12 * m12);
  const facing = Math.atan2(m12, m02);
  const bounded = isBounded(facing - seedRad[3]!, sinWrist, NEAR_WRIST, arm.singularStepRad);
  const roll = bounded ? boundedTurn(seedRad[3]!, facing, sinWrist, NEAR_WRIST, arm.singularStepRad) : facing;
  const cosRoll = bounded ? Math.cos(roll) : m02 / sinWrist;
  const sinRoll = bounded ? Math.sin(roll) : m12 / sinWrist;
  const bend = Math.atan2(-cosRoll * m02 - sinRoll * m12, m22);
  const spin = Math.atan2(cosRoll * m10 - sinRoll * m00, cosRoll * m11 - sinRoll * m01);

  const c = arm.wrist.candidates;
  c[0] = roll;
  c[1] = bend;
  c[2] = spin;
  c[3] = roll + Math.PI;
  c[4] = -bend;
  c[5] = spin + Math.PI;
  const within = arm.wrist.choose(seedRad, outRad);
  return within && Math.abs(cosRoll * m12 - sinRoll * m02) <= SINGULAR;
}

/**
 * Whether a turn of joint 1 or 4 is to be cut: to nothing where it has no effect, to a step near the singularity.
 * Only the turn modulo π counts, its other half is another branch; `lever` → 0 is the singularity.
 */
function isBounded(turnRad: number, lever: number, near: number, stepRad: number): boolean {
  if (lever >= near) return false;
  const size = Math.abs(nearestHalfTurn(turnRad));
  return lever < SINGULAR || lever * size < HOLD || size > stepRad / (1 - lever / near);
}

function boundedTurn(seed: number, wanted: number, lever: number, near: number, stepRad: number): number {
  const turn = nearestHalfTurn(wanted - seed);
  if (lever < SINGULAR || lever * Math.abs(turn) < HOLD) return seed;
  return seed + (Math.sign(turn) * stepRad) / (1 - lever / near);
}

function nearestHalfTurn(turnRad: number): number {
  return turnRad - Math.PI * Math.round(turnRad / Math.PI);
}

function isFinite3(values: Float64Array, from: number): boolean {
  return (
    Number.isFinite(values[from]) && Number.isFinite(values[from + 1]) && Number.isFinite(values[from + 2])
  );
}

function checkFamily(model: RobotModel): void {
  const quarter = Math.PI / 2;
  const twists = [quarter, 0, 0, quarter, -quarter, 0];
  const dh = model.joints.map((joint) => joint.dh);
  const spherical =
    dh.length === 6 &&
    dh.every((row, i) => Math.abs(row.alphaRad - twists[i]!) < 1e-9) &&
    dh[0]!.aM === 0 &&
    dh[1]!.dM + dh[2]!.dM === 0 &&
    dh[1]!.aM * dh[2]!.aM !== 0;
  if (spherical) return;
  throw new TeleopError('bad-model', `${model.name} does not have the geometry of family "${model.family}"`, {
    hint: 'Give six joints with twists π/2, 0, 0, π/2, −π/2, 0, no offset in link 1 and none along joints 2 and 3.',
  });
}
