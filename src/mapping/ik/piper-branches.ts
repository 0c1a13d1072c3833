import type { Fill, FillContext } from './branch.ts';
import { piperRows } from './geometry.ts';
import { type BoundedTurn, createBoundedTurn, SINGULAR } from './singular.ts';
import { createTwoLink, type TwoLink } from './two-link.ts';
import { createWrist, type Wrist } from './wrist.ts';

/** Wrist closer to the base axis than this counts as near the singularity of joint 1. */
const NEAR_AXIS_M = 0.03;

interface Arm extends FillContext {
  /** Row angles at joint position zero. */
  zeroRad: Float64Array;
  d1M: number;
  d6M: number;
  /** The straight line from elbow to wrist, seen from the elbow's x axis. */
  leanRad: number;
  plane: TwoLink;
  wrist: Wrist;
  atAxis: BoundedTurn;
  /** Scratch: joint 1, the wrist centre seen from the shoulder, the seed in row angles. */
  panRad: Float64Array;
  wristM: Float64Array;
  seedRad: Float64Array;
}

/**
 * Joint 1 turns the arm's plane to the wrist centre, joints 2 and 3 reach it in that plane, joints 4 to 6 set
 * the orientation. With the wrist straight, joint 4 stays and joint 6 takes the rest; with the wrist on the
 * base axis, joint 1 stays.
 */
export function createPiperBranches(context: FillContext): Fill {
  const rows = piperRows(context.model);
  const { aM, dM } = rows[3]!;
  const arm: Arm = {
    ...context,
    zeroRad: Float64Array.from(rows, (row) => row.thetaRad),
    d1M: rows[0]!.dM,
    d6M: rows[5]!.dM,
    leanRad: Math.atan2(-dM, aM),
    plane: createTwoLink(rows[2]!.aM, Math.hypot(aM, dM)),
    wrist: createWrist(1, context.singularStepRad),
    atAxis: createBoundedTurn(NEAR_AXIS_M, context.singularStepRad),
    panRad: new Float64Array(1),
    wristM: new Float64Array(3),
    seedRad: new Float64Array(6),
  };
  return (seedRad) => {
    for (let j = 0; j < 6; j++) arm.seedRad[j] = seedRad[j]! + arm.zeroRad[j]!;
    arm.plane.seedRad[0] = arm.seedRad[1]!;
    arm.plane.seedRad[1] = arm.seedRad[2]! + arm.leanRad;
    const isExact = fillPan(arm);
    fillShoulder(arm, 0, isExact);
    fillShoulder(arm, 1, isExact);
  };
}

function fillPan({ placeM, matrix: k, d1M, d6M, panRad, wristM, seedRad, atAxis }: Arm): boolean {
  wristM[0] = placeM[0]! - d6M * k[2]!;
  wristM[1] = placeM[1]! - d6M * k[5]!;
  wristM[2] = placeM[2]! - d6M * k[8]! - d1M;
  const axisM = Math.sqrt(wristM[0] * wristM[0] + wristM[1] * wristM[1]);
  panRad[0] = Math.atan2(wristM[1], wristM[0]);
  if (axisM >= NEAR_AXIS_M) return true;
  atAxis.lever[0] = axisM;
  atAxis.apply(panRad, 0, seedRad, 0);
  return Math.abs(Math.cos(panRad[0]!) * wristM[1]! - Math.sin(panRad[0]!) * wristM[0]!) <= SINGULAR;
}

/** The four solutions that face the wrist, or that face away from it. */
function fillShoulder(arm: Arm, back: number, isExact: boolean): void {
  const { chooser, panRad, plane, wristM, zeroRad } = arm;
  const cosPan = Math.cos(panRad[0]!);
  const sinPan = Math.sin(panRad[0]!);
  plane.pointM[0] = (1 - 2 * back) * (cosPan * wristM[0]! + sinPan * wristM[1]!);
  plane.pointM[1] = -wristM[2]!;
  const reached = plane.solve() && isExact;
  const c = chooser.candidates;
  for (let elbow = 0; elbow < 2; elbow++) {
    const branch = 4 * back + 2 * elbow;
    for (let at = branch * 6; at <= branch * 6 + 6; at += 6) {
      c[at] = panRad[0]! + back * Math.PI - zeroRad[0]!;
      c[at + 1] = plane.anglesRad[2 * elbow]! - zeroRad[1]!;
      c[at + 2] = plane.anglesRad[2 * elbow + 1]! - arm.leanRad - zeroRad[2]!;
    }
    fillWrists(arm, branch, reached);
  }
}

/** Both wrists for the first three joints already in the candidates. */
function fillWrists(arm: Arm, branch: number, reached: boolean): void {
  const { chooser, matrix: k, wrist, zeroRad } = arm;
  const c = chooser.candidates;
  const at = branch * 6;
  const panRad = c[at]! + zeroRad[0]!;
  const armRad = c[at + 1]! + zeroRad[1]! + c[at + 2]! + zeroRad[2]!;
  const cosPan = Math.cos(panRad);
  const sinPan = Math.sin(panRad);
  const cos = Math.cos(armRad);
  const sin = Math.sin(armRad);
  const n = wrist.matrix;
  // The orientation seen from the forearm: Ry(−arm) Rz(−pan) k.
  for (let j = 0; j < 3; j++) {
    const flat = cosPan * k[j]! + sinPan * k[3 + j]!;
    n[j] = cos * flat - sin * k[6 + j]!;
    n[3 + j] = cosPan * k[3 + j]! - sinPan * k[j]!;
    n[6 + j] = sin * flat + cos * k[6 + j]!;
  }
  const aligned = wrist.solve(arm.seedRad, 3) && reached;
  const { anglesRad } = wrist;
  for (let flip = 0; flip < 2; flip++) {
    const from = at + 6 * flip;
    c[from + 3] = anglesRad[0]! + flip * Math.PI - zeroRad[3]!;
    c[from + 4] = (1 - 2 * flip) * anglesRad[1]! - zeroRad[4]!;
    c[from + 5] = anglesRad[2]! + flip * Math.PI - zeroRad[5]!;
    chooser.exact[branch + flip] = aligned ? 1 : 0;
  }
}
