import { NS_PER_S } from '../core/time/clock.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import { createJointPath, type JointPath, type JointPathLimits } from '../mapping/joint-path.ts';
import type { RobotState } from '../messages/robot-state.ts';

/** A joint slower than this is at rest. */
const REST_RAD_S = 0.05;
const ARRIVED_RAD = 2e-3;
const SETTLE_NS = 3 * NS_PER_S;
const ARRIVE_NS = 2 * NS_PER_S;

/** `wait`: no new command yet. `begin`: the first pose of the path, which is the measured one. */
export type HomingStep = 'wait' | 'begin' | 'drive' | 'done' | 'failed';

/**
 * Drives the joints from the measured pose to the model's home pose: waits for the robot to come to rest,
 * drives, then waits for it to arrive. Hot path: nothing allocates.
 */
export class Homing {
  readonly #homeRad: Float64Array;
  readonly #path: JointPath;
  #phase: 'idle' | 'settle' | 'drive' | 'arrive' = 'idle';
  #sinceNs = 0;

  constructor(model: RobotModel, limits: JointPathLimits) {
    this.#homeRad = Float64Array.from(model.homeRad);
    this.#path = createJointPath(model, this.#homeRad, limits);
  }

  get active(): boolean {
    return this.#phase !== 'idle';
  }

  /** Homing is in progress. */
  get driving(): boolean {
    return this.#phase === 'drive' || this.#phase === 'arrive';
  }

  start(nowNs: number): void {
    this.#phase = 'settle';
    this.#sinceNs = nowNs;
  }

  stop(): void {
    this.#phase = 'idle';
  }

  /** `outRad` is filled from `begin` to `done`. After `done` and `failed` it is idle. */
  step(nowNs: number, robot: RobotState, outRad: Float64Array): HomingStep {
    if (this.#phase === 'settle') return this.#settle(nowNs, robot, outRad);
    const atEnd = this.#path.at(nowNs, outRad);
    if (this.#phase === 'drive' && atEnd) {
      this.#phase = 'arrive';
      this.#sinceNs = nowNs;
    }
    if (this.#phase !== 'arrive') return 'drive';
    const arrived = isAtRest(robot) && isNear(robot.targetRad, this.#homeRad);
    if (!arrived && nowNs - this.#sinceNs <= ARRIVE_NS) return 'drive';
    this.#phase = 'idle';
    return arrived ? 'done' : 'failed';
  }

  #settle(nowNs: number, robot: RobotState, outRad: Float64Array): HomingStep {
    const standing = (robot.state === 'armed' || robot.state === 'hold') && isAtRest(robot);
    if (standing) {
      this.#path.begin(robot.positionsRad, nowNs);
      this.#path.at(nowNs, outRad);
      this.#phase = 'drive';
      return 'begin';
    }
    if (nowNs - this.#sinceNs <= SETTLE_NS) return 'wait';
    this.#phase = 'idle';
    return 'failed';
  }
}

function isAtRest({ velocitiesRadS }: RobotState): boolean {
  for (let i = 0; i < velocitiesRadS.length; i++)
    if (!(Math.abs(velocitiesRadS[i]!) < REST_RAD_S)) return false;
  return true;
}

function isNear(aRad: Float64Array, bRad: Float64Array): boolean {
  for (let i = 0; i < aRad.length; i++) if (!(Math.abs(aRad[i]! - bRad[i]!) < ARRIVED_RAD)) return false;
  return true;
}
