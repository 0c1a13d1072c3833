import type { LimitedBy, SupervisorState } from './messages.ts';

/** What the operator process tells the console, about 30 times a second. JSON-friendly: no NaN, null instead. */
export interface Telemetry {
  kind: 'telemetry';
  model: string;
  /** Operator clock, for ordering only. */
  operatorNs: number;
  link: {
    connected: boolean;
    /** Age of the newest robot state. */
    stateAgeMs: number | null;
    offsetMs: number | null;
    uncertaintyMs: number | null;
    driftPpm: number | null;
    /** `kernel` or `userspace`: where receive stamps come from. */
    stampSource: string;
    playout: string;
  };
  input: { active: string; available: string[]; status: string; clutch: boolean };
  hand: { positionM: number[]; quatXyzw: number[] } | null;
  robot: {
    state: SupervisorState;
    cause: string;
    epoch: number;
    measuredRad: number[];
    targetRad: number[];
    gripper: number;
    /** What keeps the arm from doing as told. */
    limitedBy: LimitedBy;
    /** Between the nearest two that may not touch, and which these are; null: nothing is watched. */
    clearanceM: number | null;
    nearest: string;
  } | null;
  /** Joint command most recently sent: the ghost. */
  commandedRad: number[] | null;
  /** Commands closed since the previous message, oldest first. */
  closed: ClosedCommand[];
  totals: {
    commands: number;
    applied: number;
    late: number;
    dropped: number;
    rejected: number;
    lost: number;
  };
  counters: Record<string, number>;
}

/** One closed trace, durations in milliseconds; null where a stamp or the clock offset is missing. */
export interface ClosedCommand {
  seq: number;
  /** Operator clock at get_state, seconds. */
  atS: number;
  outcome: string;
  oneWayMs: number | null;
  segmentsMs: (number | null)[];
}

/** Page → console → operator. */
export type DeskRequest =
  | { kind: 'estop' }
  | { kind: 'reset' }
  | { kind: 'arm' }
  | { kind: 'disarm' }
  | { kind: 'input'; name: string }
  | { kind: 'hand'; positionM: number[]; quatXyzw: number[]; gripper: number; clutch: boolean };
