import { LIMITED_BY, type LimitedBy, SUPERVISOR_STATES, type SupervisorState } from './robot-state.ts';

/** One published command with what was known in the same instant, as the control thread hands it to the recorder. */
export interface RingRow {
  seq: number;
  /** When the command's hand was sampled, operator clock. */
  sampledNs: number;
  engaged: boolean;
  commandGripper: number;
  stateGripper: number;
  supervisor: SupervisorState;
  limitedBy: LimitedBy;
  /** Of the newest closed command; NaN before the first. */
  oneWayNs: number;
  uncertaintyNs: number;
  playoutDelayNs: number;
  /** Robot − operator, for the frames' stamps; NaN before the first. */
  offsetNs: number;
  offsetUncertaintyNs: number;
  commandRad: Float64Array;
  stateRad: Float64Array;
}

const SCALARS = 12;

/** Numbers of a row in a ring. */
export const ringRowFields = (joints: number): number => SCALARS + 2 * joints;

export const emptyRingRow = (joints: number): RingRow => ({
  seq: 0,
  sampledNs: 0,
  engaged: false,
  commandGripper: 0,
  stateGripper: 0,
  supervisor: 'disconnected',
  limitedBy: '',
  oneWayNs: Number.NaN,
  uncertaintyNs: Number.NaN,
  playoutDelayNs: Number.NaN,
  offsetNs: Number.NaN,
  offsetUncertaintyNs: Number.NaN,
  commandRad: new Float64Array(joints),
  stateRad: new Float64Array(joints),
});

/** Hot path. */
export function packRingRow(row: RingRow, out: Float64Array): void {
  out[0] = row.seq;
  out[1] = row.sampledNs;
  out[2] = row.engaged ? 1 : 0;
  out[3] = row.commandGripper;
  out[4] = row.stateGripper;
  out[5] = SUPERVISOR_STATES.indexOf(row.supervisor);
  out[6] = LIMITED_BY.indexOf(row.limitedBy);
  out[7] = row.oneWayNs;
  out[8] = row.uncertaintyNs;
  out[9] = row.playoutDelayNs;
  out[10] = row.offsetNs;
  out[11] = row.offsetUncertaintyNs;
  out.set(row.commandRad, SCALARS);
  out.set(row.stateRad, SCALARS + row.commandRad.length);
}

export function unpackRingRow(packed: Float64Array, out: RingRow): void {
  const joints = out.commandRad.length;
  out.seq = packed[0]!;
  out.sampledNs = packed[1]!;
  out.engaged = packed[2] === 1;
  out.commandGripper = packed[3]!;
  out.stateGripper = packed[4]!;
  out.supervisor = SUPERVISOR_STATES[packed[5]!] ?? 'disconnected';
  out.limitedBy = LIMITED_BY[packed[6]!] ?? '';
  out.oneWayNs = packed[7]!;
  out.uncertaintyNs = packed[8]!;
  out.playoutDelayNs = packed[9]!;
  out.offsetNs = packed[10]!;
  out.offsetUncertaintyNs = packed[11]!;
  for (let i = 0; i < joints; i++) {
    out.commandRad[i] = packed[SCALARS + i]!;
    out.stateRad[i] = packed[SCALARS + joints + i]!;
  }
}
