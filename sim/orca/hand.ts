import { HARDWARE_ERROR, RAD_PER_TICK } from '../../src/robot/buses/dynamixel/control-table.ts';
import type { MotorRange, PartialRanges } from '../../src/robot/drivers/orca/calibration-file.ts';
import type { Hand } from '../../src/robot/drivers/orca/hands.ts';
import { JointMap } from '../../src/robot/drivers/orca/mapping.ts';
import type { Plant } from '../plant.ts';
import { SimMotor } from './motor.ts';

const FIRMWARE = 46;

export interface SimHandOptions {
  startDeg?: readonly number[];
  firmware?: number;
  /** What the motors move; without one, joints without mass. */
  plant?: Plant | null;
}

/** A hand of 17 motors with stops at the ends of its joints' ranges. */
export class SimHand {
  readonly hand: Hand;
  readonly motors: readonly SimMotor[];
  readonly ranges: readonly MotorRange[];
  readonly #map: JointMap;
  readonly #plant: Plant | null;
  readonly #wantedRad: Float64Array;

  constructor(hand: Hand, { startDeg, firmware = FIRMWARE, plant = null }: SimHandOptions = {}) {
    this.hand = hand;
    this.#plant = plant;
    this.#wantedRad = new Float64Array(hand.joints.length);
    this.ranges = hand.joints.map(({ minDeg, maxDeg }, i) => rangeOf(i, maxDeg - minDeg));
    this.#map = new JointMap(hand, this.ranges);
    this.motors = hand.joints.map(({ motorId, motor, neutralDeg }, i) => {
      const { lowRad, highRad } = this.ranges[i]!;
      return new SimMotor({
        id: motorId,
        type: motor,
        firmware,
        ticks: this.#map.ticksOf(
          i,
          plant?.positionsRad[i] ?? ((startDeg?.[i] ?? neutralDeg) * Math.PI) / 180,
        ),
        lowTicks: lowRad / RAD_PER_TICK,
        highTicks: highRad / RAD_PER_TICK,
      });
    });
  }

  /** The result of a perfect calibration. */
  calibration(): PartialRanges {
    return Object.fromEntries(this.hand.joints.map(({ name }, i) => [name, { ...this.ranges[i]! }]));
  }

  jointDeg(name: string): number {
    const i = this.hand.joints.findIndex((joint) => joint.name === name);
    return (this.#map.jointRad(i, this.motors[i]!.mechanicalTicks) * 180) / Math.PI;
  }

  motorOf(joint: string): SimMotor | null {
    return this.motors[this.hand.joints.findIndex(({ name }) => name === joint)] ?? null;
  }

  /** Returns whether the joint exists. */
  overload(joint: string): boolean {
    const motor = this.motorOf(joint);
    motor?.fail(HARDWARE_ERROR.overload);
    return motor !== null;
  }

  step(seconds: number, nowMs: number): void {
    for (const motor of this.motors) motor.step(seconds, nowMs);
    if (this.#plant !== null) this.#move(this.#plant, seconds);
  }

  /** The plant follows the motors, as hard as each may push, and they measure what it does. */
  #move(plant: Plant, seconds: number): void {
    this.motors.forEach((motor, i) => {
      this.#wantedRad[i] = this.#map.jointRad(i, motor.wantedTicks);
      plant.limitEffort(i, Math.abs(this.#map.jointNm(i, motor.limitUnits)));
    });
    plant.step(seconds, this.#wantedRad, 0);
    this.motors.forEach((motor, i) => {
      const radPerTick = this.#map.jointRad(i, 1) - this.#map.jointRad(i, 0);
      motor.measured = {
        ticks: this.#map.ticksOf(i, plant.positionsRad[i]!),
        velocityTicksS: plant.velocitiesRadS[i]! / radPerTick,
        loadUnits: plant.effortsNm[i]! / this.#map.jointNm(i, 1),
      };
    });
  }
}

/** Gear ratio and offset differ per joint, and some ranges cross a turn boundary. */
function rangeOf(i: number, widthDeg: number): MotorRange {
  const widthRad = ((widthDeg * Math.PI) / 180) * (1 + 0.02 * (i % 10));
  const lowRad = 0.4 + 0.33 * ((i * 7) % 17);
  return { lowRad, highRad: lowRad + widthRad };
}
