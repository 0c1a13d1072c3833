import { placementMatrix } from './chain.ts';
import type { RobotModel } from './robot-model.ts';

/** Where something stands in another frame. */
export type Placement = RobotModel['tool'];

/** `other` as seen from `own`; both are given in one common frame. */
export function placedRelative(own: Placement, other: Placement): Placement {
  const [a, b] = [placementMatrix(own), placementMatrix(other)];
  const delta = [3, 7, 11].map((i) => b[i]! - a[i]!);
  /** Column `i` of the inverse rotation of `own`, with column `j` of `other`. */
  const entry = (i: number, j: number) => a[i]! * b[j]! + a[4 + i]! * b[4 + j]! + a[8 + i]! * b[8 + j]!;
  const xyzM = [0, 1, 2].map((i) => a[i]! * delta[0]! + a[4 + i]! * delta[1]! + a[8 + i]! * delta[2]!);
  const level = Math.hypot(entry(0, 0), entry(1, 0));
  const pitch = Math.atan2(-entry(2, 0), level);
  const isUpright = level > 1e-9;
  const roll = isUpright ? Math.atan2(entry(2, 1), entry(2, 2)) : 0;
  const yaw = isUpright ? Math.atan2(entry(1, 0), entry(0, 0)) : Math.atan2(-entry(0, 1), entry(1, 1));
  return { xyzM: xyzM as Placement['xyzM'], rpyRad: [roll, pitch, yaw] };
}
