import { TeleopError } from '../../core/errors.ts';
import type { JointModel, RobotModel } from '../../geometry/robot-model.ts';

export type DhRow = NonNullable<JointModel['dh']>;

const QUARTER = Math.PI / 2;
const UR_TWISTS = [QUARTER, 0, 0, QUARTER, -QUARTER, 0];
const PIPER_TWISTS = [0, -QUARTER, 0, QUARTER, -QUARTER, QUARTER];

/** The standard DH rows of an arm with the geometry of the UR family. */
export function urRows(model: RobotModel): DhRow[] {
  const dh = model.joints.flatMap((joint) => joint.dh ?? []);
  const fits =
    hasTwists(dh, UR_TWISTS) &&
    dh.every((row) => row.thetaRad === 0) &&
    dh[0]!.aM === 0 &&
    dh[1]!.dM + dh[2]!.dM === 0 &&
    dh[1]!.aM * dh[2]!.aM !== 0;
  if (fits) return dh;
  throw new TeleopError('bad-model', `${model.name} does not have the geometry of family "ur"`, {
    hint: 'Use six joints with twists π/2, 0, 0, π/2, −π/2, 0, no offset in link 1 and none along joints 2 and 3.',
  });
}

/** The modified DH rows of an arm with a shoulder on the base axis and a wrist whose three axes meet. */
export function piperRows(model: RobotModel): DhRow[] {
  const dh = model.joints.flatMap((joint) => joint.modifiedDh ?? []);
  const fits =
    hasTwists(dh, PIPER_TWISTS) &&
    [0, 1, 4, 5].every((i) => dh[i]!.aM === 0) &&
    [1, 2, 4].every((i) => dh[i]!.dM === 0) &&
    dh[2]!.aM * Math.hypot(dh[3]!.aM, dh[3]!.dM) !== 0;
  if (fits) return dh;
  throw new TeleopError('bad-model', `${model.name} does not have the geometry of family "piper"`, {
    hint: 'Use six modified DH rows with twists 0, −π/2, 0, π/2, −π/2, π/2, lengths in rows 3 and 4 only, offsets in rows 1, 4 and 6 only.',
  });
}

const hasTwists = (rows: readonly DhRow[], twists: readonly number[]): boolean =>
  rows.length === twists.length && rows.every((row, i) => Math.abs(row.alphaRad - twists[i]!) < 1e-9);
