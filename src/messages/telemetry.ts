import type { MotorReport } from './motor-health.ts';
import type { Person } from './person.ts';
import type { PlayoutMode, PlayoutQuality } from './playout-request.ts';
import type { PulseReport } from './pulse-event.ts';
import type { RecorderStatus, RecordRequest, RowSource } from './recording.ts';
import type { LimitedBy, SupervisorState } from './robot-state.ts';
import type { WorldOutcome } from './world-state.ts';

/** What moves the robot: nothing, the hand, or homing. */
export const OPERATOR_MODES = ['hold', 'teleop', 'home'] as const;
export type OperatorMode = (typeof OPERATOR_MODES)[number];

/** Operator process → console, about 30 times a second. JSON-friendly: null instead of NaN. */
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
    /** `udp`, `zmq`, or `webrtc` through a fleet. */
    transport?: string;
    playout: string;
    /** What the operator requests of an adaptive playout; null: nothing. */
    quality: PlayoutQuality | null;
    /** Playout modes that the operator may switch between; empty or absent: it may not. */
    modes?: PlayoutMode[];
  };
  input: {
    active: string;
    available: string[];
    status: string;
    /** Age of the newest sample at that tick, from when it was taken; null before the first. */
    ageMs?: number | null;
    clutch: boolean;
    /** Messages per second of an input that listens on the network; null for others. */
    rateHz: number | null;
    /** Their interarrival jitter against the sender's clock, as in RFC 3550. */
    jitterMs: number | null;
    /** Reception of each input, active or not. */
    streams?: InputStream[];
  };
  operator: {
    mode: OperatorMode;
    /** The mapper's result: `ok`, `clamped`, `unreachable`, `bad-input`, or `disengaged`. */
    mapping: string;
    /** Who drives; absent from older operators. */
    driver?: RowSource;
    /** A person took over from a policy, which waits to be handed the robot back. */
    isInterrupted?: boolean;
    /** The clutch is held closed and does not count until it was seen open; absent from older operators. */
    mustOpenClutch?: boolean;
    /** Largest joint's distance between the command and what a policy proposes that runs along; null: none does. */
    disagreementRad?: number | null;
    /** Delay added by the hand filter; null without one. */
    filterDelayMs: number | null;
    /** Direction of what limits the motion, base frame, unit length; null where it has none. */
    limitTowards?: number[] | null;
    /** From sending the last e-stop to the robot's report that it stopped; null before the first. */
    estopMs?: number | null;
    /** When the robot confirmed it, operator's clock; null before the first. */
    estopConfirmedNs?: number | null;
  };
  hand: {
    positionM: number[];
    quatXyzw: number[];
    /** x, y, z of its 21 points, consecutively; null from inputs that track no fingers. */
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
    /** Torque on each joint from outside, and the gripper’s force; null or absent: unknown. */
    externalNm?: number[] | null;
    gripperN?: number | null;
    /** Age of the robot’s reading when this was sent; part of the time from a contact to the page. */
    readingMs?: number | null;
    /** When the robot took the reading, its clock, and when this was sent, operator’s clock. */
    readNs?: number | null;
    publishedNs?: number | null;
    /** What keeps the arm from following its commands. */
    limitedBy: LimitedBy;
    /** Distance of the nearest two surfaces that may not touch, and their names; null: none watched. */
    clearanceM: number | null;
    nearest: string;
    /** Condition of the motors, one value per joint; absent from robots that do not report it. */
    motors?: MotorReport;
  } | null;
  /**
   * Both arms of a rig of two, left before right. The rest of the message is about the arm that the page drives, except
   * that `robot.state` is the state of the less able one.
   */
  arms?: ArmTelemetry[];
  /** The simulated world of the robot; null or absent: it has none. */
  world?: WorldTelemetry | null;
  /** Joint command most recently sent: the ghost. */
  commandedRad: number[] | null;
  /** Commands closed since the previous message, oldest first. */
  closed: ClosedCommand[];
  /** Feel of the session's seconds so far; null before the first was judged. */
  feel?: FeelStatus | null;
  /**
   * Lag of measured joints behind commanded ones, by correlation: from sampling the hand to the joints'
   * arrival. Null: too little motion.
   */
  motionLatencyMs?: number | null;
  /** Similarity of the two motions, 0.8 … 1. */
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
  /** What is being recorded; absent from operators that cannot record. */
  record?: RecorderStatus | null;
  /** Why the trace cannot be written at the moment, and what to do; empty or absent: no problem. */
  trouble?: string;
}

/** One arm of two. */
export interface ArmTelemetry {
  side: 'left' | 'right';
  /** The page's single hand drives this one. */
  isDriven: boolean;
  robot: Telemetry['robot'];
  operator: Telemetry['operator'];
  clutch: boolean;
  hand: Telemetry['hand'];
  commandedRad: number[] | null;
}

/** As in `WorldState`, in metres; the table's top is z = 0. */
export interface WorldTelemetry {
  task: string;
  seed: number;
  round: number;
  elapsedS: number;
  limitS: number;
  score: number;
  outcome: WorldOutcome;
  /** Index of the body in the gripper; −1: none. */
  held: number;
  /** Where something touches the arm, and the net force; null: nothing does. */
  contact: { atM: number[]; forceN: number } | null;
  baseM: number[];
  /** The point between the gripper's pads, and its rotation about the vertical. */
  gripM?: number[];
  gripYawRad?: number;
  /** Seven numbers per body: position, quaternion w, x, y, z. */
  poses: number[];
}

/** Seconds judged one by one; docs/playout.md defines the rules. */
export interface FeelStatus {
  windows: number;
  badWindows: number;
  strictWindows: number;
  longestLateRun: number;
  /** Holds and latched stops that no person asked for, and commands refused because of them or of the network. */
  holds?: number;
  stops?: number;
  refused?: number;
  /** The newest second: commands off, out of how many, and the main cause, in words. */
  last: { off: number; ticks: number; isBad: boolean; cause: string };
  /** The bad ones of the last minute, seconds of the operator's clock. */
  bad?: { fromS: number; toS: number; cause: string }[];
}

/**
 * Rate and jitter are null for inputs that do not listen on the network; `from` is empty without a sender.
 */
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
  /** Scheduled playout delay after its stamp, and the commands waiting behind it. */
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
  | { kind: 'playout-mode'; mode: PlayoutMode }
  | { kind: 'home' }
  | { kind: 'hold' }
  | { kind: 'teleop' }
  /** A visible hand without a clutch takes over from the policy that drives. */
  | { kind: 'take-over' }
  /** Lets a policy drive again that a person has interrupted. */
  | { kind: 'hand-back' }
  | { kind: 'input'; name: string }
  /** Of two arms, the one that the page's single hand drives. */
  | { kind: 'drive'; side: 'left' | 'right' }
  /** A person's hand, measured by the page: stored under that name and used from the next engagement on. */
  | { kind: 'person'; name: string; person: Person }
  /** Starts a task of the simulated world over: empty keeps the task, null takes the next seed. */
  | { kind: 'world'; task: string; seed: number | null }
  /** A contact was felt: for the trace. */
  | PulseReport
  | RecordRequest
  | {
      kind: 'hand';
      positionM: number[];
      quatXyzw: number[];
      gripper: number;
      clutch: boolean;
      /** When the page took it, its own clock; the console forwards it as `takenNs` on the operator's. */
      takenMs?: number;
      takenNs?: number;
      /** Which page it came from; set by the console. */
      page?: number;
      /** The record button of the page's input is down. */
      record?: boolean;
    };
