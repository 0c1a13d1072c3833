import type { ReceivedFrame } from '../messages/recording.ts';
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

/** A policy's input: the same data that a recorded row joins. JSON, pictures in base64. */
export interface Observation {
  tick: number;
  task: string;
  robot: string;
  joints: readonly string[];
  state: { positionsRad: number[]; gripper: number; ageMs: number; supervisor: string };
  frames: Record<string, { captureNs: number; ageMs: number | null; encoding: 'jpeg'; data: string }>;
}

export type Unobserved = 'no-robot' | 'stale-state' | 'missing-camera' | 'stale-camera';

/**
 * Joins the newest state with the newest picture of every camera at one instant (operator clock), or returns
 * why there is no observation now. A gap is never filled with old data.
 */
export function observe(
  tick: number,
  telemetry: Telemetry | null,
  frames: FrameSource,
  nowNs: number,
  settings: ObservationSettings,
): Observation | Unobserved {
  const { staleAfterMs, cameras, task, robot, joints } = settings;
  if (telemetry?.robot == null || !telemetry.link.connected) return 'no-robot';
  const ageMs =
    (nowNs - telemetry.operatorNs) / 1e6 + (telemetry.link.stateAgeMs ?? Number.POSITIVE_INFINITY);
  if (!(ageMs <= staleAfterMs)) return 'stale-state';
  const seen: Observation['frames'] = {};
  for (const camera of cameras) {
    const frame = frames.newest(camera);
    if (frame === null) return 'missing-camera';
    // A silent camera, or one whose pictures arrive too old over a slow network.
    const silentNs = nowNs - frame.arrivedNs;
    const ageNs = Number.isFinite(frame.captureOperatorNs) ? nowNs - frame.captureOperatorNs : silentNs;
    if (Math.max(silentNs, ageNs) > staleAfterMs * 1e6) return 'stale-camera';
    seen[camera] = {
      captureNs: frame.captureNs,
      ageMs: Number.isFinite(frame.captureOperatorNs) ? (nowNs - frame.captureOperatorNs) / 1e6 : null,
      encoding: 'jpeg',
      data: Buffer.from(frame.bytes.buffer, frame.bytes.byteOffset, frame.bytes.byteLength).toString(
        'base64',
      ),
    };
  }
  const { measuredRad, gripper, state } = telemetry.robot;
  return {
    tick,
    task,
    robot,
    joints,
    state: { positionsRad: measuredRad, gripper, ageMs, supervisor: state },
    frames: seen,
  };
}
