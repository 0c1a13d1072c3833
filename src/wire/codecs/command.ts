import type { Reason } from '../../core/counters.ts';
import type { JointCommand } from '../../messages/command.ts';
import { ANGLE_PLACES, anglesFromJson, countOf, frameBody, numberOf, stampFromJson } from './frame.ts';
import { JsonReader } from './json-reader.ts';
import { JsonWriter, keyBytes } from './json-writer.ts';

/** Most earlier commands a packet may repeat and still fit one Ethernet frame, sealed. */
export const MAX_REDUNDANCY = 8;

/** The same for a robot with many joints: a repeated command takes about 45 bytes and 12 for each joint. */
export function mostRepeated(joints: number): number {
  const roomBytes = 1440 - 220 - 12 * joints;
  return Math.max(0, Math.min(MAX_REDUNDANCY, Math.floor(roomBytes / (45 + 12 * joints))));
}

const NONE: readonly JointCommand[] = [];

/**
 * Operator → robot, command socket. `earlier`, its first `count`, repeats preceding commands, oldest first: only tracked ones of
 * the same epoch, engagement and clock relation, because their remaining fields are taken from this one.
 */
export function encodeCommand(
  command: JointCommand,
  out: Uint8Array,
  earlier: readonly JointCommand[] = NONE,
  count = earlier.length,
): number {
  const { numbers } = writer;
  numbers[0] = command.session;
  numbers[1] = command.seq;
  numbers[2] = command.epoch;
  numbers[3] = command.engagement;
  numbers[4] = command.sampledOperatorNs;
  numbers[5] = command.sampledRobotNs;
  numbers[6] = command.syncEpoch;
  numbers[7] = command.ageNs;
  numbers[8] = command.gripper;
  writer.begin('command', out);
  for (let i = 0; i < 4; i++) field(i);
  writer.key(TRACKING);
  writer.flag(command.tracking);
  for (let i = 4; i < 8; i++) field(i);
  writer.key(Q);
  writer.list(command.positionsRad, ANGLE_PLACES);
  writer.key(GRIPPER);
  writer.number(8, GRIPPER_PLACES);
  writer.key(LAST);
  writer.openList();
  for (let i = 0; i < count; i++) {
    if (i > 0) writer.comma();
    writeRepeated(earlier[i]!);
  }
  writer.closeList();
  return writer.end();
}

const writer = new JsonWriter();
const FIELDS = [
  ...['session', 'seq', 'epoch', 'engagement'],
  ...['state_ns', 'send_robot_ns', 'sync', 'age_ns'],
].map(keyBytes);
const [TRACKING, Q, GRIPPER, LAST] = ['tracking', 'q', 'gripper', 'last'].map(keyBytes) as [
  ...[Uint8Array, Uint8Array],
  ...[Uint8Array, Uint8Array],
];
const GRIPPER_PLACES = 4;

function field(i: number): void {
  writer.key(FIELDS[i]!);
  writer.number(i, 0);
}

/** [seq, send_robot_ns, gripper, q…, age_ns] */
function writeRepeated(command: JointCommand): void {
  const { numbers } = writer;
  numbers[9] = command.seq;
  numbers[10] = command.sampledRobotNs;
  numbers[11] = command.gripper;
  numbers[12] = command.ageNs;
  writer.openList();
  writer.number(9, 0);
  writer.comma();
  writer.number(10, 0);
  writer.comma();
  writer.number(11, GRIPPER_PLACES);
  writer.comma();
  writer.elements(command.positionsRad, ANGLE_PLACES);
  writer.comma();
  writer.number(12, 0);
  writer.closeList();
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
  if (readCommand(bytes, length, out, earlier)) return null;
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

const reader = new JsonReader();

/** True if it stands as our own encoder writes it; else its JSON decides. */
function readCommand(
  bytes: Uint8Array,
  length: number,
  out: JointCommand,
  earlier: EarlierCommands | null,
): boolean {
  const { numbers } = reader;
  reader.begin(bytes, length);
  for (let i = 0; i < 4; i++) countField(i);
  reader.key(TRACKING);
  out.tracking = reader.flag();
  reader.key(FIELDS[4]!);
  reader.number(4);
  reader.key(FIELDS[5]!);
  reader.stamp(5);
  countField(6);
  countField(7);
  reader.key(Q);
  reader.list(out.positionsRad);
  reader.key(GRIPPER);
  reader.number(8);
  out.session = numbers[0]!;
  out.seq = numbers[1]!;
  out.epoch = numbers[2]!;
  out.engagement = numbers[3]!;
  out.sampledOperatorNs = numbers[4]!;
  out.sampledRobotNs = numbers[5]!;
  out.syncEpoch = numbers[6]!;
  out.ageNs = numbers[7]!;
  out.gripper = numbers[8]!;
  reader.key(LAST);
  return (
    reader.isOk &&
    (earlier === null ? readNone() : readEarlier(out, earlier)) &&
    reader.end() &&
    out.ageNs <= MAX_AGE_NS &&
    out.gripper >= 0 &&
    out.gripper <= 1
  );
}

function countField(i: number): void {
  reader.key(FIELDS[i]!);
  reader.count(i);
}

function readNone(): boolean {
  reader.openList();
  return reader.endsList();
}

function readEarlier(newest: JointCommand, earlier: EarlierCommands): boolean {
  earlier.count = 0;
  reader.openList();
  if (reader.endsList()) return true;
  let previousSeq = 0;
  for (; reader.isOk && earlier.count < MAX_REDUNDANCY; earlier.count++) {
    const command = earlier.commands[earlier.count]!;
    if (!readRepeated(newest, command) || command.seq <= previousSeq) return false;
    previousSeq = command.seq;
    if (!reader.endsList()) reader.comma();
    else {
      earlier.count++;
      return true;
    }
  }
  return false;
}

function readRepeated(newest: JointCommand, command: JointCommand): boolean {
  const { numbers } = reader;
  copyCommand(newest, command);
  reader.openList();
  reader.count(9);
  reader.comma();
  reader.stamp(10);
  reader.comma();
  reader.number(11);
  reader.comma();
  reader.elements(command.positionsRad);
  reader.comma();
  reader.count(12);
  reader.closeList();
  command.seq = numbers[9]!;
  command.sampledRobotNs = numbers[10]!;
  command.gripper = numbers[11]!;
  command.ageNs = numbers[12]!;
  moveSampled(newest, command);
  return (
    reader.isOk &&
    command.seq < newest.seq &&
    command.gripper >= 0 &&
    command.gripper <= 1 &&
    command.ageNs <= MAX_AGE_NS
  );
}

/** A row has its tick on the robot's clock; on the operator's it was as much earlier. */
function moveSampled(newest: JointCommand, command: JointCommand): void {
  const earlierNs = newest.sampledRobotNs - command.sampledRobotNs;
  if (Number.isFinite(earlierNs)) command.sampledOperatorNs = newest.sampledOperatorNs - earlierNs;
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
    moveSampled(newest, command);
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
