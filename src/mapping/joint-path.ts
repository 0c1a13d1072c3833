import { NS_PER_S } from '../core/time/clock.ts';
import type { RobotModel } from '../geometry/robot-model.ts';

/** Peaks of the minimum-jerk profile 10τ³ − 15τ⁴ + 6τ⁵ over unit distance and time. */
const PEAK_VELOCITY = 15 / 8;
const PEAK_ACCELERATION = 10 / Math.sqrt(3);
const PEAK_JERK = 60;
/** Share of the model's acceleration and jerk limits that a path uses. */
const EASE = 0.5;

/** Share of the distance at a share of the time: zero speed and acceleration at both ends. */
export function minimumJerk(part: number): number {
  return part * part * part * (10 + part * (6 * part - 15));
}

export interface JointPathLimits {
  /** No joint faster than this … */
  speedRadS: number;
  /** … or than this share of its own limit. */
  speedFraction: number;
}

/** Minimum-jerk motion from rest to rest in joint space, all joints together. Hot path: nothing allocates. */
export interface JointPath {
  readonly durationNs: number;
  begin(fromRad: ArrayLike<number>, nowNs: number): void;
  /** Joint positions at an instant; true once the path has ended. */
  at(nowNs: number, outRad: Float64Array): boolean;
}

export function createJointPath(
  model: RobotModel,
  toRad: ArrayLike<number>,
  limits: JointPathLimits,
): JointPath {
  const joints = model.joints.map((joint) => ({
    velocity: Math.min(limits.speedRadS, joint.maxVelocityRadS * limits.speedFraction),
    acceleration: EASE * joint.maxAccelerationRadS2,
    jerk: EASE * joint.maxJerkRadS3,
  }));
  const fromRad = new Float64Array(joints.length);
  let startNs = 0;
  let durationNs = 0;
  return {
    get durationNs() {
      return durationNs;
    },
    begin(measuredRad, nowNs) {
      startNs = nowNs;
      let longestS = 0;
      for (let i = 0; i < fromRad.length; i++) {
        fromRad[i] = measuredRad[i]!;
        const travelRad = Math.abs(toRad[i]! - fromRad[i]!);
        const { velocity, acceleration, jerk } = joints[i]!;
        longestS = Math.max(
          longestS,
          (PEAK_VELOCITY * travelRad) / velocity,
          Math.sqrt((PEAK_ACCELERATION * travelRad) / acceleration),
          Math.cbrt((PEAK_JERK * travelRad) / jerk),
        );
      }
      durationNs = longestS * NS_PER_S;
    },
    at(nowNs, outRad) {
      const part = durationNs > 0 ? Math.min(1, Math.max(0, (nowNs - startNs) / durationNs)) : 1;
      const share = minimumJerk(part);
      for (let i = 0; i < fromRad.length; i++)
        outRad[i] = part === 1 ? toRad[i]! : fromRad[i]! + share * (toRad[i]! - fromRad[i]!);
      return part === 1;
    },
  };
}
