import { flag, number, oneOf, perJoint, type StructOf, struct } from '../core/memory/struct-layout.ts';
import { ROW_SOURCES } from './recording.ts';
import { LIMITED_BY, SUPERVISOR_STATES } from './robot-state.ts';

/** One published command with what was known at that instant; passed from control thread to recorder. */
export const RING_ROW = struct({
  seq: number,
  /** When the command's hand was sampled, operator clock. */
  sampledNs: number,
  engaged: flag,
  source: oneOf(ROW_SOURCES, 'none'),
  intervention: flag,
  /** From a policy that runs along; NaN: none does. */
  disagreementRad: number,
  commandGripper: number,
  stateGripper: number,
  /** Force of the gripper; NaN: unknown. */
  gripperN: number,
  supervisor: oneOf(SUPERVISOR_STATES, 'disconnected'),
  limitedBy: oneOf(LIMITED_BY, ''),
  /** Of the newest closed command; NaN before the first. */
  oneWayNs: number,
  uncertaintyNs: number,
  playoutDelayNs: number,
  /** Robot − operator, for the frames' stamps; NaN before the first. */
  offsetNs: number,
  offsetUncertaintyNs: number,
  commandRad: perJoint,
  stateRad: perJoint,
  /** Measured speed and torque of each joint; NaN: unknown. */
  stateRadS: perJoint,
  effortNm: perJoint,
  /** Torque on each joint from outside; NaN: unknown. */
  externalNm: perJoint,
});
export type PackedRow = StructOf<typeof RING_ROW>;
export type RingRow = Omit<PackedRow, 'packed'>;

export function emptyRow(joints: number): PackedRow {
  const row = RING_ROW.create(joints);
  row.supervisor = 'disconnected';
  row.limitedBy = '';
  row.source = 'none';
  row.disagreementRad = Number.NaN;
  row.oneWayNs = Number.NaN;
  row.uncertaintyNs = Number.NaN;
  row.playoutDelayNs = Number.NaN;
  row.offsetNs = Number.NaN;
  row.offsetUncertaintyNs = Number.NaN;
  return row;
}
