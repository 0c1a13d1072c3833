import { HAND_NUMBERS } from '../hand/points.ts';
import type { RowSource } from './recording.ts';

/** A sample of an input device. Frame: the device's world, right-handed, Y up, −Z forward. */
export interface HandSample {
  /** When the device took it, operator clock: not when it is sampled. Of joint targets, the time they are for. */
  takenNs: number;
  /** When the headset's app or page sent it, operator clock; NaN where unknown. */
  sentNs: number;
  positionM: Float64Array;
  quatXyzw: Float64Array;
  /** 0 open … 1 closed. */
  gripper: number;
  /** The operator wants the robot to follow. */
  clutch: boolean;
  /** False: the pose is not reliable and the robot must hold in the same tick. */
  tracking: boolean;
  estop: boolean;
  /** How many of `pointsM` are valid: 21, or 0 from inputs that track no fingers. */
  points: number;
  /** x, y, z of each point, in the order of `hand-points.ts`. */
  pointsM: Float64Array;
  /** The points are those of a left hand. */
  isLeft: boolean;
  /** How many of `jointsRad` are valid target angles: 0 from inputs that track a hand. */
  joints: number;
  /** Target joint angles, in the model's order: from a recording, or a policy. */
  jointsRad: Float64Array;
  /** Who moves it. The sampler presets it; inputs that know better change it. */
  source: RowSource;
}

/** The most joints of any robot. */
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
    source: 'person',
  };
}

/** `new` is the first result that carries a sample; `stale` means that the last one is too old to act on. */
export type SampleStatus = 'ok' | 'stale' | 'none';
