import type { CanFrame } from '../can-frame.ts';
import type { ArmSpec, MotorSpec } from './arm-spec.ts';
import type { DamiaoFeedback } from './feedback.ts';
import { ID_OFFSET, motorFrame, setMit, setPositionForce, setPositionVelocity } from './frames.ts';

/** The frames of one cycle, one per motor: joints, then the gripper. Kept so that they can be resent. */
export class DamiaoCommands {
  readonly frames: readonly CanFrame[];
  readonly targetsRad: Float64Array;
  readonly velocitiesRadS: Float64Array;
  readonly #motors: readonly MotorSpec[];
  readonly #feedback: DamiaoFeedback;

  constructor(spec: ArmSpec, motors: readonly MotorSpec[], feedback: DamiaoFeedback) {
    this.#motors = motors;
    this.#feedback = feedback;
    this.frames = motors.map(({ id, mode }) => motorFrame(id + ID_OFFSET[mode], spec.fd));
    this.targetsRad = new Float64Array(motors.length);
    this.velocitiesRadS = new Float64Array(motors.length);
  }

  /** Sets the target to the measured position. */
  hold(motor: number): void {
    this.targetsRad[motor] = this.#feedback.positionsRad[motor]!;
    this.velocitiesRadS[motor] = 0;
  }

  /** Hot path. `limp`: damping only, in modes that support it. */
  encode(limp = false): void {
    for (let i = 0; i < this.frames.length; i++) this.#encode(i, limp);
  }

  #encode(i: number, limp: boolean): void {
    const { mode, kp, kd, velocityRadS, currentShare } = this.#motors[i]!;
    const frame = this.frames[i]!;
    const target = this.targetsRad[i]!;
    if (mode === 'positionVelocity') setPositionVelocity(frame, target, velocityRadS);
    else if (mode === 'positionForce') setPositionForce(frame, target, velocityRadS, currentShare);
    else {
      const velocity = limp ? 0 : this.velocitiesRadS[i]!;
      setMit(frame, this.#feedback.limits[i]!, target, velocity, limp ? 0 : kp, kd, 0);
    }
  }

  /** The gripper's homing move to its open end. */
  seekEnd(motor: number, endRad: number, velocityRadS: number, currentShare: number): void {
    setPositionForce(this.frames[motor]!, endRad, velocityRadS, currentShare);
  }
}
