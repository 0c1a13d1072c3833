import { RAD_PER_TICK, XL330 } from '../../src/robot/buses/dynamixel/control-table.ts';
import { DYNAMIXEL_2 } from '../../src/robot/buses/dynamixel/dynamixel-2.ts';
import type { Pty } from '../../src/robot/buses/pty.ts';
import { PacketParser } from '../../src/robot/buses/servo/packet-parser.ts';
import { HeldJoint } from '../held-joint.ts';
import { SimMotor } from '../orca/motor.ts';
import { Responder } from '../orca/responder.ts';

const BUFFER_BYTES = 4096;
const RANGE = { lowTicks: -5000, highTicks: 9000, firmware: 52 };

/** Motors of a leader arm on a pseudo-terminal: joints, then the gripper. `tick` sends the due replies. */
export class SimLeader {
  readonly motors: readonly SimMotor[];
  /** Where the hand wants the joints; by the motors' ticks. */
  readonly #aimRad: number[];
  readonly #held: HeldJoint[];
  readonly #pty: Pty;
  readonly #parser: PacketParser;
  readonly #in = new Uint8Array(BUFFER_BYTES);
  #nowMs = 0;

  constructor(pty: Pty, ticks: readonly number[]) {
    this.#pty = pty;
    this.motors = ticks.map((at, i) => new SimMotor({ id: i + 1, type: XL330, ticks: at, ...RANGE }));
    this.#aimRad = ticks.slice(0, -1).map(radOf);
    this.#held = this.#aimRad.map((rad) => new HeldJoint(rad));
    const responder = new Responder([...this.motors]);
    this.#parser = new PacketParser(DYNAMIXEL_2, (packet) => {
      for (const answer of responder.answersTo(packet, this.#nowMs)) pty.write(answer, answer.length);
    });
  }

  /** Torques of the joints' motors. */
  get torquesNm(): number[] {
    return this.#held.map((_, i) => this.motors[i]!.drivenNm);
  }

  get jointsRad(): number[] {
    return this.#held.map((_, i) => radOf(this.motors[i]!.mechanicalTicks));
  }

  /** Where a person wants the joints: without torque they are there at once, with torque the hand is a spring. */
  lead(jointsRad: readonly number[]): void {
    jointsRad.forEach((rad, i) => {
      this.#aimRad[i] = rad;
      this.motors[i]!.turnTo((rad + Math.PI) / RAD_PER_TICK);
    });
  }

  tick(nowMs: number): void {
    const passedS = Math.min(MAX_STEP_S, Math.max(0, nowMs - this.#nowMs) / 1000);
    this.#nowMs = nowMs;
    this.#held.forEach((held, i) => {
      const motor = this.motors[i]!;
      motor.watchdog(nowMs);
      if (!motor.isCurrentControlled) {
        held.place(radOf(motor.mechanicalTicks));
        return;
      }
      held.step(passedS, this.#aimRad[i]!, motor.drivenNm);
      motor.carry((held.rad + Math.PI) / RAD_PER_TICK);
    });
    const bytes = this.#pty.read(this.#in);
    if (bytes > 0) this.#parser.push(this.#in, bytes);
  }
}

const MAX_STEP_S = 0.1;
const radOf = (ticks: number): number => ticks * RAD_PER_TICK - Math.PI;
