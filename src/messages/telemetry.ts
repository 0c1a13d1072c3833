import type { PlayoutMode, PlayoutQuality } from './playout-request.ts';
import type { RecorderStatus, RecordRequest } from './recording.ts';
import type { LimitedBy, SupervisorState } from './robot-state.ts';

/** What moves the robot: nothing, the hand, or the way home. */
export const OPERATOR_MODES = ['hold', 'teleop', 'home'] as const;
export type OperatorMode = (typeof OPERATOR_MODES)[number];

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
    /** `udp`, `zmq`, or `webrtc` by way of a fleet. */
    transport?: string;
    playout: string;
    /** What the operator asks of an adaptive playout; null: nothing. */
    quality: PlayoutQuality | null;
    /** Ways of playout that the robot lets its operator switch between; none or absent: it does not. */
    modes?: PlayoutMode[];
  };
  input: {
    active: string;
    available: string[];
    status: string;
    /** Of the newest sample at that tick, from when it was taken; null before the first. */
    ageMs?: number | null;
    clutch: boolean;
    /** Messages per second of an input that listens on the network; null for others. */
    rateHz: number | null;
    /** Their interarrival jitter against the sender's clock, as in RFC 3550. */
    jitterMs: number | null;
    /** What is heard of each input, the active one or not. */
    streams?: InputStream[];
  };
  operator: {
    mode: OperatorMode;
    /** What the mapper says: `ok`, `clamped`, `unreachable`, `bad-input`, or `disengaged`. */
    mapping: string;
    /** Added by the filter of the hand; null without one. */
    filterDelayMs: number | null;
    /** From the last e-stop's leaving for the robot to its word that it stopped; null before the first. */
    estopMs?: number | null;
  };
  hand: {
    positionM: number[];
    quatXyzw: number[];
    /** x, y, z of its 21 points, one after the other; null from inputs that track no fingers. */
    pointsM?: number[] | null;
    isLeft?: boolean;
  } | null;
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
  /** How the seconds of the session felt so far; null before the first was judged. */
  feel?: FeelStatus | null;
  /** Measured joints behind commanded ones, by correlation: the hand's sampling to the joints being there. Null: too little motion. */
  motionLatencyMs?: number | null;
  /** How alike the two motions are, 0.8 … 1. */
  motionConfidence?: number | null;
  totals: {
    commands: number;
    applied: number;
    late: number;
    dropped: number;
    rejected: number;
    lost: number;
  };
  counters: Record<string, number>;
  /** What is being recorded; absent from operators that cannot. */
  record?: RecorderStatus | null;
  /** Why the trace cannot be written at the moment, and what to do; empty or absent: it can. */
  trouble?: string;
}

/** Seconds judged one by one; docs/playout.md has the rules. */
export interface FeelStatus {
  windows: number;
  badWindows: number;
  strictWindows: number;
  longestLateRun: number;
  /** The newest second: commands off, of how many, and what most of them were due to, in words. */
  last: { off: number; ticks: number; isBad: boolean; cause: string };
  /** The bad ones of the last minute, seconds of the operator's clock. */
  bad?: { fromS: number; toS: number; cause: string }[];
}

/** Rate and jitter are null for inputs that do not listen on the network; `from` is empty while nobody sends. */
export interface InputStream {
  name: string;
  rateHz: number | null;
  jitterMs: number | null;
  from: string;
}

/** One closed trace, durations in milliseconds; null where a stamp or the clock offset is missing. */
export interface ClosedCommand {
  seq: number;
  /** When the hand was sampled, operator clock, seconds. */
  atS: number;
  outcome: string;
  oneWayMs: number | null;
  segmentsMs: (number | null)[];
  /** Delay playout meant it to have after its stamp, and the commands waiting behind it. */
  playoutMs: number | null;
  queueDepth: number | null;
}

/** Page → console → operator. */
export type DeskRequest =
  | RecordRequest
  | { kind: 'estop' }
  | { kind: 'reset' }
  | { kind: 'arm' }
  | { kind: 'disarm' }
  | { kind: 'playout'; quality: PlayoutQuality }
  | { kind: 'playout-way'; way: PlayoutMode }
  | { kind: 'home' }
  | { kind: 'hold' }
  | { kind: 'teleop' }
  | { kind: 'input'; name: string }
  | RecordRequest
  | {
      kind: 'hand';
      positionM: number[];
      quatXyzw: number[];
      gripper: number;
      clutch: boolean;
      /** When the page took it, its own clock; the console passes it on as `takenNs` of the operator's. */
      takenMs?: number;
      takenNs?: number;
      /** Which page it is of; the console's to say. */
      page?: number;
      /** A button of the page's input that begins and ends a recording is down. */
      record?: boolean;
    };
