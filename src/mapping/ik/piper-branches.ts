import type { Fill, FillContext } from './analytic.ts';
import { piperRows } from './geometry.ts';
import { createBoundedTurn, SINGULAR } from './singular.ts';
import { createTwoLink } from './two-link.ts';
import { createWrist } from './wrist.ts';

/** Wrist closer to the base axis than this counts as near the singularity of joint 1. */
const NEAR_AXIS_M = 0.03;

/**
 * Joint 1 turns the arm's plane to the point where the wrist's axes meet, joints 2 and 3 reach it in that plane, joints
 * 4 to 6 make the orientation. With the wrist straight, joint 4 stays and joint 6 takes the rest; with the wrist on the
 * base axis, joint 1 stays.
 */
export function createPiperBranches(context: FillContext): Fill {
  const { model, chooser, placeM, matrix: k, singularStepRad } = context;
  const rows = piperRows(model);
  const zeroRad = rows.map((row) => row.thetaRad);
  const d1M = rows[0]!.dM;
  const d6M = rows[5]!.dM;
  const plane = createTwoLink(rows[2]!.aM, Math.hypot(rows[3]!.aM, rows[3]!.dM));
  /** The straight line to the wrist, seen from the elbow's x axis. */
  const leanRad = Math.atan2(-rows[3]!.dM, rows[3]!.aM);
  const wrist = createWrist(1, singularStepRad);
  const wristM = new Float64Array(3);
  /** Joint 1 and the sum of joints 2 and 3, of the branch at hand; joints 1 and 4 of the seed, counted from the rows' zero. */
  const turned = new Float64Array(2);
  const pan = new Float64Array(1);
  const seed = new Float64Array(2);
  const atAxis = createBoundedTurn(NEAR_AXIS_M, singularStepRad);

  const fillPan = (): number => {
    wristM[0] = placeM[0]! - d6M * k[2]!;
    wristM[1] = placeM[1]! - d6M * k[5]!;
    wristM[2] = placeM[2]! - d6M * k[8]! - d1M;
    const axisM = Math.sqrt(wristM[0] * wristM[0] + wristM[1] * wristM[1]);
    pan[0] = Math.atan2(wristM[1], wristM[0]);
    if (axisM < NEAR_AXIS_M) {
      atAxis.lever[0] = axisM;
      atAxis.apply(pan, 0, seed, 0);
    }
    return Math.abs(Math.cos(pan[0]) * wristM[1] - Math.sin(pan[0]) * wristM[0]) <= SINGULAR ? 1 : 0;
  };
  const fillWrists = (branch: number, reached: number): void => {
    const c = chooser.candidates;
    const at = branch * 6;
    const isExact = wrist.solve(seed, 1) ? reached : 0;
    for (let j = 0; j < 3; j++) c[at + 6 + j] = c[at + j]!;
    for (let j = 0; j < 3; j++) c[at + 3 + j] = wrist.anglesRad[j]! - zeroRad[3 + j]!;
    c[at + 9] = wrist.anglesRad[0]! + Math.PI - zeroRad[3]!;
    c[at + 10] = -wrist.anglesRad[1]! - zeroRad[4]!;
    c[at + 11] = wrist.anglesRad[2]! + Math.PI - zeroRad[5]!;
    chooser.exact[branch] = chooser.exact[branch + 1] = isExact;
  };
  /** The orientation seen from the forearm: matrix ← Ry(−arm) Rz(−pan) k. */
  const toForearm = (): void => {
    const cosPan = Math.cos(turned[0]!);
    const sinPan = Math.sin(turned[0]!);
    const cos = Math.cos(turned[1]!);
    const sin = Math.sin(turned[1]!);
    const n = wrist.matrix;
    for (let j = 0; j < 3; j++) {
      const flat = cosPan * k[j]! + sinPan * k[3 + j]!;
      n[j] = cos * flat - sin * k[6 + j]!;
      n[3 + j] = cosPan * k[3 + j]! - sinPan * k[j]!;
      n[6 + j] = sin * flat + cos * k[6 + j]!;
    }
  };
  return (seedRad) => {
    seed[0] = seedRad[0]! + zeroRad[0]!;
    seed[1] = seedRad[3]! + zeroRad[3]!;
    plane.seedRad[0] = seedRad[1]! + zeroRad[1]!;
    plane.seedRad[1] = seedRad[2]! + zeroRad[2]! + leanRad;
    const panExact = fillPan();
    const c = chooser.candidates;
    const outM = Math.cos(pan[0]!) * wristM[0]! + Math.sin(pan[0]!) * wristM[1]!;
    for (let back = 0; back < 2; back++) {
      const panRad = pan[0]! + back * Math.PI;
      plane.pointM[0] = (1 - 2 * back) * outM;
      plane.pointM[1] = -wristM[2]!;
      const reached = plane.solve();
      for (let elbow = 0; elbow < 2; elbow++) {
        const branch = 4 * back + 2 * elbow;
        const shoulderRad = plane.anglesRad[2 * elbow]!;
        const elbowRad = plane.anglesRad[2 * elbow + 1]! - leanRad;
        c[branch * 6] = panRad - zeroRad[0]!;
        c[branch * 6 + 1] = shoulderRad - zeroRad[1]!;
        c[branch * 6 + 2] = elbowRad - zeroRad[2]!;
        turned[0] = panRad;
        turned[1] = shoulderRad + elbowRad;
        toForearm();
        fillWrists(branch, reached ? panExact : 0);
      }
    }
  };
}
