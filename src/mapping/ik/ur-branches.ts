import { wrapRad } from '../../core/frames.ts';
import type { Fill, FillContext } from './analytic.ts';
import { urRows } from './geometry.ts';
import { createTwoLink } from './two-link.ts';
import { createWrist } from './wrist.ts';

/** Rounding in the distance of wrist 2 from the base axis. */
const SLACK_M = 1e-9;

/**
 * Joint 1 turns the arm's plane so that wrist 2 lies d4 beside it; the orientation then gives joints 5 and 6 and the
 * sum of joints 2 to 4, and what is left is a shoulder and an elbow in that plane. With joint 5 straight, the sum stays
 * as it is and joint 6 takes the rest. Inside the cylinder of radius d4 about the base axis, joint 1 points as near as
 * it can.
 */
export function createUrBranches(context: FillContext): Fill {
  const { model, chooser, placeM, matrix: k, singularStepRad } = context;
  const dh = urRows(model);
  const [d1M, d4M, d5M, d6M] = [0, 3, 4, 5].map((i) => dh[i]!.dM) as [number, number, number, number];
  const plane = createTwoLink(dh[1]!.aM, dh[2]!.aM);
  const wrist = createWrist(-1, singularStepRad);
  const sum = new Float64Array(1);
  /** Both angles of joint 1, and the point of wrist 2 from the shoulder. */
  const panRad = new Float64Array(2);
  const wristM = new Float64Array(3);

  const fillPan = (seedRad: Float64Array): number => {
    wristM[0] = placeM[0]! - d6M * k[2]!;
    wristM[1] = placeM[1]! - d6M * k[5]!;
    wristM[2] = placeM[2]! - d6M * k[8]! - d1M;
    const axisM = Math.sqrt(wristM[0] * wristM[0] + wristM[1] * wristM[1]);
    const beside = Math.atan2(wristM[1], wristM[0]) + Math.PI / 2;
    if (axisM <= Math.abs(d4M)) {
      const turn = wrapRad(beside + (d4M < 0 ? Math.PI : 0) - seedRad[0]!);
      const held = axisM === 0 ? 0 : Math.min(Math.abs(turn), singularStepRad) * Math.sign(turn);
      panRad[0] = panRad[1] = seedRad[0]! + held;
      return axisM >= Math.abs(d4M) - SLACK_M ? 1 : 0;
    }
    const off = Math.acos(d4M / axisM);
    panRad[0] = beside - off;
    panRad[1] = beside + off;
    return 1;
  };
  const toPlane = (shoulder: number): void => {
    const cos = Math.cos(panRad[shoulder]!);
    const sin = Math.sin(panRad[shoulder]!);
    const n = wrist.matrix;
    for (let j = 0; j < 3; j++) {
      n[j] = cos * k[j]! + sin * k[3 + j]!;
      n[3 + j] = k[6 + j]!;
      n[6 + j] = sin * k[j]! - cos * k[3 + j]!;
    }
    plane.pointM[0] = cos * wristM[0]! + sin * wristM[1]!;
    plane.pointM[1] = wristM[2]!;
  };
  const fillElbows = (branch: number, side: number, isExact: number): void => {
    const c = chooser.candidates;
    const turnedRad = wrist.anglesRad[0]! + side * Math.PI;
    const reached = plane.solve() ? isExact : 0;
    for (let elbow = 0; elbow < 2; elbow++) {
      const at = (branch + elbow) * 6;
      c[at + 1] = plane.anglesRad[2 * elbow]!;
      c[at + 2] = plane.anglesRad[2 * elbow + 1]!;
      c[at + 3] = turnedRad - c[at + 1]! - c[at + 2]!;
      c[at + 4] = (1 - 2 * side) * wrist.anglesRad[1]!;
      c[at + 5] = wrist.anglesRad[2]! + side * Math.PI;
      chooser.exact[branch + elbow] = reached;
    }
  };
  return (seedRad) => {
    const panExact = fillPan(seedRad);
    plane.seedRad[0] = seedRad[1]!;
    plane.seedRad[1] = seedRad[2]!;
    sum[0] = seedRad[1]! + seedRad[2]! + seedRad[3]!;
    for (let shoulder = 0; shoulder < 2; shoulder++) {
      const branch = 4 * shoulder;
      for (let i = 0; i < 4; i++) chooser.candidates[(branch + i) * 6] = panRad[shoulder]!;
      toPlane(shoulder);
      const isExact = wrist.solve(sum, 0) ? panExact : 0;
      const outM = plane.pointM[0]!;
      const upM = plane.pointM[1]!;
      const backM = d5M * Math.sin(wrist.anglesRad[0]!);
      const riseM = d5M * Math.cos(wrist.anglesRad[0]!);
      plane.pointM[0] = outM - backM;
      plane.pointM[1] = upM + riseM;
      fillElbows(branch, 0, isExact);
      plane.pointM[0] = outM + backM;
      plane.pointM[1] = upM - riseM;
      fillElbows(branch + 2, 1, isExact);
    }
  };
}
