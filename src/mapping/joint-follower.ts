import { NS_PER_S } from '../core/time/clock.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import type { HandSample } from '../messages/hand-sample.ts';
import { JointSteady } from './filters/joint-steady.ts';
import type { SolveStatus } from './ik/contract.ts';
import { createJointPath, type JointPath, type JointPathLimits, minimumJerk } from './joint-path.ts';
import type { Guidance, Mapper } from './mapper.ts';

/** Closer than this, the targets are joined without a separate drive … */
const NEAR_RAD = 0.05;
/** … over this time. */
const JOIN_NS = 0.4 * NS_PER_S;
/** Targets may exceed the joint speeds by this factor; the robot's own limits handle the rest. */
const OVER_SPEED = 1.5;
const ROUNDING_RAD = 2e-3;
/** Longest time between ticks that counts as motion of a target. */
const MAX_STEP_S = 0.1;

/**
 * Follows samples that carry joint angles directly; hands go to `hands`. After engaging, the joints are first
 * driven slowly to the targets, as when homing, and only then follow them. A target that leaps ends it:
 * `bad-input` makes the robot hold, and `onLeap` counts it. Hot path: nothing allocates.
 */
export function withJointTargets(
  hands: Mapper,
  model: RobotModel,
  limits: JointPathLimits,
  onLeap: () => void,
): Mapper {
  return new JointFollower(hands, model, limits, onLeap);
}

class JointFollower implements Mapper {
  readonly #hands: Mapper;
  readonly #onLeap: () => void;
  readonly #maxRadS: Float64Array;
  readonly #path: JointPath;
  readonly #steady: JointSteady;
  /** Goal of the drive; then the last target. */
  readonly #goalRad: Float64Array;
  /** Remaining offset to the targets when they are joined. */
  readonly #offsetRad: Float64Array;
  #phase: 'hands' | 'drive' | 'follow' = 'hands';
  #joinedNs = 0;
  #followedNs = 0;

  constructor(hands: Mapper, model: RobotModel, limits: JointPathLimits, onLeap: () => void) {
    this.#hands = hands;
    this.#onLeap = onLeap;
    this.#maxRadS = Float64Array.from(model.joints, (joint) => joint.maxVelocityRadS);
    this.#goalRad = new Float64Array(model.joints.length);
    this.#offsetRad = new Float64Array(model.joints.length);
    this.#steady = new JointSteady(model.joints.length);
    this.#path = createJointPath(model, this.#goalRad, limits);
  }

  get filterDelayNs(): number {
    if (this.#phase === 'follow') return this.#steady.delayNs;
    return this.#phase === 'hands' ? this.#hands.filterDelayNs : Number.NaN;
  }

  get guidance(): Guidance | undefined {
    return this.#phase === 'hands' ? this.#hands.guidance : undefined;
  }

  engage(sample: HandSample, measuredRad: ArrayLike<number>): 'ok' | 'bad-input' {
    this.#phase = 'hands';
    if (sample.joints === 0) return this.#hands.engage(sample, measuredRad);
    this.#hands.release();
    if (!this.#isUsable(sample)) return 'bad-input';
    for (let i = 0; i < this.#goalRad.length; i++) if (!Number.isFinite(measuredRad[i])) return 'bad-input';
    this.#begin(sample, measuredRad);
    return 'ok';
  }

  map(sample: HandSample, outRad: Float64Array): SolveStatus | 'disengaged' {
    if (this.#phase === 'hands') return sample.joints === 0 ? this.#hands.map(sample, outRad) : 'disengaged';
    if (!this.#isUsable(sample)) return 'bad-input';
    if (this.#phase === 'drive') {
      if (this.#path.at(sample.takenNs, outRad)) this.#begin(sample, outRad);
      return 'clamped';
    }
    if (this.#leaps(sample)) {
      this.#onLeap();
      return 'bad-input';
    }
    const left = 1 - minimumJerk(Math.min(1, (sample.takenNs - this.#joinedNs) / JOIN_NS));
    for (let i = 0; i < this.#goalRad.length; i++) {
      this.#goalRad[i] = sample.jointsRad[i]!;
      outRad[i] = this.#goalRad[i]! + left * this.#offsetRad[i]!;
    }
    this.#steady.apply(outRad, sample.takenNs);
    return left === 0 ? 'ok' : 'clamped';
  }

  release(): void {
    this.#hands.release();
    this.#phase = 'hands';
  }

  #isUsable(sample: HandSample): boolean {
    if (sample.joints !== this.#goalRad.length || !Number.isFinite(sample.takenNs)) return false;
    for (let i = 0; i < this.#goalRad.length; i++) if (!Number.isFinite(sample.jointsRad[i])) return false;
    return true;
  }

  /** Follows targets that are close, drives to those that are not. */
  #begin(sample: HandSample, fromRad: ArrayLike<number>): void {
    let travelRad = 0;
    for (let i = 0; i < this.#goalRad.length; i++) {
      this.#goalRad[i] = sample.jointsRad[i]!;
      this.#offsetRad[i] = fromRad[i]! - this.#goalRad[i]!;
      travelRad = Math.max(travelRad, Math.abs(this.#offsetRad[i]!));
    }
    this.#joinedNs = this.#followedNs = sample.takenNs;
    this.#steady.reset(fromRad, sample.takenNs);
    this.#phase = travelRad <= NEAR_RAD ? 'follow' : 'drive';
    if (this.#phase === 'drive') this.#path.begin(fromRad, sample.takenNs);
  }

  #leaps({ takenNs, jointsRad }: HandSample): boolean {
    const elapsedS = Math.min(MAX_STEP_S, Math.max(0, (takenNs - this.#followedNs) / NS_PER_S));
    this.#followedNs = takenNs;
    for (let i = 0; i < this.#goalRad.length; i++) {
      const stepRad = Math.abs(jointsRad[i]! - this.#goalRad[i]!);
      if (stepRad > ROUNDING_RAD + OVER_SPEED * this.#maxRadS[i]! * elapsedS) return true;
    }
    return false;
  }
}
