import type { z } from 'zod';
import type { TeleopError } from '../core/errors.ts';
import type { Clock } from '../core/time/clock.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import type { WorldState } from '../messages/world-state.ts';

/**
 * The format the rig requests. A source with existing pictures (a file, a stream) may deliver other sizes.
 */
export interface PictureFormat {
  widthPx: number;
  heightPx: number;
  fpsHz: number;
  /** JPEG quality, for a source that encodes elsewhere. */
  quality: number;
}

/** Rows from the top, red, green, blue. */
export interface RgbPicture {
  kind: 'rgb';
  pixels: Uint8Array;
  widthPx: number;
  heightPx: number;
}

/** Distances along the camera's axis, rows from the top. */
export interface DepthPicture {
  kind: 'depth';
  /** 0: not measured. */
  depthMm: Uint16Array;
  widthPx: number;
  heightPx: number;
  /** Black in the view that people get. */
  farMm: number;
}

export type Picture = RgbPicture | DepthPicture | { kind: 'jpeg'; bytes: Uint8Array };

/** The robot that the cameras run beside. */
export interface RobotPose {
  readonly model: RobotModel;
  /** Fills the measured joint angles; returns the gripper, 0 open to 1 closed, or NaN while nothing is known. */
  read(jointsRad: Float64Array): number;
  /** Fills its simulated world and returns the task; empty or absent: there is none. */
  world?(out: WorldState): string;
  /** The right one of two arms in one process. */
  readonly second?: RobotPose | undefined;
}

/**
 * What a source gets from its host; it has no clock or timer itself. Everything runs on the camera thread.
 */
export interface SourceHost {
  readonly clock: Clock;
  readonly robot: RobotPose;
  /** Calls `tick` at the camera's rate until the source is disposed. Missed instants are skipped. */
  everyFrame(tick: (nowNs: number) => void): void;
  /**
   * Hands over a picture and its capture time on `clock`. Pixels belong to the source again when the call
   * returns; JPEG bytes are given away.
   */
  emit(picture: Picture, captureNs: number): void;
  /** The source has ended: it is disposed, and reopened after a pause. */
  fail(error: TeleopError): void;
}

export interface CameraSource {
  /** Stops immediately and permanently: no picture follows. May be called any number of times. */
  dispose(): void;
}

/** Default export of a file in `sources/`; the file name is the source's name in a rig. */
export interface SourcePlugin<C> {
  readonly about: string;
  readonly config: z.ZodType<C>;
  /** Throws a `TeleopError` if the camera is missing. Never blocks: other cameras share the thread. */
  open(config: C, format: PictureFormat, host: SourceHost): Promise<CameraSource>;
}
