import { z } from 'zod';
import { TeleopError } from '../core/errors.ts';
import { NS_PER_S } from '../core/time/clock.ts';
import { type Chain, createChain } from '../geometry/chain.ts';
import { quatNormalise } from '../geometry/frames.ts';
import { type Box, boxSchema, type RobotModel } from '../geometry/robot-model.ts';
import type { HandSample } from '../messages/hand-sample.ts';
import type { LimitedBy } from '../messages/robot-state.ts';
import { chooseFilter, filterSetting } from './filters/choose.ts';
import type { HandPose, PoseFilter } from './filters/filter.ts';
import { Guide, type GuideOptions } from './guide/guide.ts';
import type { Solver, SolveStatus } from './ik/contract.ts';
import { decoupledLead } from './ik/decoupled-serial.ts';
import { createSolver, METHODS, type Method, methodsOf } from './ik/solver.ts';
import type { Guidance, Mapper } from './mapper.ts';
import {
  type Clamp,
  createAbsolutePlacement,
  createAdaptivePlacement,
  createClamp,
  createRelativePlacement,
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

type Ik = 'guide' | Method;

/** The frame that follows the hand: of a decoupled wrist its near side, else the flange. */
function leadOf(model: RobotModel, ik: Ik): number {
  if ((ik === 'guide' ? methodsOf(model)[0] : ik) !== 'decoupled') return model.joints.length;
  return model.family === 'ur' ? 3 : decoupledLead(model);
}

export const armMapperConfig = z.strictObject({
  ik: z
    .enum(['guide', ...METHODS])
    .default('guide')
    .describe(
      'guide: keeps to the hand’s path and slides along limits; decoupled, analytic, numeric: stop at them',
    ),
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
  fineScale: z
    .number()
    .min(0.02)
    .max(3)
    .optional()
    .describe('position relative: scale for a slow hand (below 0.05 m/s); grows to `scale` at 0.25 m/s'),
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
    .describe(
      'box in the base frame that bounds the target: the near side of the wrist if decoupled, else the flange',
    ),
  filter: filterSetting,
});

export type ArmMapperConfig = z.infer<typeof armMapperConfig>;

/** Hand poses to joint targets. */
export type ArmMapper = Mapper;

/** A hand further from its origin than this is rejected. */
const MAX_HAND_M = 1000;
/** After `unreachable` the hand may be anywhere: joints move to their new targets at most this fast. */
const REJOIN_RAD_S = 0.5;
/** Samples further apart than this count as this far apart. */
const MAX_STEP_S = 0.1;

/** What the arm has around it, and its limits: the rig's settings of the robot. */
export type ArmSurroundings = Omit<GuideOptions, 'lead' | 'around'> & {
  around: Omit<GuideOptions['around'], 'guidedBox'>;
};

/** Nothing around the arm, and the model's own limits. */
const bareArm = ({ joints }: RobotModel): ArmSurroundings => ({
  around: { groundZM: null, obstacles: [], neighbour: null, stopM: 0.01, workspace: null },
  minRad: joints.map(({ minRad }) => minRad),
  maxRad: joints.map(({ maxRad }) => maxRad),
  velocityRadS: joints.map(({ maxVelocityRadS }) => maxVelocityRadS),
  accelerationRadS2: joints.map(({ maxAccelerationRadS2 }) => maxAccelerationRadS2),
});

export function createArmMapper(
  model: RobotModel,
  options: ArmMapperConfig = armMapperConfig.parse({}),
  surroundings: ArmSurroundings = bareArm(model),
): ArmMapper {
  const lead = leadOf(model, options.ik);
  const box = boxFor(model, lead, options);
  const arm =
    options.ik === 'guide'
      ? new GuidedArm(
          new Guide(model, {
            ...surroundings,
            lead,
            around: { ...surroundings.around, guidedBox: box ?? null },
          }),
        )
      : new SolvedArm(
          createSolver(model, options.ik, { singularStepRad: SINGULAR_STEP_RAD }),
          createClamp(box),
          model.joints.length,
        );
  return new PoseMapper(model, options, lead, arm);
}

/** The same with a given solver. */
export function createSolvedMapper(model: RobotModel, options: ArmMapperConfig, solver: Solver): ArmMapper {
  const lead = leadOf(model, options.ik);
  const arm = new SolvedArm(solver, createClamp(boxFor(model, lead, options)), model.joints.length);
  return new PoseMapper(model, options, lead, arm);
}

/** How a pose becomes joint angles. Hot path: nothing allocates. */
interface Solving {
  readonly qRad: Float64Array;
  readonly limitedBy: LimitedBy;
  readonly towards: Float64Array;
  engage(qRad: Float64Array, positionM: Float64Array): void;
  solve(positionM: Float64Array, quatXyzw: Float64Array, dtS: number): SolveStatus;
  neighbourAt?(positionsRad: ArrayLike<number>): void;
}

class GuidedArm implements Solving {
  readonly #guide: Guide;

  constructor(guide: Guide) {
    this.#guide = guide;
  }

  get qRad(): Float64Array {
    return this.#guide.qRad;
  }

  get limitedBy(): LimitedBy {
    return this.#guide.limitedBy;
  }

  get towards(): Float64Array {
    return this.#guide.towards;
  }

  engage(qRad: Float64Array): void {
    this.#guide.engage(qRad);
  }

  solve(positionM: Float64Array, quatXyzw: Float64Array, dtS: number): SolveStatus {
    if (dtS > 0) this.#guide.follow(positionM, quatXyzw, dtS);
    return this.#guide.limitedBy === '' ? 'ok' : 'clamped';
  }

  neighbourAt(positionsRad: ArrayLike<number>): void {
    this.#guide.neighbourAt(positionsRad);
  }
}

/** A closed form or an iteration that stops at limits. */
class SolvedArm implements Solving {
  /** The last targets, used as the seed for the next. */
  readonly qRad: Float64Array;
  limitedBy: LimitedBy = '';
  readonly towards = new Float64Array(3);
  readonly #solver: Solver;
  readonly #clamp: Clamp;
  readonly #solvedRad: Float64Array;
  #rejoining = false;

  constructor(solver: Solver, clamp: Clamp, joints: number) {
    this.#solver = solver;
    this.#clamp = clamp;
    this.qRad = new Float64Array(joints);
    this.#solvedRad = new Float64Array(joints);
  }

  engage(qRad: Float64Array, positionM: Float64Array): void {
    this.qRad.set(qRad);
    this.#clamp.engage(positionM);
    this.#rejoining = false;
  }

  solve(positionM: Float64Array, quatXyzw: Float64Array, dtS: number): SolveStatus {
    const clamped = this.#clamp.apply(positionM);
    const solved = this.#solver.solve(positionM, quatXyzw, this.qRad, this.#solvedRad);
    this.limitedBy = clamped ? 'workspace' : solved === 'ok' ? '' : 'reach';
    if (solved === 'unreachable') this.#rejoining = true;
    if (solved === 'unreachable' || solved === 'bad-input') return solved;
    if (this.#rejoining) this.#rejoining = !approach(this.qRad, this.#solvedRad, REJOIN_RAD_S * dtS);
    else this.qRad.set(this.#solvedRad);
    return clamped || this.#rejoining ? 'clamped' : solved;
  }
}

class PoseMapper implements ArmMapper, Guidance {
  readonly lead: number;
  readonly #chain: Chain;
  readonly #filter: PoseFilter;
  readonly #place: Placement;
  readonly #turn: Turn;
  readonly #arm: Solving;
  readonly #pose: HandPose = { takenNs: 0, positionM: new Float64Array(3), quatXyzw: new Float64Array(4) };
  readonly #positionM = new Float64Array(3);
  readonly #quatXyzw = new Float64Array(4);
  readonly #measuredRad: Float64Array;
  #engaged = false;
  #mappedNs = 0;

  constructor(model: RobotModel, options: ArmMapperConfig, lead: number, arm: Solving) {
    const { place, turn } = shapingOf(options);
    this.lead = lead;
    this.#chain = createChain(model);
    this.#filter = chooseFilter(options.filter)!;
    this.#place = place;
    this.#turn = turn;
    this.#arm = arm;
    this.#measuredRad = new Float64Array(this.#chain.joints);
  }

  get filterDelayNs(): number {
    return this.#engaged ? this.#filter.delayNs : Number.NaN;
  }

  get guidance(): Guidance {
    return this;
  }

  get limitedBy(): LimitedBy {
    return this.#engaged ? this.#arm.limitedBy : '';
  }

  get towards(): Float64Array {
    return this.#arm.towards;
  }

  engage(hand: HandSample, measuredRad: ArrayLike<number>): 'ok' | 'bad-input' {
    const [pose, seedRad, positionM, quatXyzw] = [
      this.#pose,
      this.#measuredRad,
      this.#positionM,
      this.#quatXyzw,
    ];
    for (let i = 0; i < seedRad.length; i++) seedRad[i] = measuredRad[i] ?? Number.NaN;
    this.#chain.frame(seedRad, this.#chain.joints, positionM, quatXyzw);
    this.#engaged = admit(hand, pose) && quatNormalise(quatXyzw, quatXyzw);
    if (!this.#engaged) return 'bad-input';
    this.#filter.reset(pose);
    this.#turn.engage(pose, quatXyzw);
    this.#chain.frame(seedRad, this.lead, positionM, quatXyzw);
    this.#place.engage(pose, positionM);
    this.#arm.engage(seedRad, positionM);
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
    const elapsedS = Math.max(0, Math.min((hand.takenNs - this.#mappedNs) / NS_PER_S, MAX_STEP_S));
    this.#mappedNs = hand.takenNs;
    const solved = this.#arm.solve(this.#positionM, this.#quatXyzw, elapsedS);
    if (solved === 'unreachable' || solved === 'bad-input') return solved;
    outRad.set(this.#arm.qRad);
    return solved;
  }

  wanted(hand: HandSample, outM: Float64Array, outQuatXyzw: Float64Array): boolean {
    if (!this.#engaged || !admit(hand, this.#pose)) return false;
    // Only `map` moves on in time.
    this.#pose.takenNs = this.#mappedNs;
    this.#place.target(this.#pose, outM);
    this.#turn.target(this.#pose, outQuatXyzw);
    return true;
  }

  neighbourAt(positionsRad: ArrayLike<number>): void {
    this.#arm.neighbourAt?.(positionsRad);
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
        ? relativePlacement(options, baseFromVr)
        : createAbsolutePlacement(options.scale, baseFromVr),
    turn:
      options.orientation === 'relative'
        ? createRelativeTurn(baseFromVr)
        : createAbsoluteTurn(baseFromVr, quatFromRpyDeg(options.toolRotationDeg)),
  };
}

function relativePlacement(
  { scale, fineScale, positionGain }: ArmMapperConfig,
  baseFromVr: ReturnType<typeof rigFrame>,
): Placement {
  const coarse = scale * positionGain;
  return fineScale === undefined
    ? createRelativePlacement(coarse, baseFromVr)
    : createAdaptivePlacement(fineScale * positionGain, coarse, baseFromVr);
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
