import { HAND_NUMBERS } from '../hand/points.ts';

/** Data that crosses stages. Units are in the names; quaternions are x, y, z, w; arrays are owned by their holder. */

/** A pull of an input device. Frame: the device's world, right-handed, Y up, −Z forward. */
export interface HandSample {
  /** When the device took it, operator clock. */
  takenNs: number;
  /** When the headset's app or page sent it, operator clock; NaN where that is not known. */
  sentNs: number;
  positionM: Float64Array;
  quatXyzw: Float64Array;
  /** 0 open … 1 closed. */
  gripper: number;
  /** The operator wants the robot to follow. */
  clutch: boolean;
  /** False: the pose is not to be trusted and the robot must hold in the same tick. */
  tracking: boolean;
  estop: boolean;
  /** How many of `pointsM` are the hand's own points: 21, or 0 from inputs that track no fingers. */
  points: number;
  /** x, y, z of each point, in the order of `hand-points.ts`. */
  pointsM: Float64Array;
  /** The points are those of a left hand. */
  isLeft: boolean;
  /** How many of `jointsRad` are wanted joint angles: 0 from inputs that have a hand and no joints. */
  joints: number;
  /** Joint angles to be led to, in the model's order: a recording, or a policy. */
  jointsRad: Float64Array;
}

/** No robot here has more joints. */
export const MAX_JOINTS = 32;

export function emptyHandSample(): HandSample {
  const quatXyzw = new Float64Array([0, 0, 0, 1]);
  return {
    takenNs: 0,
    sentNs: Number.NaN,
    positionM: new Float64Array(3),
    quatXyzw,
    gripper: 0,
    clutch: false,
    tracking: false,
    estop: false,
    points: 0,
    pointsM: new Float64Array(HAND_NUMBERS),
    isLeft: false,
    joints: 0,
    jointsRad: new Float64Array(MAX_JOINTS),
  };
}

/** `new` is the first result that carries a sample; `stale` means the last one is too old to be acted on. */
export type SampleStatus = 'ok' | 'stale' | 'none';

/** What a tick on a device reports; the supervisor decides what it means. */
export type TickStatus = 'ok' | 'stale' | 'fault';

/** One joint-space command as it crosses the link. */
export interface JointCommand {
  /** Random per operator start: a restart is a new session with its own sequence. */
  session: number;
  seq: number;
  /** Number of the engagement this command belongs to, counted by the operator; 0 = not engaged. */
  engagement: number;
  /** Robot's safety epoch the operator acts under; a reset of the e-stop voids older ones. */
  epoch: number;
  tracking: boolean;
  /** The leader's get_state tick, operator clock. */
  stateOperatorNs: number;
  /** The same instant on the robot's clock; NaN before the first clock offset. */
  stateRobotNs: number;
  /** Grows when the operator began its clock relation anew: a step between two commands is then explicit. */
  syncEpoch: number;
  positionsRad: Float64Array;
  gripper: number;
}

/** How the operator wants playout to trade delay against smoothness. */
export const PLAYOUT_QUALITIES = ['smooth', 'balanced', 'fast'] as const;
export type PlayoutQuality = (typeof PLAYOUT_QUALITIES)[number];

/** Ways of playout between which an operator may switch where the robot allows it. */
export const PLAYOUT_WAYS = ['none', 'fixed', 'adaptive'] as const;
export type PlayoutWay = (typeof PLAYOUT_WAYS)[number];

/** What the operator asks of the robot's playout; null is no wish. */
export interface PlayoutWish {
  quality: PlayoutQuality | null;
  /** Most delay above the least the link has. */
  capMs: number | null;
  /** Heeded only by a robot that tells its playout in its state; absent is null. */
  way?: PlayoutWay | null;
}

/** How a command ended, as written in a trace. `rejected:<reason>` carries a counted reason. */
export type Outcome = 'applied' | 'late' | 'dropped-stale' | 'lost' | `rejected:${string}`;

/** The robot's stamps of one command, robot clock; NaN where a stage was not reached. */
export interface Receipt {
  session: number;
  seq: number;
  outcome: Outcome;
  kernelNs: number;
  receiveNs: number;
  dueNs: number;
  releasedNs: number;
  appliedNs: number;
  /** How long after its stamp playout meant it to be applied; NaN when it never was scheduled. */
  playoutDelayNs: number;
  queueDepth: number;
  /** Arrived after it was due. */
  late: boolean;
  /** Never acted on because a newer command was. */
  dropped: boolean;
}

export const SUPERVISOR_STATES = ['disconnected', 'idle', 'armed', 'engaged', 'hold', 'stopped'] as const;
export type SupervisorState = (typeof SUPERVISOR_STATES)[number];

/** What keeps the robot from doing as it was told, most serious last. */
export const LIMITED_BY = [
  '',
  'jerk',
  'acceleration',
  'velocity',
  'range',
  'joint-limit',
  'engage-ramp',
  'singularity',
  'workspace',
  'collision',
] as const;
export type LimitedBy = (typeof LIMITED_BY)[number];

/** The robot as it reports itself, at 100 Hz. */
export interface RobotState {
  /** Robot clock. */
  robotNs: number;
  positionsRad: Float64Array;
  velocitiesRadS: Float64Array;
  /** The last joint target handed to the driver. */
  targetRad: Float64Array;
  gripper: number;
  state: SupervisorState;
  /** Why the supervisor is in this state or limits the motion. */
  cause: string;
  epoch: number;
  /** Highest engagement that has ended: the operator must offer a higher one to move again. */
  endedEngagement: number;
  appliedSeq: number;
  /** Highest desk request carried out. */
  ackRequest: number;
  limitedBy: LimitedBy;
  /** Between the two nearest surfaces that may not touch; NaN where nothing is watched. */
  clearanceM: number;
  /** Which two these are: `forearm ↔ base`. */
  nearest: string;
  /** Policy of playout, told only by a robot whose operator may switch it. */
  playout?: string;
}

/** What an operator asks of the supervisor besides motion. `reset` clears a latched e-stop. */
export const DESK_ACTIONS = ['arm', 'disarm', 'estop', 'reset'] as const;
export type DeskAction = (typeof DESK_ACTIONS)[number];
