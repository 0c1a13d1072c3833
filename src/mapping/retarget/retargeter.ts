import { z } from 'zod';
import { TeleopError } from '../../core/errors.ts';
import type { RobotModel } from '../../geometry/robot-model.ts';
import {
  HAND_NUMBERS,
  type HandReason,
  type PointFrame,
  type PointsReason,
  takeHandPoints,
} from '../../hand/points.ts';
import { createFingertipFit } from './fingertips.ts';
import { createHandMeter, HAND_ANGLES, type HandAngle } from './hand-angles.ts';

const perJoint = z.record(z.string(), z.number());

export const retargetConfig = z.strictObject({
  handedness: z.enum(['right', 'left']).default('right').describe('which hand of the person is tracked'),
  pointFrame: z
    .enum(['rh', 'unity'])
    .default('rh')
    .describe('frame of the points: right-handed, or Unity’s left-handed one'),
  enableWrist: z.boolean().default(true).describe('false: keep the wrist at its neutral position'),
  gravity: z
    .tuple([z.number(), z.number(), z.number()])
    .default([0, -1, 0])
    .describe('direction of gravity in the frame of the points, after conversion to right-handed'),
  thumbDipScale: z
    .number()
    .min(0)
    .max(2)
    .default(0.3)
    .describe('thumb_dip as a share of the preceding joint’s angle'),
  mode: z
    .enum(['geometric', 'fingertip'])
    .default('geometric')
    .describe('fingertip: adjust thumb and nearest finger until their tips are as far apart as the person’s'),
  gain: perJoint.default({}).describe('factor on the angle, per joint'),
  biasRad: perJoint.default({}).describe('added to the angle, per joint'),
});
export type RetargetConfig = z.infer<typeof retargetConfig>;

export interface Retargeter {
  /** Joint names in the order of the results, which is the model's. */
  readonly order: readonly string[];
  /**
   * Joint angles of the robot hand for `count` tracked points (21, 24, 25 or 26). `outRad` is untouched if a
   * reason is returned. `isLeft` overrides the configured hand. Hot path: nothing allocates; one caller at a
   * time.
   */
  retarget(
    pointsM: ArrayLike<number>,
    count: number,
    outRad: Float64Array,
    isLeft?: boolean,
  ): PointsReason | HandReason | null;
  /** The same before the clamp to the model's range of motion, and before `fingertip`. */
  raw(
    pointsM: ArrayLike<number>,
    count: number,
    outRad: Float64Array,
    isLeft?: boolean,
  ): PointsReason | HandReason | null;
}

/** thumb_dip is not measured but derived. */
type Source = HandAngle | 'thumb_dip';

/** The v2 hand counts its thumb joints from the CMC joint. */
const V2_THUMB: Record<string, Source> = {
  thumb_cmc: 'thumb_mcp',
  thumb_mcp: 'thumb_pip',
};

export function createRetargeter(model: RobotModel, config: RetargetConfig): Retargeter {
  const order = model.joints.map((joint) => joint.name);
  checkNames(model.name, order, config);
  const isV2 = order.includes('thumb_cmc');
  const sources = order.map((name) => sourceOf(name, isV2, model.name));
  const at = sources.map((source) => HAND_ANGLES.indexOf(source === 'thumb_dip' ? 'thumb_pip' : source));
  const isWrist = sources.map((source) => source === 'wrist' && !config.enableWrist);
  const share = sources.map((source) => (source === 'thumb_dip' ? config.thumbDipScale : 1));
  const gain = Float64Array.from(order, (name, i) => share[i]! * (config.gain[name] ?? 1));
  const biasRad = Float64Array.from(order, (name) => config.biasRad[name] ?? 0);
  const minRad = Float64Array.from(model.joints, (joint) => joint.minRad);
  const maxRad = Float64Array.from(model.joints, (joint) => joint.maxRad);
  const meter = createHandMeter(config.gravity);
  const points = new Float64Array(HAND_NUMBERS);
  const angles = new Float64Array(HAND_ANGLES.length);
  const configuredLeft = config.handedness === 'left';
  const frame: PointFrame = config.pointFrame;
  const fingertips = config.mode === 'fingertip' ? createFingertipFit(model) : null;

  const raw: Retargeter['raw'] = (pointsM, count, outRad, isLeft = configuredLeft) => {
    const reason = takeHandPoints(pointsM, count, frame, points) ?? meter.measure(points, isLeft, angles);
    if (reason !== null) return reason;
    for (let i = 0; i < order.length; i++)
      outRad[i] = isWrist[i] ? model.homeRad[i]! : angles[at[i]!]! * gain[i]! + biasRad[i]!;
    return null;
  };
  return {
    order,
    raw,
    retarget(pointsM, count, outRad, isLeft = configuredLeft) {
      const reason = raw(pointsM, count, outRad, isLeft);
      if (reason !== null) return reason;
      for (let i = 0; i < order.length; i++)
        outRad[i] = Math.min(maxRad[i]!, Math.max(minRad[i]!, outRad[i]!));
      fingertips?.fit(points, isLeft, outRad);
      return null;
    },
  };
}

function sourceOf(name: string, isV2: boolean, model: string): Source {
  const source = isV2 ? (V2_THUMB[name] ?? name) : name;
  if (source === 'thumb_dip' || HAND_ANGLES.includes(source as HandAngle)) return source as Source;
  throw new TeleopError('bad-model', `joint "${name}" of ${model} cannot be driven by a hand`, {
    hint: `Use the joint names ${HAND_ANGLES.join(', ')}.`,
  });
}

function checkNames(model: string, order: readonly string[], { gain, biasRad }: RetargetConfig): void {
  const unknown = [...Object.keys(gain), ...Object.keys(biasRad)].find((name) => !order.includes(name));
  if (unknown === undefined) return;
  throw new TeleopError('bad-config', `gain or biasRad: ${model} has no joint "${unknown}"`, {
    hint: `Joints: ${order.join(', ')}.`,
  });
}
