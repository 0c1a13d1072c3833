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
import { anglesFromJson, anglesToJson, countOf, frameBody, numberOf, writeFrame } from './frame.ts';

const KNOWN = new Set<string>(SUPERVISOR_STATES);
const KNOWN_REASONS = new Set<unknown>(STATE_REASONS);
const KNOWN_LIMITS = new Set<string>(LIMITED_BY);
const MAX_CAUSE_CHARS = 120;
const MAX_NEAREST_CHARS = 60;
const MAX_PLAYOUT_CHARS = 40;

/** Steps of the numbers on the wire: °C, mA, 0.1 V. */
const MOTOR_STEPS = { temperatureC: 1, currentA: 1e3, voltageV: 10, level: 1 } as const;
/** No motor reports more than this, whatever the unit. */
const MOST_MOTOR_VALUE = 1000;

const motorsToJson = (motors: MotorHealth) =>
  MOTOR_FIELDS.map((field) =>
    Array.from(motors[field], (value) =>
      Number.isFinite(value) ? Math.round(value * MOTOR_STEPS[field]) / MOTOR_STEPS[field] : null,
    ),
  );

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
  const body = {
    boot,
    session,
    robot_ns: Math.round(state.robotNs),
    state: state.state,
    cause: state.cause,
    why: state.why,
    since_ns: Math.round(state.sinceNs),
    epoch: state.epoch,
    ended: state.endedEngagement,
    seq: state.appliedSeq,
    ack: state.ackRequest,
    q: Number.isNaN(state.positionsRad[0]!) ? null : anglesToJson(state.positionsRad),
    dq: anglesToJson(state.velocitiesRadS),
    target: anglesToJson(state.targetRad),
    gripper: Math.round(state.gripper * 1e4) / 1e4,
    limited: state.limitedBy,
    clearance: Number.isFinite(state.clearanceM) ? Math.round(state.clearanceM * 1e5) / 1e5 : null,
    nearest: state.nearest,
    ...(withMotors && knowsMotors(state.motors) ? { motors: motorsToJson(state.motors) } : {}),
    repeat: state.repeat,
    ...(state.playout ? { playout: state.playout } : {}),
    ...(Number.isFinite(state.effortsNm[0]!) ? { effort: torquesToJson(state.effortsNm) } : {}),
    ...(Number.isFinite(state.externalNm[0]!) ? { external: torquesToJson(state.externalNm) } : {}),
    ...(Number.isFinite(state.gripperN) ? { grip_n: Math.round(state.gripperN * 100) / 100 } : {}),
  };
  return writeFrame('state', body, out);
}

/** 1 mN·m. */
const torquesToJson = (values: Float64Array): number[] =>
  Array.from(values, (nm) => Math.round(nm * 1e3) / 1e3);

/** Absent: unknown. */
function torquesFromJson(value: unknown, out: Float64Array): Reason | null {
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
    torquesFromJson(effort, out.effortsNm) ??
    torquesFromJson(external, out.externalNm) ??
    (isUnread ? null : anglesFromJson(body['q'], out.positionsRad)) ??
    anglesFromJson(body['dq'], out.velocitiesRadS) ??
    anglesFromJson(body['target'], out.targetRad)
  );
}

export function emptyState(joints: number): RobotState {
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
  };
}
