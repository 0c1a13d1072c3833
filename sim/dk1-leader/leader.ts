import { RAD_PER_TICK, XL330 } from '../../src/robot/buses/dynamixel/control-table.ts';
import { DYNAMIXEL_2 } from '../../src/robot/buses/dynamixel/dynamixel-2.ts';
import type { Pty } from '../../src/robot/buses/pty.ts';
import { PacketParser } from '../../src/robot/buses/servo/packet-parser.ts';
import { SimMotor } from '../orca/motor.ts';
import { Responder } from '../orca/responder.ts';

const BUFFER_BYTES = 4096;
const RANGE = { lowTicks: -5000, highTicks: 9000, firmware: 52 };

/** Motors of a leader arm on a pseudo-terminal: joints, then the gripper. `tick` sends the due replies. */
export class SimLeader {
  readonly motors: readonly SimMotor[];
  readonly #pty: Pty;
  readonly #parser: PacketParser;
  readonly #in = new Uint8Array(BUFFER_BYTES);
  #nowMs = 0;

  constructor(pty: Pty, ticks: readonly number[]) {
    this.#pty = pty;
    this.motors = ticks.map((at, i) => new SimMotor({ id: i + 1, type: XL330, ticks: at, ...RANGE }));
    const responder = new Responder([...this.motors]);
    this.#parser = new PacketParser(DYNAMIXEL_2, (packet) => {
      for (const answer of responder.answersTo(packet, this.#nowMs)) pty.write(answer, answer.length);
    });
  }

  /** Moves it as a person would. */
  lead(jointsRad: readonly number[]): void {
    jointsRad.forEach((rad, i) => {
      this.motors[i]!.turnTo((rad + Math.PI) / RAD_PER_TICK);
    });
  }

  tick(nowMs: number): void {
    this.#nowMs = nowMs;
    const bytes = this.#pty.read(this.#in);
    if (bytes > 0) this.#parser.push(this.#in, bytes);
  }
}
