import type { LimitedBy, SupervisorState } from './robot-state.ts';

/** A picture as it crosses the camera channel. */
export interface CameraFrame {
  camera: string;
  /** When the sensor was read, clock of the host that has the camera. */
  captureNs: number;
  /** When it was ready to be sent, same clock; absent where the sender does not report it. */
  encodedNs?: number;
  encoding: 'jpeg';
  bytes: Uint8Array;
  /** Of a depth camera: the distances as a PNG of 16-bit grey, in millimetres; `bytes` is then a view of them. */
  depth?: Uint8Array;
}

/** A frame as the operator's side holds it. */
export interface ReceivedFrame extends CameraFrame {
  /** The capture on the operator's clock, and its uncertainty; NaN before the first clock offset. */
  captureOperatorNs: number;
  uncertaintyNs: number;
  /** When its last byte arrived, operator clock. */
  arrivedNs: number;
}

/** The frame of one camera that belongs to a row. */
export interface RowFrame {
  /** As in `CameraFrame`: identifies the picture in its channel. */
  captureNs: number;
  /** From capture to the row's instant. */
  ageNs: number;
  /** Older than the camera's period allows, but kept. */
  stale: boolean;
}

/** One joined instant of an episode: what was commanded, what was measured, what was seen. */
export interface EpisodeRow {
  index: number;
  /** Since the first row of the episode. */
  timeNs: number;
  seq: number;
  engaged: boolean;
  commandRad: number[];
  commandGripper: number;
  stateRad: number[];
  stateGripper: number;
  /** Torque from outside on each joint (N·m), then the gripper’s force (N) if there is one; absent: unknown. */
  effort?: number[];
  /** Measured speed of each joint (rad/s), and its measured torque (N·m); absent: unknown. */
  velocityRadS?: number[];
  torqueNm?: number[];
  /** Flange in the base frame, from the measured joints: x, y, z (m), then a quaternion x, y, z, w. */
  toolPose?: number[];
  /** The sub-task that was marked last; absent: none in this episode so far. */
  subtask?: string;
  supervisor: SupervisorState;
  limitedBy: LimitedBy;
  /** Of the newest command with a receipt; null before the first. */
  oneWayNs: number | null;
  uncertaintyNs: number | null;
  playoutDelayNs: number | null;
  frames: Record<string, RowFrame>;
  /** Who drove: absent in recordings from before this was recorded. */
  source?: RowSource;
  /** A person drives an attempt that a policy began; absent: no. */
  intervention?: boolean;
  /** Largest joint's distance from what a policy proposes that runs along; absent: none does. */
  disagreementRad?: number;
}

/** Of the robot's joints, in the model's order. */
export interface JointLimits {
  minRad: number[];
  maxRad: number[];
  maxVelocityRadS: number[];
}

/** Who drives the robot at an instant. */
export const ROW_SOURCES = [
  /** Nobody: the robot holds. */
  'none',
  'person',
  'policy',
  /** A replay, a drive home, or another program. */
  'program',
  /** The scripted hand of a simulated world. */
  'expert',
  /** A mistake made on purpose, to demonstrate the way out of it: not to be learnt. */
  'disturbance',
] as const;
export type RowSource = (typeof ROW_SOURCES)[number];

/** What is known about an episode without reading its rows. */
export interface EpisodeInfo {
  /** File name without its extension. */
  id: string;
  task: string;
  label: string | null;
  /** ISO 8601. */
  startedAt: string;
  durationS: number;
  rows: number;
  /** Instants without a frame of every camera: not written. */
  skippedRows: number;
  staleRows: number;
  robot: string;
  joints: string[];
  hasGripper: boolean;
  /** Every row has `effort`. */
  hasEffort?: boolean;
  /** Every row has these. */
  hasVelocity?: boolean;
  hasTorque?: boolean;
  hasTool?: boolean;
  /** Absent: not recorded. */
  jointLimits?: JointLimits;
  cameras: string[];
  /** How pictures are stored; absent: as JPEG. */
  video?: 'h264';
  /** Cameras that also have distances. */
  depthCameras?: string[];
  hasSound?: boolean;
  rateHz: number;
  sizeBytes: number;
  /** False: the file was not closed properly; `farhand recover` repairs it. */
  complete: boolean;
  quality: EpisodeQuality | null;
}

/** What tells a good demonstration from a bad one, beside its quality as a recording. */
export interface EpisodeFigures {
  /** Of the fastest joint. */
  peakVelocityRadS: number;
  /** Share of the time in which no joint moved. */
  stillShare: number;
  /** Between commanded and measured joints while both stand still, the worst joint; null: never still. */
  offsetRad: number | null;
  /** Measured joints in the last row. */
  endRad: number[];
  /** How often a person took over from a policy. */
  interventions: number;
  /** Speed of the fastest joint over the episode, in 32 equal parts (rad/s). */
  motion: number[];
}

/** Measured when an episode is saved. */
export interface EpisodeQuality {
  /** Absent in older recordings. */
  figures?: EpisodeFigures;
  /** Share of rows skipped. */
  skippedShare: number;
  staleShare: number;
  jerkP95RadS3: number | null;
  frameAgeP95Ms: number | null;
  oneWayP95Ms: number | null;
  badWindows: number;
  /** Limits that were exceeded, in words; empty: passed. */
  refusedBy: string[];
}

/** What a recorder is doing. `reset`: between two episodes, while the scene is reset. */
export const RECORDER_STATES = ['idle', 'recording', 'reset', 'failed'] as const;
export type RecorderState = (typeof RECORDER_STATES)[number];

/** Shown in the console; part of `Telemetry`. */
export interface RecorderStatus {
  state: RecorderState;
  /** The episode being written, or the last one. */
  episode: string | null;
  task: string;
  rows: number;
  skippedRows: number;
  durationS: number;
  /** Marked last in this episode; absent: none. */
  subtask?: string;
  /** Why recording stopped by itself, and what to do; empty otherwise. */
  message: string;
}

/** Requested of a recorder by the console, the command line or a controller's button. */
export type RecordRequest =
  | { kind: 'record'; action: 'start'; task?: string }
  | { kind: 'record'; action: 'stop'; label?: string }
  | { kind: 'record'; action: 'discard' }
  | { kind: 'record'; action: 'label'; episode: string; label: string }
  | { kind: 'record'; action: 'task'; task: string }
  /** A sub-task begins; empty: none any more. */
  | { kind: 'record'; action: 'mark'; subtask: string };
