import { z } from 'zod';
import { createChain } from '../core/chain.ts';
import { quatNormalise } from '../core/frames.ts';
import type { HandSample } from '../core/messages.ts';
import { boxSchema, type RobotModel } from '../core/robot-model.ts';
import { createAbsoluteTurn, createPlacement, createRelativeTurn } from './clutch.ts';
import { createDecoupledSolver } from './ik/decoupled.ts';
import type { SolveStatus } from './ik/solver.ts';

export const armMapperConfig = z.strictObject({
  scale: z.number().min(0.05).max(3).default(1).describe('robot metres per hand metre'),
  positionGain: z.number().min(0).max(2).default(1).describe('share of the scaled hand motion carried out'),
  orientation: z
    .enum(['relative', 'absolute'])
    .default('relative')
    .describe('relative: the tool turns as the hand does since engaging; absolute: it aligns with the hand'),
  workspace: boxSchema.optional().describe('box in the base frame that the target of link 3 may not leave'),
});

export type ArmMapperConfig = z.infer<typeof armMapperConfig>;

/** Hand poses to joint targets under a clutch. Hot path: nothing allocates; one caller at a time. */
export interface ArmMapper {
  /**
   * Takes this hand and this robot as the reference of all motion until `release`. The next `map` of the same hand
   * gives `measuredRad`: engaging never moves the robot. On `bad-input` the mapper is disengaged.
   */
  engage(hand: HandSample, measuredRad: ArrayLike<number>): 'ok' | 'bad-input';
  /** Joint targets for a hand. `outRad` is untouched on `bad-input` and `disengaged`. */
  map(hand: HandSample, outRad: Float64Array): SolveStatus | 'disengaged';
  release(): void;
}

/** Near a singularity, 3 rad/s at 100 Hz. */
const SINGULAR_STEP_RAD = 0.03;

export function createArmMapper(
  model: RobotModel,
  options: ArmMapperConfig = armMapperConfig.parse({}),
): ArmMapper {
  const chain = createChain(model);
  const solver = createDecoupledSolver(model, { singularStepRad: SINGULAR_STEP_RAD });
  const seedRad = new Float64Array(chain.joints);
  const place = createPlacement(options.scale * options.positionGain, options.workspace);
  const turn = options.orientation === 'relative' ? createRelativeTurn() : createAbsoluteTurn();
  const positionM = new Float64Array(3);
  const quatXyzw = new Float64Array(4);
  const flangeM = new Float64Array(3);
  let engaged = false;
  return {
    engage(hand, measuredRad) {
      engaged = false;
      for (let i = 0; i < seedRad.length; i++) seedRad[i] = measuredRad[i] ?? Number.NaN;
      chain.frame(seedRad, 3, positionM, quatXyzw);
      chain.frame(seedRad, chain.joints, flangeM, quatXyzw);
      if (!quatNormalise(quatXyzw, quatXyzw)) return 'bad-input';
      engaged = place.engage(hand, positionM) && turn.engage(hand, quatXyzw);
      return engaged ? 'ok' : 'bad-input';
    },
    map(hand, outRad) {
      if (!engaged) return 'disengaged';
      const placed = place.target(hand, positionM);
      if (placed === 'bad-input') return placed;
      turn.target(hand, quatXyzw);
      const solved = solver.solve(positionM, quatXyzw, seedRad, seedRad);
      if (solved !== 'bad-input') outRad.set(seedRad);
      return solved === 'ok' ? placed : solved;
    },
    release() {
      engaged = false;
    },
  };
}
