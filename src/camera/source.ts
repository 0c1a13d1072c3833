import type { z } from 'zod';
import type { TeleopError } from '../core/errors.ts';
import type { Clock } from '../core/time/clock.ts';
import type { RobotModel } from '../geometry/robot-model.ts';

/** What the rig asks of a camera. A source with pictures of its own (a file, a stream) may give other sizes. */
export interface PictureFormat {
  widthPx: number;
  heightPx: number;
  fpsHz: number;
  /** JPEG quality, for a source that has its pictures encoded elsewhere. */
  quality: number;
}

/** Rows from the top, red, green, blue. */
export interface RgbPicture {
  kind: 'rgb';
  pixels: Uint8Array;
  widthPx: number;
  heightPx: number;
}

export type Picture = RgbPicture | { kind: 'jpeg'; bytes: Uint8Array };

/** The robot beside the cameras. */
export interface RobotPose {
  readonly model: RobotModel;
  /** Fills the measured joint angles; returns the gripper, 0 open to 1 closed, or NaN while nothing is known. */
  read(jointsRad: Float64Array): number;
}

/** What a source is given; it owns no clock and no timer. All on the camera thread. */
export interface SourceHost {
  readonly clock: Clock;
  readonly robot: RobotPose;
  /** Calls `tick` at the camera's rate until the source is disposed. Missed instants are skipped. */
  everyFrame(tick: (nowNs: number) => void): void;
  /**
   * Hands over a picture and the instant at which it was taken, `clock`. RGB pixels are the source's again when the
   * call returns; JPEG bytes are given away.
   */
  emit(picture: Picture, captureNs: number): void;
  /** The source is at its end: it is disposed of, and opened again after a pause. */
  fail(error: TeleopError): void;
}

export interface CameraSource {
  /** Stops at once and for good: no picture after it. Any number of times. */
  dispose(): void;
}

/** What a file in `sources/` exports by default; its file name is the name in a rig. */
export interface SourcePlugin<C> {
  readonly about: string;
  readonly config: z.ZodType<C>;
  /** Throws a `TeleopError` when the camera is not there. Never blocks: others share the thread. */
  open(config: C, format: PictureFormat, host: SourceHost): Promise<CameraSource>;
}
