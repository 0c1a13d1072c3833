import type { Reason } from '../../core/counters.ts';
import type { JointCommand } from '../../messages/command.ts';
import {
  anglesFromJson,
  anglesToJson,
  countOf,
  frameBody,
  numberOf,
  stampFromJson,
  stampToJson,
  writeFrame,
} from './frame.ts';

/** Most earlier commands a packet may repeat and still fit one Ethernet frame, sealed. */
export const MAX_REDUNDANCY = 8;

/** The same for a robot with many joints: a repeated command takes about 45 bytes and 12 for each joint. */
export function mostRepeated(joints: number): number {
  const roomBytes = 1440 - 220 - 12 * joints;
  return Math.max(0, Math.min(MAX_REDUNDANCY, Math.floor(roomBytes / (45 + 12 * joints))));
}

/**
 * Operator → robot, command socket. `earlier` repeats preceding commands, oldest first: only tracked ones of
 * the same epoch, engagement and clock relation, because their remaining fields are taken from this one.
 */
export function encodeCommand(
  command: JointCommand,
  out: Uint8Array,
  earlier: readonly JointCommand[] = [],
): number {
  const body = {
    session: command.session,
    seq: command.seq,
    epoch: command.epoch,
    engagement: command.engagement,
    tracking: command.tracking,
    state_ns: stampToJson(command.sampledOperatorNs),
    send_robot_ns: stampToJson(command.sampledRobotNs),
    sync: command.syncEpoch,
    age_ns: Math.round(command.ageNs),
    q: anglesToJson(command.positionsRad),
    gripper: Math.round(command.gripper * 1e4) / 1e4,
    last: earlier.map(repeated),
  };
  return writeFrame('command', body, out);
}

/** [seq, send_robot_ns, gripper, q…, age_ns] */
function repeated(command: JointCommand): (number | null)[] {
  const gripper = Math.round(command.gripper * 1e4) / 1e4;
  const angles = anglesToJson(command.positionsRad);
  return [command.seq, stampToJson(command.sampledRobotNs), gripper, ...angles, Math.round(command.ageNs)];
}

/** Earlier commands found in a packet; the array is reused and only the first `count` are valid. */
export interface EarlierCommands {
  count: number;
  readonly commands: readonly JointCommand[];
}

export const emptyEarlier = (joints: number): EarlierCommands => ({
  count: 0,
  commands: Array.from({ length: MAX_REDUNDANCY }, () => emptyCommand(joints)),
});

/**
 * Fills `out` (whose `positionsRad` sets the joint count) and `earlier`, or returns a reason; on a reason
 * both are unspecified.
 */
export function decodeCommand(
  bytes: Uint8Array,
  length: number,
  out: JointCommand,
  earlier: EarlierCommands | null = null,
): Reason | null {
  const body = frameBody(bytes, length);
  if (body === null) return 'bad-json';
  out.session = countOf(body['session']);
  out.seq = countOf(body['seq']);
  out.epoch = countOf(body['epoch']);
  out.engagement = countOf(body['engagement']);
  out.sampledOperatorNs = numberOf(body['state_ns']);
  out.sampledRobotNs = stampFromJson(body['send_robot_ns']);
  out.syncEpoch = countOf(body['sync']);
  out.gripper = numberOf(body['gripper']);
  out.ageNs = ageOf(body['age_ns']);
  // One sum is NaN when any term is.
  if (
    Number.isNaN(
      out.session + out.seq + out.epoch + out.engagement + out.syncEpoch + out.sampledOperatorNs + out.ageNs,
    )
  )
    return 'malformed';
  if (typeof body['tracking'] !== 'boolean' || !Array.isArray(body['last'])) return 'malformed';
  // Only null means "not known": a missing or non-numeric stamp must not disable the age checks.
  if (body['send_robot_ns'] !== null && Number.isNaN(out.sampledRobotNs)) return 'malformed';
  out.tracking = body['tracking'];
  const angles = anglesFromJson(body['q'], out.positionsRad);
  if (angles !== null) return angles;
  if (Number.isNaN(out.gripper)) return 'non-finite';
  if (out.gripper < 0 || out.gripper > 1) return 'bad-range';
  return earlier === null ? null : decodeEarlier(body['last'], out, earlier);
}

function decodeEarlier(last: unknown[], newest: JointCommand, earlier: EarlierCommands): Reason | null {
  earlier.count = 0;
  if (last.length > MAX_REDUNDANCY) return 'malformed';
  let previousSeq = 0;
  for (const row of last) {
    const command = earlier.commands[earlier.count]!;
    if (!Array.isArray(row) || !isRow(row, newest.positionsRad.length)) return 'malformed';
    const [seq, stamp, gripper] = row as unknown[];
    copyCommand(newest, command);
    command.seq = countOf(seq);
    command.sampledRobotNs = stampFromJson(stamp);
    // The row has its tick on the robot's clock; on the operator's it was as much earlier.
    const earlierNs = newest.sampledRobotNs - command.sampledRobotNs;
    if (Number.isFinite(earlierNs)) command.sampledOperatorNs = newest.sampledOperatorNs - earlierNs;
    command.gripper = numberOf(gripper);
    if (!(command.seq > previousSeq && command.seq < newest.seq)) return 'malformed';
    if (stamp !== null && Number.isNaN(command.sampledRobotNs)) return 'malformed';
    if (!(command.gripper >= 0 && command.gripper <= 1)) return 'bad-range';
    command.ageNs = ageOf(row[3 + newest.positionsRad.length]);
    if (Number.isNaN(command.ageNs)) return 'malformed';
    const angles = anglesFromJson(row.slice(3, 3 + newest.positionsRad.length), command.positionsRad);
    if (angles !== null) return angles;
    previousSeq = command.seq;
    earlier.count++;
  }
  return null;
}

/** Older senders leave out the age. */
const isRow = (row: unknown[], joints: number): boolean =>
  row.length === 3 + joints || row.length === 4 + joints;

/** A hand is never older than this when it is followed. */
const MAX_AGE_NS = 1e9;

/** Missing: 0. NaN if it is not an age. */
function ageOf(value: unknown): number {
  if (value === undefined) return 0;
  const ageNs = numberOf(value);
  return ageNs >= 0 && ageNs <= MAX_AGE_NS ? ageNs : Number.NaN;
}

export function emptyCommand(joints: number): JointCommand {
  return {
    session: 0,
    seq: 0,
    engagement: 0,
    epoch: 0,
    tracking: false,
    sampledOperatorNs: 0,
    sampledRobotNs: Number.NaN,
    syncEpoch: 0,
    ageNs: 0,
    positionsRad: new Float64Array(joints),
    gripper: 0,
  };
}

export function copyCommand(from: JointCommand, to: JointCommand): void {
  to.session = from.session;
  to.seq = from.seq;
  to.engagement = from.engagement;
  to.epoch = from.epoch;
  to.tracking = from.tracking;
  to.sampledOperatorNs = from.sampledOperatorNs;
  to.sampledRobotNs = from.sampledRobotNs;
  to.syncEpoch = from.syncEpoch;
  to.ageNs = from.ageNs;
  to.positionsRad.set(from.positionsRad);
  to.gripper = from.gripper;
}
