import type { Reason } from '../../core/counters.ts';
import {
  emptyMotorHealth,
  knowsMotors,
  MOTOR_FIELDS,
  MOTOR_LEVELS,
  type MotorHealth,
} from '../../messages/motor-health.ts';
import {
  LIMITED_BY,
  type LimitedBy,
  type RobotState,
  STATE_REASONS,
  type StateReason,
  SUPERVISOR_STATES,
  type SupervisorState,
} from '../../messages/robot-state.ts';
import { MAX_REDUNDANCY } from './command.ts';
import { ANGLE_PLACES, anglesFromJson, countOf, frameBody, numberOf } from './frame.ts';
import { choiceBytes, JsonReader, TextCache } from './json-reader.ts';
import { JsonWriter, keyBytes, TextBytes } from './json-writer.ts';

const KNOWN = new Set<string>(SUPERVISOR_STATES);
const KNOWN_REASONS = new Set<unknown>(STATE_REASONS);
const KNOWN_LIMITS = new Set<string>(LIMITED_BY);
const MAX_CAUSE_CHARS = 120;
const MAX_NEAREST_CHARS = 60;
const MAX_PLAYOUT_CHARS = 40;

/** Decimals of the numbers on the wire: °C, mA, 0.1 V. */
const MOTOR_PLACES = { temperatureC: 0, currentA: 3, voltageV: 1, level: 0 } as const;
/** No motor reports more than this, whatever the unit. */
const MOST_MOTOR_VALUE = 1000;

/** Four lists, in the order of MOTOR_FIELDS; absent: `out` keeps what earlier messages reported. */
function motorsFromJson(body: unknown, out: MotorHealth): Reason | null {
  if (body === undefined) return null;
  if (!Array.isArray(body) || body.length !== MOTOR_FIELDS.length) return 'malformed';
  for (const [i, field] of MOTOR_FIELDS.entries()) {
    const list: unknown = body[i];
    if (!Array.isArray(list) || list.length !== out[field].length) return 'malformed';
    for (const [joint, value] of (list as unknown[]).entries()) {
      if (value !== null && !(typeof value === 'number' && Math.abs(value) <= MOST_MOTOR_VALUE))
        return 'malformed';
      if (field === 'level' && value !== null && MOTOR_LEVELS[value as number] === undefined)
        return 'malformed';
      out[field][joint] = value === null ? Number.NaN : (value as number);
    }
  }
  return null;
}

/** Robot → operator, state socket, 100 Hz. `withMotors`: also their condition, if it is known. */
export function encodeState(
  boot: number,
  session: number,
  state: RobotState,
  out: Uint8Array,
  withMotors = false,
): number {
  const { numbers } = writer;
  numbers[0] = boot;
  numbers[1] = session;
  numbers[2] = state.robotNs;
  numbers[3] = state.sinceNs;
  numbers[4] = state.epoch;
  numbers[5] = state.endedEngagement;
  numbers[6] = state.appliedSeq;
  numbers[7] = state.ackRequest;
  numbers[8] = state.gripper;
  numbers[9] = state.clearanceM;
  numbers[10] = state.repeat;
  numbers[11] = state.gripperN;
  writer.begin('state', out);
  writeNumber(KEY.boot, 0);
  writeNumber(KEY.session, 1);
  writeNumber(KEY.robotNs, 2);
  writeText(KEY.state, TEXT.state.of(state.state));
  writeText(KEY.cause, TEXT.cause.of(state.cause));
  writeText(KEY.why, TEXT.why.of(state.why));
  writeNumber(KEY.sinceNs, 3);
  writeNumber(KEY.epoch, 4);
  writeNumber(KEY.ended, 5);
  writeNumber(KEY.seq, 6);
  writeNumber(KEY.ack, 7);
  writer.key(KEY.q);
  if (Number.isNaN(state.positionsRad[0]!)) writer.null();
  else writer.list(state.positionsRad, ANGLE_PLACES);
  writeList(KEY.dq, state.velocitiesRadS, ANGLE_PLACES);
  writeList(KEY.target, state.targetRad, ANGLE_PLACES);
  writeNumber(KEY.gripper, 8, 4);
  writeText(KEY.limited, TEXT.limited.of(state.limitedBy));
  writeNumber(KEY.clearance, 9, 5);
  writeText(KEY.nearest, TEXT.nearest.of(state.nearest));
  if (withMotors && knowsMotors(state.motors)) writeMotors(state.motors);
  writeNumber(KEY.repeat, 10);
  if (state.playout) writeText(KEY.playout, TEXT.playout.of(state.playout));
  if (Number.isFinite(state.effortsNm[0]!)) writeList(KEY.effort, state.effortsNm, TORQUE_PLACES);
  if (Number.isFinite(state.externalNm[0]!)) writeList(KEY.external, state.externalNm, TORQUE_PLACES);
  if (Number.isFinite(state.otherRad[0])) writeList(KEY.other, state.otherRad, ANGLE_PLACES);
  if (Number.isFinite(state.gripperN)) writeNumber(KEY.gripN, 11, 2);
  return writer.end();
}

