import { z } from 'zod';
import { TeleopError } from '../../core/errors.ts';
import type { RobotModel } from '../../geometry/robot-model.ts';
import {
  checkHand,
  HAND_NUMBERS,
  type HandReason,
  type PointsReason,
  takeHandPoints,
} from '../../hand/points.ts';
import { personSchema } from '../../messages/person.ts';
import { createAngleMapping } from './angle-mapping.ts';
import { VectorMapping } from './vector-mapping.ts';
import { WristAngle } from './wrist-angle.ts';

const perJoint = z.record(z.string(), z.number());

export const RETARGET_MODES = ['vectors', 'angles'] as const;

export const retargetConfig = z.strictObject({
  handedness: z.enum(['right', 'left']).default('right').describe('which hand of the person is tracked'),
  pointFrame: z
    .enum(['rh', 'unity'])
    .default('rh')
    .describe('frame of the points: right-handed, or Unity’s left-handed one'),
  mode: z
    .enum(RETARGET_MODES)
    .optional()
    .describe(
      'vectors: the fingertips go where the person’s are (default if the model has finger geometry); angles: joint by joint',
    ),
  filter: z
    .boolean()
    .default(true)
    .describe('vectors: steady a resting hand; adds about 10 ms of delay in motion'),
  person: personSchema
    .prefault({})
    .describe(
      'vectors: a person’s hand as `farhand calibrate hand` measured it; a rig may give the person’s name',
    ),
  enableWrist: z.boolean().default(true).describe('false: keep the wrist at its neutral position'),
  gravity: z
    .tuple([z.number(), z.number(), z.number()])
    .default([0, -1, 0])
    .describe('direction of gravity in the frame of the points, after conversion to right-handed'),
  flexion: z
    .enum(['plane', 'bones'])
    .default('plane')
    .describe(
      'angles: a finger’s MCP angle in the plane in which it bends, or from the wrist as in the document',
    ),
  thumbDipScale: z
    .number()
    .min(0)
    .max(2)
    .default(0.3)
    .describe('angles: thumb_dip as a share of the preceding joint’s angle'),
  gain: perJoint.default({}).describe('factor on the angle, per joint; mode vectors: only the wrist'),
  biasRad: perJoint.default({}).describe('added to the angle, per joint; mode vectors: only the wrist'),
});
export type RetargetConfig = z.infer<typeof retargetConfig>;

export interface Retargeter {
  /** Joint names in the order of the results, which is the model's. */
  readonly order: readonly string[];
  /**
   * Joint angles of the robot hand for `count` tracked points (21, 24, 25 or 26), within the model's range.
   * `outRad` is untouched if a reason is returned. `isLeft` overrides the configured hand. `takenNs`: when the
   * hand was seen; without it hands follow each other at 72 Hz. Mode vectors continues from the hand before.
   * Hot path: nothing allocates; one caller at a time.
   */
  retarget(
    pointsM: ArrayLike<number>,
    count: number,
    outRad: Float64Array,
    isLeft?: boolean,
    takenNs?: number,
  ): PointsReason | HandReason | null;
  /** Starts anew: the next hand does not continue from the one before. */
  reset(): void;
}

/** Fills all joints for 21 valid points. */
type Solve = (pointsM: Float64Array, isLeft: boolean, takenNs: number, outRad: Float64Array) => void;

/** `clamped: false` leaves angles beyond the model's range, which only mode angles has. */
export function createRetargeter(model: RobotModel, config: RetargetConfig, clamped = true): Retargeter {
  const order = model.joints.map((joint) => joint.name);
  checkNames(model.name, order, config);
  const minRad = Float64Array.from(model.joints, (joint) => joint.minRad);
  const maxRad = Float64Array.from(model.joints, (joint) => joint.maxRad);
  const points = new Float64Array(HAND_NUMBERS);
  const isVectors = modeOf(model, config) === 'vectors';
  const { solve, reset } = isVectors ? byVectors(model, config) : byAngles(model, config);
  const configuredLeft = config.handedness === 'left';
  return {
    order,
    reset,
    retarget(pointsM, count, outRad, isLeft = configuredLeft, takenNs = Number.NaN) {
      const reason = takeHandPoints(pointsM, count, config.pointFrame, points) ?? checkHand(points);
      if (reason !== null) return reason;
      solve(points, isLeft, takenNs, outRad);
      for (let i = 0; i < order.length && clamped; i++)
        outRad[i] = Math.min(maxRad[i]!, Math.max(minRad[i]!, outRad[i]!));
      return null;
    },
  };
}

/** The mode in effect: vectors for hands with finger geometry, unless configured otherwise. */
export const modeOf = (model: RobotModel, { mode }: RetargetConfig): 'vectors' | 'angles' =>
  mode ?? (model.hand === undefined ? 'angles' : 'vectors');

function byAngles(model: RobotModel, config: RetargetConfig): { solve: Solve; reset: () => void } {
  const map = createAngleMapping(model, config);
  return { solve: (pointsM, isLeft, _, outRad) => map(pointsM, isLeft, outRad), reset: () => {} };
}

function byVectors(model: RobotModel, config: RetargetConfig): { solve: Solve; reset: () => void } {
  const trimmed = [...Object.keys(config.gain), ...Object.keys(config.biasRad)].find((n) => n !== 'wrist');
  if (trimmed !== undefined)
    throw new TeleopError('bad-config', `gain or biasRad of ${trimmed} has no effect in mode vectors`, {
      hint: 'Remove gain and biasRad (`farhand calibrate hand` measures your hand instead), or set operator.hand.mode=angles.',
    });
  const mapping = new VectorMapping(model, config.person, config.filter);
  const wrist = new WristAngle(model, config);
  return {
    solve(pointsM, isLeft, takenNs, outRad) {
      for (let i = 0; i < outRad.length; i++) outRad[i] = model.homeRad[i]!;
      mapping.map(pointsM, isLeft, takenNs, outRad);
      wrist.map(pointsM, takenNs, outRad);
    },
    reset() {
      mapping.reset();
      wrist.reset();
    },
  };
}

function checkNames(model: string, order: readonly string[], { gain, biasRad }: RetargetConfig): void {
  const unknown = [...Object.keys(gain), ...Object.keys(biasRad)].find((name) => !order.includes(name));
  if (unknown === undefined) return;
  throw new TeleopError('bad-config', `gain or biasRad: ${model} has no joint "${unknown}"`, {
    hint: `Joints: ${order.join(', ')}.`,
  });
}
