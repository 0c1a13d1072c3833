import type { RobotModel } from '../geometry/robot-model.ts';
import { OPEN_M } from './gripper-body.ts';
import { SERVO_LAG_S, STEP_S } from './physics.ts';

/** Steps between two targets of a control loop at 200 Hz. */
const STEPS_PER_TARGET = 5;

/**
 * The arm's controller: moves in a straight line from target to target, no faster than the joints may, and leads its
 * servos so that the arm follows by a chosen lag. Holding each target instead would double the acceleration.
 */
export class Servo {
  readonly #commandRad: Float64Array;
  readonly #targetRad: Float64Array;
  readonly #maxStepRad: Float64Array;
  readonly #leadSteps: number;
  #left = 0;
  #openM = OPEN_M;

  constructor(model: RobotModel, lagS: number) {
    this.#commandRad = new Float64Array(model.joints.length);
    this.#targetRad = new Float64Array(model.joints.length);
    this.#maxStepRad = Float64Array.from(model.joints, ({ maxVelocityRadS }) => maxVelocityRadS * STEP_S);
    this.#leadSteps = (SERVO_LAG_S - lagS) / STEP_S;
  }

  /** Where it stands becomes the target. */
  hold(jointsRad: Float64Array, openM: number): void {
    for (let i = 0; i < this.#targetRad.length; i++) this.#commandRad[i] = this.#targetRad[i] = jointsRad[i]!;
    this.#left = 0;
    this.#openM = openM;
  }

  copy(other: Servo): void {
    this.#commandRad.set(other.#commandRad);
    this.#targetRad.set(other.#targetRad);
    this.#left = other.#left;
    this.#openM = other.#openM;
  }

  /** `gripper`: 0 open to 1 closed. `steps`: until the next target. */
  target(jointsRad: Float64Array, gripper: number, steps = STEPS_PER_TARGET): void {
    this.#targetRad.set(jointsRad);
    this.#left = steps;
    this.#openM = OPEN_M * (1 - Math.min(1, Math.max(0, gripper)));
  }

  /** Sets the controls of the next step. Hot path. */
  step(ctrl: Float64Array): void {
    const joints = this.#targetRad.length;
    for (let i = 0; i < joints; i++) {
      const share = (this.#targetRad[i]! - this.#commandRad[i]!) / Math.max(1, this.#left);
      const max = this.#maxStepRad[i]!;
      const change = Math.max(-max, Math.min(max, share));
      this.#commandRad[i]! += change;
      ctrl[i] = this.#commandRad[i]! + this.#leadSteps * change;
    }
    // Of a hand there is nothing to open.
    if (ctrl.length > joints) ctrl[joints] = this.#openM;
    if (this.#left > 0) this.#left--;
  }
}