const writer = new JsonWriter();
/** 1 mN·m. */
const TORQUE_PLACES = 3;
const KEY = {
  ...{ boot: keyBytes('boot'), session: keyBytes('session'), robotNs: keyBytes('robot_ns') },
  ...{ state: keyBytes('state'), cause: keyBytes('cause'), why: keyBytes('why') },
  ...{ sinceNs: keyBytes('since_ns'), epoch: keyBytes('epoch'), ended: keyBytes('ended') },
  ...{ seq: keyBytes('seq'), ack: keyBytes('ack'), q: keyBytes('q'), dq: keyBytes('dq') },
  ...{ target: keyBytes('target'), gripper: keyBytes('gripper'), limited: keyBytes('limited') },
  ...{ clearance: keyBytes('clearance'), nearest: keyBytes('nearest'), motors: keyBytes('motors') },
  ...{ repeat: keyBytes('repeat'), playout: keyBytes('playout'), effort: keyBytes('effort') },
  ...{ external: keyBytes('external'), other: keyBytes('other'), gripN: keyBytes('grip_n') },
};
const TEXT = {
  ...{ state: new TextBytes(), cause: new TextBytes(), why: new TextBytes() },
  ...{ limited: new TextBytes(), nearest: new TextBytes(), playout: new TextBytes() },
};

function writeNumber(key: Uint8Array, i: number, places = 0): void {
  writer.key(key);
  writer.number(i, places);
}

function writeText(key: Uint8Array, text: Uint8Array): void {
  writer.key(key);
  writer.bytes(text);
}

function writeList(key: Uint8Array, values: Float64Array, places: number): void {
  writer.key(key);
  writer.list(values, places);
}

function writeMotors(motors: MotorHealth): void {
  writer.key(KEY.motors);
  writer.openList();
  for (let i = 0; i < MOTOR_FIELDS.length; i++) {
    if (i > 0) writer.comma();
    writer.list(motors[MOTOR_FIELDS[i]!], MOTOR_PLACES[MOTOR_FIELDS[i]!]);
  }
  writer.closeList();
}

/** Absent: unknown. */
function numbersFromJson(value: unknown, out: Float64Array): Reason | null {
  if (value !== undefined) return anglesFromJson(value, out);
  out.fill(Number.NaN);
  return null;
}

/** The robot's start and the operator session a state message belongs to. */
export interface StateOrigin {
  boot: number;
  session: number;
}

export function decodeState(
  bytes: Uint8Array,
  length: number,
  out: RobotState,
  origin: StateOrigin,
): Reason | null {
  if (readState(bytes, length, out, origin)) return null;
  const reason = decodeStateJson(bytes, length, out, origin);
  if (reason !== null) return reason;
  LAST.cause.keep(out.cause);
  LAST.nearest.keep(out.nearest);
  LAST.playout.keep(out.playout ?? '');
  return null;
}

