import { z } from 'zod';
import { createChain } from '../core/chain.ts';
import { NS_PER_S } from '../core/clock.ts';
import { TeleopError } from '../core/errors.ts';
import { quatNormalise } from '../core/frames.ts';
import type { HandSample } from '../core/messages.ts';
import { type Box, boxSchema, type RobotModel } from '../core/robot-model.ts';
import { chooseFilter, filterSetting } from './filters/choose.ts';
import type { HandPose } from './filters/filter.ts';
import {
  createAbsolutePlacement,
  createClamp,
  createRelativePlacement,
  MAX_APPROACH_STEP_S,
  type Placement,
} from './placement.ts';
import { quatFromRpyDeg, rigFrame } from './rig-frame.ts';
import { IK_METHODS, leadFrame, methodFor, type PoseSolver, type SolveStatus, solverFor } from './solver.ts';
import { createAbsoluteTurn, createRelativeTurn, type Turn } from './turn.ts';

const vector = z.tuple([z.number(), z.number(), z.number()]);
const angles = z.tuple([
  z.number().min(-360).max(360),
  z.number().min(-360).max(360),
  z.number().min(-360).max(360),
]);

export const armMapperConfig = z.strictObject({
  ik: z
    .enum(IK_METHODS)
    .optional()
    .describe('how joint angles are found; unset: decoupled for family ur, analytic for piper, numeric else'),
  position: z
    .enum(['relative', 'absolute'])
    .default('relative')
    .describe(
      'relative: the robot moves as the hand does since engaging; absolute: it goes to where the hand is',
    ),
  orientation: z
    .enum(['relative', 'absolute'])
    .default('relative')
    .describe('relative: the tool turns as the hand does since engaging; absolute: it aligns with the hand'),
  scale: z.number().min(0.05).max(3).default(1).describe('robot metres per hand metre'),
  positionGain: z
    .number()
    .min(0)
    .max(2)
    .default(1)
    .describe('position relative: share of the scaled hand motion carried out'),
  rotationOffsetDeg: angles
    .default([0, 0, 0])
    .describe('roll, pitch, yaw: turns hand motion about the axes of the robot’s base'),
  positionOffsetM: vector
    .default([0, 0, 0])
    .describe('position absolute: where in the base frame the origin of the hand’s world is'),
  toolRotationDeg: angles
    .default([180, 0, 0])
    .describe(
      'orientation absolute: roll, pitch, yaw of the tool in the hand; default: tool Z ahead, X right',
    ),
  workspace: boxSchema
    .optional()
    .describe('box in the base frame that the target may not leave: link 3 if decoupled, else the flange'),
  filter: filterSetting,
});

export type ArmMapperConfig = z.infer<typeof armMapperConfig>;

/** Hand poses to joint targets under a clutch. Hot path: nothing allocates; one caller at a time. */
export interface ArmMapper {
  /** How far the filter makes the targets lag behind the hand, at this moment; NaN without a filter. */
  readonly filterDelayNs: number;
  /**
   * Takes this hand and this robot as the reference of all motion until `release`. The next `map` of the same hand
   * gives `measuredRad`: engaging never moves the robot. On `bad-input` the mapper is disengaged.
   */
  engage(hand: HandSample, measuredRad: ArrayLike<number>): 'ok' | 'bad-input';
  /** Joint targets for a hand. `outRad` is untouched on `bad-input`, `unreachable` and `disengaged`. */
  map(hand: HandSample, outRad: Float64Array): SolveStatus | 'disengaged';
  release(): void;
}

/** A hand farther from its origin than this is no hand. */
const MAX_HAND_M = 1000;
/** After `unreachable` the hand may be anywhere: joints go to their new targets no faster than this. */
const REJOIN_RAD_S = 0.5;

