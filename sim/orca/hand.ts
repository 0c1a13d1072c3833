import { HARDWARE_ERROR, RAD_PER_TICK } from '../../src/robot/buses/dynamixel/control-table.ts';
import type { MotorRange, PartialRanges } from '../../src/robot/drivers/orca/calibration-file.ts';
import type { Hand } from '../../src/robot/drivers/orca/hands.ts';
import { JointMap } from '../../src/robot/drivers/orca/mapping.ts';
import { SimMotor } from './motor.ts';

const FIRMWARE = 46;

/** A hand of 17 motors with stops at the ends of its joints' ranges. */
export class SimHand {
  readonly hand: Hand;
  readonly motors: readonly SimMotor[];
  readonly ranges: readonly MotorRange[];
  readonly #map: JointMap;

  constructor(hand: Hand, startDeg?: readonly number[], firmware = FIRMWARE) {
    this.hand = hand;
    this.ranges = hand.joints.map(({ minDeg, maxDeg }, i) => rangeOf(i, maxDeg - minDeg));
    this.#map = new JointMap(hand, this.ranges);
    this.motors = hand.joints.map(({ motorId, motor, neutralDeg }, i) => {
      const { lowRad, highRad } = this.ranges[i]!;
      return new SimMotor({
        id: motorId,
        type: motor,
        firmware,
        ticks: this.#map.ticksOf(i, ((startDeg?.[i] ?? neutralDeg) * Math.PI) / 180),
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
  }
}

/** Gear ratio and offset differ per joint, and some ranges cross a turn boundary. */
function rangeOf(i: number, widthDeg: number): MotorRange {
  const widthRad = ((widthDeg * Math.PI) / 180) * (1 + 0.02 * (i % 10));
  const lowRad = 0.4 + 0.33 * ((i * 7) % 17);
  return { lowRad, highRad: lowRad + widthRad };
}