const reader = new JsonReader();
const STATE_BYTES = choiceBytes(SUPERVISOR_STATES);
const REASON_BYTES = choiceBytes(STATE_REASONS);
const LIMIT_BYTES = choiceBytes(LIMITED_BY);
const LAST = { cause: new TextCache(), nearest: new TextCache(), playout: new TextCache() };

/** True if it stands as our own encoder writes it, with the texts of last time; else its JSON decides. */
function readState(bytes: Uint8Array, length: number, out: RobotState, origin: StateOrigin): boolean {
  const { numbers } = reader;
  reader.begin(bytes, length);
  readCount(KEY.boot, 0);
  readCount(KEY.session, 1);
  readNumber(KEY.robotNs, 2);
  reader.key(KEY.state);
  const state = SUPERVISOR_STATES[reader.choice(STATE_BYTES)];
  reader.key(KEY.cause);
  const cause = reader.text(LAST.cause);
  reader.key(KEY.why);
  const why = STATE_REASONS[reader.choice(REASON_BYTES)];
  readNumber(KEY.sinceNs, 3);
  readCount(KEY.epoch, 4);
  readCount(KEY.ended, 5);
  readCount(KEY.seq, 6);
  readCount(KEY.ack, 7);
  readList(KEY.q, out.positionsRad);
  readList(KEY.dq, out.velocitiesRadS);
  readList(KEY.target, out.targetRad);
  readNumber(KEY.gripper, 8);
  reader.key(KEY.limited);
  const limited = LIMITED_BY[reader.choice(LIMIT_BYTES)];
  reader.key(KEY.clearance);
  reader.stamp(9);
  reader.key(KEY.nearest);
  const nearest = reader.text(LAST.nearest);
  readCount(KEY.repeat, 10);
  if (!reader.isOk || state === undefined || why === undefined || limited === undefined) return false;
  if (!readOptional(out) || !reader.end() || numbers[10]! > MAX_REDUNDANCY) return false;
  origin.boot = numbers[0]!;
  origin.session = numbers[1]!;
  out.robotNs = numbers[2]!;
  out.sinceNs = numbers[3]!;
  out.epoch = numbers[4]!;
  out.endedEngagement = numbers[5]!;
  out.appliedSeq = numbers[6]!;
  out.ackRequest = numbers[7]!;
  out.gripper = numbers[8]!;
  out.clearanceM = numbers[9]!;
  out.repeat = numbers[10]!;
  out.gripperN = numbers[11]!;
  out.state = state;
  out.cause = cause;
  out.why = why;
  out.limitedBy = limited;
  out.nearest = nearest;
  return true;
}

/** The fields that only some robots have. */
function readOptional(out: RobotState): boolean {
  const playout = reader.has(KEY.playout) ? reader.text(LAST.playout) : '';
  if (playout !== '' || out.playout !== undefined) out.playout = playout;
  if (reader.has(KEY.effort)) reader.list(out.effortsNm);
  else out.effortsNm.fill(Number.NaN);
  if (reader.has(KEY.external)) reader.list(out.externalNm);
  else out.externalNm.fill(Number.NaN);
  if (!reader.has(KEY.other)) out.otherRad.fill(Number.NaN);
  // The other parser leaves out what this robot does not watch.
  else if (out.otherRad.length === 0) return false;
  else reader.list(out.otherRad);
  reader.numbers[11] = Number.NaN;
  if (reader.has(KEY.gripN)) reader.number(11);
  return reader.isOk;
}

function readCount(key: Uint8Array, i: number): void {
  reader.key(key);
  reader.count(i);
}

function readNumber(key: Uint8Array, i: number): void {
  reader.key(key);
  reader.number(i);
}

function readList(key: Uint8Array, out: Float64Array): void {
  reader.key(key);
  reader.list(out);
}