export function createArmMapper(
  model: RobotModel,
  options: ArmMapperConfig = armMapperConfig.parse({}),
  solver: PoseSolver = solverFor(model, methodFor(model, options.ik)),
): ArmMapper {
  const chain = createChain(model);
  const lead = leadFrame(model, methodFor(model, options.ik));
  const filter = chooseFilter(options.filter)!;
  const { place, turn } = shapingOf(options);
  const clamp = createClamp(boxFor(model, lead, options));
  const pose: HandPose = { takenNs: 0, positionM: new Float64Array(3), quatXyzw: new Float64Array(4) };
  const seedRad = new Float64Array(chain.joints);
  const solvedRad = new Float64Array(chain.joints);
  const positionM = new Float64Array(3);
  const quatXyzw = new Float64Array(4);
  let engaged = false;
  let rejoining = false;
  let mappedNs = 0;
  return {
    get filterDelayNs() {
      return engaged ? filter.delayNs : Number.NaN;
    },
    engage(hand, measuredRad) {
      for (let i = 0; i < seedRad.length; i++) seedRad[i] = measuredRad[i] ?? Number.NaN;
      chain.frame(seedRad, chain.joints, positionM, quatXyzw);
      engaged = admit(hand, pose) && quatNormalise(quatXyzw, quatXyzw);
      if (!engaged) return 'bad-input';
      turn.engage(pose, quatXyzw);
      chain.frame(seedRad, lead, positionM, quatXyzw);
      filter.reset(pose);
      place.engage(pose, positionM);
      clamp.engage(positionM);
      rejoining = false;
      mappedNs = hand.takenNs;
      return 'ok';
    },
    map(hand, outRad) {
      if (!engaged) return 'disengaged';
      if (!admit(hand, pose)) return 'bad-input';
      filter.apply(pose);
      place.target(pose, positionM);
      turn.target(pose, quatXyzw);
      const clamped = clamp.apply(positionM);
      const solved = solver.solve(positionM, quatXyzw, seedRad, solvedRad);
      const elapsedS = Math.max(0, Math.min((hand.takenNs - mappedNs) / NS_PER_S, MAX_APPROACH_STEP_S));
      mappedNs = hand.takenNs;
      if (solved === 'unreachable') rejoining = true;
      if (solved === 'unreachable' || solved === 'bad-input') return solved;
      if (rejoining) rejoining = !approach(seedRad, solvedRad, REJOIN_RAD_S * elapsedS);
      else seedRad.set(solvedRad);
      outRad.set(seedRad);
      return clamped || rejoining ? 'clamped' : solved;
    },
    release() {
      engaged = false;
    },
  };
}

function shapingOf(options: ArmMapperConfig): { place: Placement; turn: Turn } {
  const baseFromVr = rigFrame(options.rotationOffsetDeg, options.positionOffsetM);
  return {
    place:
      options.position === 'relative'
        ? createRelativePlacement(options.scale * options.positionGain, baseFromVr)
        : createAbsolutePlacement(options.scale, baseFromVr),
    turn:
      options.orientation === 'relative'
        ? createRelativeTurn(baseFromVr)
        : createAbsoluteTurn(baseFromVr, quatFromRpyDeg(options.toolRotationDeg)),
  };
}

/** Copies a hand that can be trusted to be one; false, with `pose` in any state, for everything else. */
function admit(hand: HandSample, pose: HandPose): boolean {
  for (let i = 0; i < 3; i++) if (!(Math.abs(hand.positionM[i]!) <= MAX_HAND_M)) return false;
  if (!Number.isFinite(hand.takenNs)) return false;
  pose.takenNs = hand.takenNs;
  pose.positionM.set(hand.positionM);
  return quatNormalise(hand.quatXyzw, pose.quatXyzw);
}

/** Moves each joint by at most `stepRad`; true when all have arrived. */
function approach(fromRad: Float64Array, toRad: Float64Array, stepRad: number): boolean {
  let arrived = true;
  for (let i = 0; i < fromRad.length; i++) {
    const gapRad = toRad[i]! - fromRad[i]!;
    const moveRad = Math.min(Math.max(gapRad, -stepRad), stepRad);
    if (moveRad !== gapRad) arrived = false;
    fromRad[i]! += moveRad;
  }
  return arrived;
}

/** The rig's box; where the flange leads, within the model's as well. */
function boxFor(model: RobotModel, lead: number, { workspace }: ArmMapperConfig): Box | undefined {
  if (lead !== model.joints.length || model.workspace === undefined) return workspace;
  if (workspace === undefined) return model.workspace;
  const minM = workspace.minM.map((m, i) => Math.max(m, model.workspace!.minM[i]!));
  const maxM = workspace.maxM.map((m, i) => Math.min(m, model.workspace!.maxM[i]!));
  const joint = boxSchema.safeParse({ minM, maxM });
  if (joint.success) return joint.data;
  throw new TeleopError('bad-config', `operator.mapper.workspace lies outside that of ${model.name}`, {
    hint: `Choose a box that overlaps ${JSON.stringify(model.workspace)}.`,
  });
}
