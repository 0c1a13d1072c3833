import { wrapRad } from '../../geometry/frames.ts';
import type { BranchChooser, Fill, FillContext } from './branch.ts';
import { urRows } from './geometry.ts';
import { createTwoLink, type TwoLink } from './two-link.ts';
import { createWrist, type Wrist } from './wrist.ts';

/** Rounding tolerance in the distance of wrist 2 from the base axis. */
const SLACK_M = 1e-9;

interface Arm extends FillContext {
  d1M: number;
  d4M: number;
  d5M: number;
  d6M: number;
  plane: TwoLink;
  wrist: Wrist;
  /** Scratch: both angles of joint 1, wrist 2 seen from the shoulder, the sum of joints 2 to 4 of the seed. */
  panRad: Float64Array;
  wristM: Float64Array;
  sumRad: Float64Array;
}

/**
 * Joint 1 turns the arm's plane so that wrist 2 lies d4 beside it. The orientation then gives joints 5 and 6
 * and the sum of joints 2 to 4; what remains is a shoulder and an elbow in that plane. With joint 5 straight,
 * the sum stays as it is and joint 6 takes the rest. Inside the cylinder of radius d4 about the base axis,
 * joint 1 points as close as it can.
 */
export function createUrBranches(context: FillContext): Fill {
  const dh = urRows(context.model);
  const arm: Arm = {
    ...context,
    d1M: dh[0]!.dM,
    d4M: dh[3]!.dM,
    d5M: dh[4]!.dM,
    d6M: dh[5]!.dM,
    plane: createTwoLink(dh[1]!.aM, dh[2]!.aM),
    wrist: createWrist(-1, context.singularStepRad),
    panRad: new Float64Array(2),
    wristM: new Float64Array(3),
    sumRad: new Float64Array(1),
  };
  return (seedRad) => {
    arm.plane.seedRad[0] = seedRad[1]!;
    arm.plane.seedRad[1] = seedRad[2]!;
    arm.sumRad[0] = seedRad[1]! + seedRad[2]! + seedRad[3]!;
    const isExact = fillPan(arm, seedRad);
    fillShoulder(arm, 0, isExact);
    fillShoulder(arm, 1, isExact);
  };
}

function fillPan(arm: Arm, seedRad: Float64Array): boolean {
  const { panRad, wristM, placeM, matrix: k, d1M, d4M, d6M } = arm;
  wristM[0] = placeM[0]! - d6M * k[2]!;
  wristM[1] = placeM[1]! - d6M * k[5]!;
  wristM[2] = placeM[2]! - d6M * k[8]! - d1M;
  const axisM = Math.sqrt(wristM[0] * wristM[0] + wristM[1] * wristM[1]);
  const beside = Math.atan2(wristM[1], wristM[0]) + Math.PI / 2;
  if (axisM <= Math.abs(d4M)) {
    const turn = wrapRad(beside + (d4M < 0 ? Math.PI : 0) - seedRad[0]!);
    const bounded = Math.min(Math.abs(turn), arm.singularStepRad) * Math.sign(turn);
    panRad[0] = panRad[1] = seedRad[0]! + (axisM === 0 ? 0 : bounded);
    return axisM >= Math.abs(d4M) - SLACK_M;
  }
  const off = Math.acos(d4M / axisM);
  panRad[0] = beside - off;
  panRad[1] = beside + off;
  return true;
}

/** The four solutions with one of the two angles of joint 1. */
function fillShoulder(arm: Arm, shoulder: number, isExact: boolean): void {
  const { chooser, panRad, plane, wrist, wristM, d5M } = arm;
  const cos = Math.cos(panRad[shoulder]!);
  const sin = Math.sin(panRad[shoulder]!);
  for (let i = 0; i < 4; i++) chooser.candidates[(4 * shoulder + i) * 6] = panRad[shoulder]!;
  const k = arm.matrix;
  const n = wrist.matrix;
  for (let j = 0; j < 3; j++) {
    n[j] = cos * k[j]! + sin * k[3 + j]!;
    n[3 + j] = k[6 + j]!;
    n[6 + j] = sin * k[j]! - cos * k[3 + j]!;
  }
  const aligned = wrist.solve(arm.sumRad, 0) && isExact;
  const outM = cos * wristM[0]! + sin * wristM[1]!;
  const backM = d5M * Math.sin(wrist.anglesRad[0]!);
  const riseM = d5M * Math.cos(wrist.anglesRad[0]!);
  for (let flip = 0; flip < 2; flip++) {
    plane.pointM[0] = outM - (1 - 2 * flip) * backM;
    plane.pointM[1] = wristM[2]! + (1 - 2 * flip) * riseM;
    const reached = plane.solve() && aligned;
    fillElbows(chooser, plane, wrist, 4 * shoulder + 2 * flip, flip, reached);
  }
}

/** `flip`: use the wrist's other solution. */
function fillElbows(
  { candidates: c, exact }: BranchChooser,
  { anglesRad: bendRad }: TwoLink,
  { anglesRad }: Wrist,
  branch: number,
  flip: number,
  isExact: boolean,
): void {
  for (let elbow = 0; elbow < 2; elbow++) {
    const at = (branch + elbow) * 6;
    c[at + 1] = bendRad[2 * elbow]!;
    c[at + 2] = bendRad[2 * elbow + 1]!;
    c[at + 3] = anglesRad[0]! + flip * Math.PI - c[at + 1]! - c[at + 2]!;
    c[at + 4] = (1 - 2 * flip) * anglesRad[1]!;
    c[at + 5] = anglesRad[2]! + flip * Math.PI;
    exact[branch + elbow] = isExact ? 1 : 0;
  }
}