function decodeStateJson(
  bytes: Uint8Array,
  length: number,
  out: RobotState,
  origin: StateOrigin,
): Reason | null {
  const body = frameBody(bytes, length);
  if (body === null) return 'bad-json';
  origin.boot = countOf(body['boot']);
  origin.session = countOf(body['session']);
  out.robotNs = numberOf(body['robot_ns']);
  out.epoch = countOf(body['epoch']);
  out.endedEngagement = countOf(body['ended']);
  out.appliedSeq = countOf(body['seq']);
  out.ackRequest = countOf(body['ack']);
  out.gripper = numberOf(body['gripper']);
  const numbers =
    origin.boot + origin.session + out.robotNs + out.epoch + out.endedEngagement + out.appliedSeq;
  if (Number.isNaN(numbers + out.ackRequest + out.gripper)) return 'malformed';
  const { state, cause } = body;
  if (typeof state !== 'string' || !KNOWN.has(state) || typeof cause !== 'string') return 'malformed';
  out.state = state as SupervisorState;
  out.cause = cause.slice(0, MAX_CAUSE_CHARS);
  const { why = 'person', since_ns: sinceNs = 0 } = body;
  if (!KNOWN_REASONS.has(why) || Number.isNaN(numberOf(sinceNs))) return 'malformed';
  out.why = why as StateReason;
  out.sinceNs = sinceNs as number;
  const { limited, clearance, nearest, playout = '', repeat = 0 } = body;
  out.repeat = countOf(repeat);
  if (!(out.repeat <= MAX_REDUNDANCY)) return 'malformed';
  if (typeof limited !== 'string' || !KNOWN_LIMITS.has(limited) || typeof nearest !== 'string')
    return 'malformed';
  if (typeof playout !== 'string') return 'malformed';
  if (playout !== '' || out.playout !== undefined) out.playout = playout.slice(0, MAX_PLAYOUT_CHARS);
  out.limitedBy = limited as LimitedBy;
  out.nearest = nearest.slice(0, MAX_NEAREST_CHARS);
  out.clearanceM = clearance === null ? Number.NaN : numberOf(clearance);
  if (clearance !== null && Number.isNaN(out.clearanceM)) return 'malformed';
  const motors = motorsFromJson(body['motors'], out.motors);
  if (motors !== null) return motors;
  const isUnread = body['q'] === null;
  if (isUnread) out.positionsRad.fill(Number.NaN);
  const { effort, external, grip_n: gripperN } = body;
  out.gripperN = gripperN === undefined ? Number.NaN : numberOf(gripperN);
  if (gripperN !== undefined && Number.isNaN(out.gripperN)) return 'malformed';
  return (
    numbersFromJson(effort, out.effortsNm) ??
    numbersFromJson(external, out.externalNm) ??
    (out.otherRad.length === 0 ? null : numbersFromJson(body['other'], out.otherRad)) ??
    (isUnread ? null : anglesFromJson(body['q'], out.positionsRad)) ??
    anglesFromJson(body['dq'], out.velocitiesRadS) ??
    anglesFromJson(body['target'], out.targetRad)
  );
}

export function emptyState(joints: number, otherJoints = 0): RobotState {
  return {
    robotNs: 0,
    positionsRad: new Float64Array(joints),
    velocitiesRadS: new Float64Array(joints),
    targetRad: new Float64Array(joints),
    gripper: 0,
    effortsNm: new Float64Array(joints).fill(Number.NaN),
    externalNm: new Float64Array(joints).fill(Number.NaN),
    gripperN: Number.NaN,
    state: 'disconnected',
    cause: '',
    why: 'person',
    sinceNs: 0,
    epoch: 0,
    endedEngagement: 0,
    appliedSeq: 0,
    ackRequest: 0,
    limitedBy: '',
    clearanceM: Number.NaN,
    nearest: '',
    motors: emptyMotorHealth(joints),
    repeat: 0,
    otherRad: new Float64Array(otherJoints).fill(Number.NaN),
  };
}
