import { z } from 'zod';
import { TeleopError } from '../core/errors.ts';
import { NS_PER_S } from '../core/time/clock.ts';
import { type Chain, createChain } from '../geometry/chain.ts';
import { quatNormalise } from '../geometry/frames.ts';
import { type Box, boxSchema, type RobotModel } from '../geometry/robot-model.ts';
import type { HandSample } from '../messages/hand-sample.ts';
import { chooseFilter, filterSetting } from './filters/choose.ts';
import type { HandPose, PoseFilter } from './filters/filter.ts';
import type { Solver, SolveStatus } from './ik/contract.ts';
import { createSolver, METHODS, type Method, methodsOf } from './ik/solver.ts';
import type { Mapper } from './mapper.ts';
import {
  type Clamp,
  createAbsolutePlacement,
  createClamp,
  createRelativePlacement,
  MAX_APPROACH_STEP_S,
  type Placement,
} from './placement.ts';
import { quatFromRpyDeg, rigFrame } from './rig-frame.ts';
import { createAbsoluteTurn, createRelativeTurn, type Turn } from './turn.ts';

const vector = z.tuple([z.number(), z.number(), z.number()]);
const angles = z.tuple([
  z.number().min(-360).max(360),
  z.number().min(-360).max(360),
  z.number().min(-360).max(360),
]);

/** Largest step near a singularity: 3 rad/s at 100 Hz. */
const SINGULAR_STEP_RAD = 0.03;

/** The method set in the rig, or the best one the model supports. */
export const methodFor = (model: RobotModel, wanted: Method | undefined): Method =>
  wanted ?? methodsOf(model)[0]!;

export const armMapperConfig = z.strictObject({
  ik: z
    .enum(METHODS)
    .optional()
    .describe('inverse kinematics; default: decoupled for family ur, analytic for piper, else numeric'),
  position: z
    .enum(['relative', 'absolute'])
    .default('relative')
    .describe(
      'relative: the robot follows the hand’s motion since engaging; absolute: it goes to the hand’s position',
    ),
  orientation: z
    .enum(['relative', 'absolute'])
    .default('relative')
    .describe(
      'relative: the tool follows the hand’s rotation since engaging; absolute: it aligns with the hand',
    ),
  scale: z.number().min(0.05).max(3).default(1).describe('robot metres per hand metre'),
  positionGain: z
    .number()
    .min(0)
    .max(2)
    .default(1)
    .describe('position relative: share of the scaled hand motion that is applied'),
  rotationOffsetDeg: angles
    .default([0, 0, 0])
    .describe('roll, pitch, yaw: rotates hand motion about the axes of the robot’s base'),
  positionOffsetM: vector
    .default([0, 0, 0])
    .describe('position absolute: origin of the hand’s world in the base frame'),
  toolRotationDeg: angles
    .default([180, 0, 0])
    .describe(
      'orientation absolute: roll, pitch, yaw of the tool in the hand; default: tool Z ahead, X right',
    ),
  workspace: boxSchema
    .optional()
    .describe('box in the base frame that bounds the target: link 3 if decoupled, else the flange'),
  filter: filterSetting,
});

export type ArmMapperConfig = z.infer<typeof armMapperConfig>;

/** Hand poses to joint targets. */
export type ArmMapper = Mapper;

/** A hand further from its origin than this is rejected. */
const MAX_HAND_M = 1000;
/** After `unreachable` the hand may be anywhere: joints move to their new targets at most this fast. */
const REJOIN_RAD_S = 0.5;

export function createArmMapper(
  model: RobotModel,
  options: ArmMapperConfig = armMapperConfig.parse({}),
  solver: Solver = createSolver(model, methodFor(model, options.ik), { singularStepRad: SINGULAR_STEP_RAD }),
): ArmMapper {
  return new PoseMapper(model, options, solver);
}

class PoseMapper implements ArmMapper {
  readonly #chain: Chain;
  readonly #lead: number;
  readonly #filter: PoseFilter;
  readonly #place: Placement;
  readonly #turn: Turn;
  readonly #clamp: Clamp;
  readonly #solver: Solver;
  readonly #pose: HandPose = { takenNs: 0, positionM: new Float64Array(3), quatXyzw: new Float64Array(4) };
  readonly #positionM = new Float64Array(3);
  readonly #quatXyzw = new Float64Array(4);
  /** The last targets, used as the seed for the next. */
  readonly #seedRad: Float64Array;
  readonly #solvedRad: Float64Array;
  #engaged = false;
  #rejoining = false;
  #mappedNs = 0;

