import type { ReceivedFrame } from '../messages/recording.ts';
import type { StateSample } from '../messages/state-sample.ts';
import type { Telemetry } from '../messages/telemetry.ts';

/** The newest picture of every camera; implemented by `FrameCache` of the camera stage. */
export interface FrameSource {
  newest(camera: string): ReceivedFrame | null;
}

export interface ObservationSettings {
  task: string;
  robot: string;
  joints: readonly string[];
  cameras: readonly string[];
  /** A camera or a robot silent for longer is stale, and so is an older picture. */
  staleAfterMs: number;
}

export interface ObservedFrame {
  captureNs: number;
  ageMs: number | null;
  encoding: 'jpeg';
  bytes: Uint8Array;
}

/** A policy's input: the same data that a recorded row joins. */
export interface Observation {
  tick: number;
  /** What the observation is of, operator clock: the oldest of its pictures, or the state without a camera. */
  instantNs: number;
  task: string;
  robot: string;
  joints: readonly string[];
  state: {
    positionsRad: number[];
    gripper: number;
    /** Torque from outside on each joint (N·m), then the gripper's force (N) if there is one; null: unknown. */
    effort: number[] | null;
    ageMs: number;
    supervisor: string;
  };
  frames: Record<string, ObservedFrame>;
}

/** The state at an instant of the past; implemented by `StateHistory`. */
export interface StateSource {
  at(instantNs: number): ObservedState | null;
}

export type Unobserved = 'no-robot' | 'stale-state' | 'missing-camera' | 'stale-camera';

/** A robot's state at an instant of the operator's clock. */
export interface ObservedState {
  positionsRad: number[];
  gripper: number;
  effort: number[] | null;
  supervisor: string;
  measuredNs: number;
}

/** The state that telemetry reports; null without a connected robot. */
export function stateOf(telemetry: Telemetry | null): ObservedState | null {
  if (telemetry?.robot == null || !telemetry.link.connected) return null;
  const { measuredRad, gripper, state, externalNm, gripperN } = telemetry.robot;
  const stateAgeMs = telemetry.link.stateAgeMs ?? Number.POSITIVE_INFINITY;
  return {
    ...{ positionsRad: measuredRad, gripper, supervisor: state },
    effort: effortOf(externalNm ?? null, gripperN ?? null),
    measuredNs: telemetry.operatorNs - stateAgeMs * 1e6,
  };
}

/** A state that the operator passed on as it arrived. */
export function sampledState(sample: StateSample): ObservedState {
  const { measuredRad, gripper, state, externalNm, gripperN, measuredNs } = sample;
  return {
    ...{ positionsRad: measuredRad, gripper, supervisor: state, measuredNs },
    effort: effortOf(externalNm, gripperN),
  };
}

function effortOf(externalNm: readonly number[] | null, gripperN: number | null): number[] | null {
  return externalNm === null ? null : [...externalNm, ...(gripperN === null ? [] : [gripperN])];
}

/**
 * Joins the newest picture of every camera with the state of the instant that they show (operator clock), or returns
 * why there is no observation now. A gap is never filled with old data. Without `past` it has the newest state.
 */
export function observe(
  tick: number,
  state: ObservedState | null,
  frames: FrameSource,
  nowNs: number,
  settings: ObservationSettings,
  past?: StateSource,
): Observation | Unobserved {
  const { staleAfterMs, cameras, task, robot, joints } = settings;
  if (state === null) return 'no-robot';
  if (!(nowNs - state.measuredNs <= staleAfterMs * 1e6)) return 'stale-state';
  const seen: Observation['frames'] = {};
  let instantNs = cameras.length === 0 ? state.measuredNs : nowNs;
  for (const camera of cameras) {
    const frame = frames.newest(camera);
    if (frame === null) return 'missing-camera';
    // A silent camera, or one whose pictures arrive too old over a slow network.
    const isStamped = Number.isFinite(frame.captureOperatorNs);
    const capturedNs = isStamped ? frame.captureOperatorNs : frame.arrivedNs;
    if (nowNs - Math.min(capturedNs, frame.arrivedNs) > staleAfterMs * 1e6) return 'stale-camera';
    instantNs = Math.min(instantNs, capturedNs);
    const picture = { captureNs: frame.captureNs, encoding: 'jpeg' as const, bytes: frame.bytes };
    seen[camera] = { ...picture, ageMs: isStamped ? (nowNs - capturedNs) / 1e6 : null };
  }
  const { positionsRad, gripper, effort, supervisor, measuredNs } = past?.at(instantNs) ?? state;
  const ageMs = (nowNs - measuredNs) / 1e6;
  return {
    ...{ tick, instantNs, task, robot, joints },
    state: { positionsRad, gripper, effort, ageMs, supervisor },
    frames: seen,
  };
}

/** The gripper holds something: keep it closed. */
const HOLDING_N = 2;

/** Joints and gripper to begin from, such that nothing moves and nothing held is dropped. */
export function heldPose({ positionsRad, gripper, effort }: ObservedState): Float64Array {
  const gripperN = effort?.[positionsRad.length] ?? 0;
  return Float64Array.from([...positionsRad, gripperN > HOLDING_N ? 1 : gripper]);
}
