import { z } from 'zod';
import { NS_PER_S } from '../core/time/clock.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import { checkHand, HAND_NUMBERS, HAND_POINTS } from '../hand/points.ts';
import type { HandSample } from '../messages/hand-sample.ts';
import type { Person } from '../messages/person.ts';
import type { SolveStatus } from './ik/contract.ts';
import type { Mapper } from './mapper.ts';
import { MAX_APPROACH_STEP_S } from './placement.ts';
import { createRetargeter, type Retargeter, retargetConfig } from './retarget/retargeter.ts';
import { HandTransform, handTransformConfig } from './retarget/transform.ts';

/** The input determines the handedness and the frame of the points. */
export const handMapperConfig = z.strictObject({
  ...handTransformConfig.shape,
  ...retargetConfig.omit({ handedness: true, pointFrame: true }).shape,
  approachRadS: z
    .number()
    .min(0.1)
    .max(6)
    .default(2)
    .describe('joint speed after engaging, until the robot hand has caught up with the hand'),
});
export type HandMapperConfig = z.infer<typeof handMapperConfig>;

/** Maps fingers to the joints of a robot hand. */
export function createHandMapper(
  model: RobotModel,
  options: HandMapperConfig = handMapperConfig.parse({}),
): Mapper {
  return new HandMapper(model, options);
}

/**
 * A hand's shape is absolute: after engaging, each joint moves to its target at a limited speed, then follows
 * it at up to the model's joint speed. So a tracked hand that jumps is followed, not rejected.
 */
class HandMapper implements Mapper {
  readonly #transform: HandTransform;
  #retargeter: Retargeter;
  readonly #retarget: (person: Person) => Retargeter;
  /** Measured during the engagement. */
  #nextPerson: Person | null = null;
  readonly #approachRadS: number;
  readonly #maxRadS: Float64Array;
  readonly #pointsM = new Float64Array(HAND_NUMBERS);
  readonly #goalRad: Float64Array;
  readonly #targetRad: Float64Array;
  /** Joints that have not reached their targets since the last hold. */
  readonly #joining: Uint8Array;
  #engaged = false;
  #mappedNs = 0;

  constructor(model: RobotModel, options: HandMapperConfig) {
    const { movingAverage, bounds, scale, offsetM, approachRadS, ...retarget } = options;
    this.#transform = new HandTransform({ movingAverage, bounds, scale, offsetM });
    this.#retarget = (person) =>
      createRetargeter(model, { ...retarget, person, handedness: 'right', pointFrame: 'rh' });
    this.#retargeter = this.#retarget(retarget.person);
    this.#approachRadS = approachRadS;
    this.#maxRadS = Float64Array.from(model.joints, (joint) => joint.maxVelocityRadS);
    this.#goalRad = new Float64Array(model.joints.length);
    this.#targetRad = new Float64Array(model.joints.length);
    this.#joining = new Uint8Array(model.joints.length);
  }

  get filterDelayNs(): number {
    return this.#engaged ? this.#transform.delayNs : Number.NaN;
  }

  engage(hand: HandSample, measuredRad: ArrayLike<number>): 'ok' | 'bad-input' {
    this.#engaged = false;
    if (this.#nextPerson !== null) this.#retargeter = this.#retarget(this.#nextPerson);
    this.#nextPerson = null;
    this.#transform.reset();
    this.#retargeter.reset();
    if (this.#solve(hand) === 'bad-input') return 'bad-input';
    const target = this.#targetRad;
    for (let i = 0; i < target.length; i++) {
      target[i] = measuredRad[i] ?? Number.NaN;
      if (!Number.isFinite(target[i])) return 'bad-input';
    }
    this.#joining.fill(1);
    this.#mappedNs = hand.takenNs;
    this.#engaged = true;
    return 'ok';
  }

  map(hand: HandSample, outRad: Float64Array): SolveStatus | 'disengaged' {
    if (!this.#engaged) return 'disengaged';
    const solved = this.#solve(hand);
    if (solved === 'bad-input') return solved;
    const elapsedS = Math.max(0, Math.min((hand.takenNs - this.#mappedNs) / NS_PER_S, MAX_APPROACH_STEP_S));
    this.#mappedNs = hand.takenNs;
    if (solved === 'unreachable') {
      this.#joining.fill(1);
      return solved;
    }
    const joining = this.#approach(elapsedS);
    outRad.set(this.#targetRad);
    return joining ? 'clamped' : 'ok';
  }

  release(): void {
    this.#engaged = false;
  }

  usePerson(person: Person): void {
    this.#nextPerson = person;
  }

  /** `unreachable`: the wrist is out of bounds. */
  #solve(hand: HandSample): 'ok' | 'unreachable' | 'bad-input' {
    if (hand.points !== HAND_POINTS || !Number.isFinite(hand.takenNs)) return 'bad-input';
    if (checkHand(hand.pointsM) !== null) return 'bad-input';
    if (this.#transform.apply(hand.pointsM, hand.takenNs, this.#pointsM) !== 'ok') return 'unreachable';
    const { isLeft, takenNs } = hand;
    const reason = this.#retargeter.retarget(this.#pointsM, HAND_POINTS, this.#goalRad, isLeft, takenNs);
    return reason === null ? 'ok' : 'bad-input';
  }

  /** Moves the joints, more slowly while they are joining; false when all have arrived. */
  #approach(elapsedS: number): boolean {
    let joining = false;
    for (let i = 0; i < this.#goalRad.length; i++) {
      const gapRad = this.#goalRad[i]! - this.#targetRad[i]!;
      const maxRadS = this.#maxRadS[i]!;
      const stepRad = elapsedS * (this.#joining[i] === 0 ? maxRadS : Math.min(this.#approachRadS, maxRadS));
      const arrives = Math.abs(gapRad) <= stepRad;
      if (arrives) {
        this.#targetRad[i] = this.#goalRad[i]!;
        this.#joining[i] = 0;
      } else {
        this.#targetRad[i]! += Math.sign(gapRad) * stepRad;
        joining = true;
      }
    }
    return joining;
  }
}