  constructor(model: RobotModel, options: ArmMapperConfig, solver: Solver) {
    const { place, turn } = shapingOf(options);
    this.#chain = createChain(model);
    this.#lead = methodFor(model, options.ik) === 'decoupled' ? 3 : model.joints.length;
    this.#filter = chooseFilter(options.filter)!;
    this.#place = place;
    this.#turn = turn;
    this.#clamp = createClamp(boxFor(model, this.#lead, options));
    this.#solver = solver;
    this.#seedRad = new Float64Array(this.#chain.joints);
    this.#solvedRad = new Float64Array(this.#chain.joints);
  }

  get filterDelayNs(): number {
    return this.#engaged ? this.#filter.delayNs : Number.NaN;
  }

  engage(hand: HandSample, measuredRad: ArrayLike<number>): 'ok' | 'bad-input' {
    const [pose, seedRad, positionM, quatXyzw] = [this.#pose, this.#seedRad, this.#positionM, this.#quatXyzw];
    for (let i = 0; i < seedRad.length; i++) seedRad[i] = measuredRad[i] ?? Number.NaN;
    this.#chain.frame(seedRad, this.#chain.joints, positionM, quatXyzw);
    this.#engaged = admit(hand, pose) && quatNormalise(quatXyzw, quatXyzw);
    if (!this.#engaged) return 'bad-input';
    this.#filter.reset(pose);
    this.#turn.engage(pose, quatXyzw);
    this.#chain.frame(seedRad, this.#lead, positionM, quatXyzw);
    this.#place.engage(pose, positionM);
    this.#clamp.engage(positionM);
    this.#rejoining = false;
    this.#mappedNs = hand.takenNs;
    return 'ok';
  }

  map(hand: HandSample, outRad: Float64Array): SolveStatus | 'disengaged' {
    if (!this.#engaged) return 'disengaged';
    const pose = this.#pose;
    if (!admit(hand, pose)) return 'bad-input';
    this.#filter.apply(pose);
    this.#place.target(pose, this.#positionM);
    this.#turn.target(pose, this.#quatXyzw);
    const clamped = this.#clamp.apply(this.#positionM);
    const solved = this.#solver.solve(this.#positionM, this.#quatXyzw, this.#seedRad, this.#solvedRad);
    const elapsedS = Math.max(0, Math.min((hand.takenNs - this.#mappedNs) / NS_PER_S, MAX_APPROACH_STEP_S));
    this.#mappedNs = hand.takenNs;
    if (solved === 'unreachable') this.#rejoining = true;
    if (solved === 'unreachable' || solved === 'bad-input') return solved;
    if (this.#rejoining) this.#rejoining = !approach(this.#seedRad, this.#solvedRad, REJOIN_RAD_S * elapsedS);
    else this.#seedRad.set(this.#solvedRad);
    outRad.set(this.#seedRad);
    return clamped || this.#rejoining ? 'clamped' : solved;
  }

  release(): void {
    this.#engaged = false;
  }
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

/** Copies a valid hand; otherwise returns false and leaves `pose` in any state. */
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

/** The rig's box, intersected with the model's if the flange is the lead frame. */
function boxFor(model: RobotModel, lead: number, { workspace }: ArmMapperConfig): Box | undefined {
  if (lead !== model.joints.length || model.workspace === undefined) return workspace;
  if (workspace === undefined) return model.workspace;
  const minM = workspace.minM.map((m, i) => Math.max(m, model.workspace!.minM[i]!));
  const maxM = workspace.maxM.map((m, i) => Math.min(m, model.workspace!.maxM[i]!));
  const joint = boxSchema.safeParse({ minM, maxM });
  if (joint.success) return joint.data;
  throw new TeleopError(
    'bad-config',
    `operator.mapper.workspace does not overlap the workspace of ${model.name}`,
    {
      hint: `Set a box that overlaps ${JSON.stringify(model.workspace)}.`,
    },
  );
}
