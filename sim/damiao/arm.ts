import type { RobotModel } from '../../src/geometry/robot-model.ts';
import type { CanFrame } from '../../src/robot/buses/can-frame.ts';
import type { ArmFacts } from '../../src/robot/buses/damiao/arm-config.ts';
import type { MotorLimits } from '../../src/robot/buses/damiao/motors.ts';
import { HeldJoint, type HeldJointOptions } from '../held-joint.ts';
import type { Plant } from '../plant.ts';
import { SimMotor } from './motor.ts';

export interface SimArmOptions {
  facts: ArmFacts;
  model: RobotModel;
  startRad?: readonly number[];
  /** Follows the motors' own positions; without one those are the joints'. */
  plant?: Plant | null;
  /** Joints that sink without power, and where to. */
  sags: readonly { joint: number; toRad: number }[];
  /** Motors with limits that differ from their type's, by index. */
  limits?: Readonly<Record<number, MotorLimits>>;
  onEvent?(what: string): void;
}

/** A hand that leads a whole arm, and the arm itself. Estimates. */
const ARM_IN_HAND: HeldJointOptions = { nmPerRad: 12, nmSPerRad: 1, inertia: 0.1 };

const SAG_RAD_S = 0.15;
const GRIPPER_SLACK_RAD = 0.4;

/** The motors of one arm on one bus. Time and bus are passed in. */
export class SimArm {
  readonly motors: readonly SimMotor[];
  readonly joints: number;
  readonly #options: SimArmOptions;
  readonly #onEvent: (what: string) => void;
  /** Gravity acts on an unpowered joint only after it has been powered once; before, it rests in place. */
  #lifted = false;
  #dropping = false;
  #wasOn = false;

  constructor(options: SimArmOptions) {
    const { facts, model, plant = null, limits = {} } = options;
    const startRad = options.startRad ?? plant?.positionsRad ?? model.homeRad;
    this.#options = options;
    this.#onEvent = options.onEvent ?? (() => {});
    this.joints = facts.motors.length;
    const address = (i: number) => ({
      id: i + 1,
      replyId: i + 0x11,
      ...(limits[i] && { limits: limits[i] }),
    });
    const { motor, openRad, closedRad } = facts.gripper;
    const low = Math.min(openRad, closedRad) - GRIPPER_SLACK_RAD;
    const high = Math.max(openRad, closedRad) + GRIPPER_SLACK_RAD;
    this.motors = [
      ...facts.motors.map((type, i) => new SimMotor({ ...address(i), type, startRad: startRad[i]! })),
      new SimMotor({
        ...address(this.joints),
        type: motor,
        startRad: openRad + (plant?.gripper ?? 0.5) * (closedRad - openRad),
        endsRad: [low, high],
      }),
    ];
  }

  get allEnabled(): boolean {
    return this.motors.every(({ enabled }) => enabled);
  }

  get positionsRad(): number[] {
    return this.motors.slice(0, this.joints).map((motor) => (motor.measured ?? motor).positionRad);
  }

  get velocitiesRadS(): number[] {
    return this.motors.slice(0, this.joints).map((motor) => (motor.measured ?? motor).velocityRadS);
  }

  /** 1 is closed. */
  get gripper(): number {
    const { openRad, closedRad } = this.#options.facts.gripper;
    const at = (this.motors[this.joints]!.positionRad - openRad) / (closedRad - openRad);
    return Math.max(0, Math.min(1, at));
  }

  /** Torques of the joints' motors. */
  get torquesNm(): number[] {
    return this.motors.slice(0, this.joints).map(({ torqueNm }) => torqueNm);
  }

  /** From now on a person holds the joints. */
  hold(): void {
    for (const motor of this.motors.slice(0, this.joints)) {
      motor.held = new HeldJoint(motor.positionRad, ARM_IN_HAND);
      motor.aimRad = motor.positionRad;
    }
  }

  /** Moves a held arm as a person would. */
  lead(jointsRad: readonly number[]): void {
    jointsRad.forEach((rad, i) => {
      this.motors[i]!.aimRad = rad;
    });
  }

  take(frame: CanFrame): CanFrame | null {
    for (const motor of this.motors) {
      const reply = motor.take(frame);
      if (reply !== null) return reply;
    }
    return null;
  }

  step(dtS: number): void {
    for (const motor of this.motors) motor.step(dtS);
    const on = this.allEnabled;
    if (on !== this.#wasOn) this.#onEvent(on ? 'enabled' : 'a motor has no power');
    this.#wasOn = on;
    this.#lifted ||= on;
    this.#moveThings(dtS);
    const sagging = this.#lifted && this.#sag(dtS);
    if (sagging && !this.#dropping) this.#onEvent('dropped: joints sag without power');
    this.#dropping = sagging;
  }

  /** The plant follows the motors, and they measure what it does. */
  #moveThings(dtS: number): void {
    const { plant = null, facts } = this.#options;
    if (plant === null) return;
    const wantedRad = this.motors.map(({ positionRad }) => positionRad);
    const before = plant.gripper;
    plant.step(dtS, wantedRad, this.gripper);
    const { openRad, closedRad } = facts.gripper;
    const gripperRad = (share: number) => openRad + share * (closedRad - openRad);
    this.motors.forEach((motor, i) => {
      motor.measured =
        i < this.joints
          ? {
              positionRad: plant.positionsRad[i]!,
              velocityRadS: plant.velocitiesRadS[i]!,
              torqueNm: plant.effortsNm[i]!,
            }
          : {
              positionRad: gripperRad(plant.gripper),
              // By which a driver notices that it has reached an end.
              velocityRadS: (gripperRad(plant.gripper) - gripperRad(before)) / dtS,
              torqueNm: 0,
            };
    });
  }

  #sag(dtS: number): boolean {
    let moved = false;
    for (const { joint, toRad } of this.#options.sags) {
      const motor = this.motors[joint]!;
      if (motor.enabled || motor.held !== null) continue;
      const gap = toRad - motor.positionRad;
      motor.positionRad += Math.sign(gap) * Math.min(Math.abs(gap), SAG_RAD_S * dtS);
      moved ||= Math.abs(gap) > 1e-6;
    }
    return moved;
  }
}
