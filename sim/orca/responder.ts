import { ALERT, STATUS_ERROR } from '../../src/robot/buses/dynamixel/control-table.ts';
import {
  BROADCAST_ID,
  type FastAnswer,
  fastStatusPacket,
  INSTRUCTION,
  statusPacket,
} from '../../src/robot/buses/dynamixel/dynamixel-2.ts';
import type { ServoPacket } from '../../src/robot/buses/servo/servo-protocol.ts';
import { signedAt, unsignedAt } from '../../src/robot/buses/servo/values.ts';
import type { SimMotor } from './motor.ts';

const LEVEL = { ping: 0, read: 1, all: 2 } as const;
const STATUS_LEVEL_AT = 68;

/** The replies of all motors on a bus to one packet, in order. */
export class Responder {
  readonly #motors: readonly SimMotor[];
  #answers: Uint8Array[] = [];
  #nowMs = 0;

  constructor(motors: readonly SimMotor[]) {
    this.#motors = motors;
  }

  answersTo(packet: ServoPacket, nowMs: number): Uint8Array[] {
    this.#answers = [];
    this.#nowMs = nowMs;
    // Another motor's status packet is not an instruction.
    if (packet.instruction === INSTRUCTION.status) return [];
    for (const motor of this.#motors) if (!motor.isUnresponsive(nowMs)) motor.receive(nowMs);
    const params = packet.params.slice(0, packet.paramBytes);
    if (!this.#several(packet.instruction, params)) this.#each(packet, params);
    return this.#answers;
  }

  #motor(id: number): SimMotor | null {
    const motor = this.#motors.find((candidate) => candidate.id === id);
    return motor === undefined || motor.isUnresponsive(this.#nowMs) ? null : motor;
  }

  /** Handles instructions for several motors; returns whether it was one. */
  #several(instruction: number, params: Uint8Array): boolean {
    const { syncRead, fastSyncRead, syncWrite, bulkRead, fastBulkRead, bulkWrite } = INSTRUCTION;
    if (instruction === syncRead || instruction === fastSyncRead) {
      if (params.length < 5) return true;
      const [address, size] = [unsignedAt(params, 0, 2), unsignedAt(params, 2, 2)];
      const items = [...params.subarray(4)].map((id) => ({ id, address, size }));
      this.#readMany(items, instruction === fastSyncRead);
    } else if (instruction === bulkRead || instruction === fastBulkRead) {
      const items = [];
      for (let at = 0; at + 5 <= params.length; at += 5)
        items.push({
          id: params[at]!,
          address: unsignedAt(params, at + 1, 2),
          size: unsignedAt(params, at + 3, 2),
        });
      this.#readMany(items, instruction === fastBulkRead);
    } else if (instruction === syncWrite) {
      const [address, size] = [unsignedAt(params, 0, 2), unsignedAt(params, 2, 2)];
      for (let at = 4; size > 0 && at + 1 + size <= params.length; at += 1 + size)
        this.#motor(params[at]!)?.write(address, params.slice(at + 1, at + 1 + size));
    } else if (instruction === bulkWrite) {
      for (let at = 0; at + 5 <= params.length; ) {
        const size = unsignedAt(params, at + 3, 2);
        if (at + 5 + size > params.length) break;
        this.#motor(params[at]!)?.write(unsignedAt(params, at + 1, 2), params.slice(at + 5, at + 5 + size));
        at += 5 + size;
      }
    } else return false;
    return true;
  }

  #readMany(items: readonly { id: number; address: number; size: number }[], fast: boolean): void {
    const answers: FastAnswer[] = [];
    for (const { id, address, size } of items) {
      const motor = this.#motor(id);
      const knows = motor !== null && (!fast || motor.firmware >= motor.type.fastReadFirmware);
      // In a fast reply each motor waits for the previous one: a missing motor breaks the chain.
      if (!knows && fast) break;
      if (motor === null || !knows || motor.table[STATUS_LEVEL_AT]! < LEVEL.read) continue;
      const data = motor.table.slice(address, address + size);
      if (data.length !== size) this.#status(motor, STATUS_ERROR.length, [], LEVEL.read);
      else if (fast) answers.push({ id, error: motor.hardwareError === 0 ? 0 : ALERT, data });
      else this.#status(motor, 0, data, LEVEL.read);
    }
    if (!fast || answers.length === 0) return;
    const silent = items
      .slice(answers.length)
      .map(({ id, size }) => ({ id, error: 0, data: new Uint8Array(size) }));
    const whole = fastStatusPacket([...answers, ...silent]);
    const missing = silent.reduce((sum, { data }) => sum + data.length + 4, 0);
    this.#answers.push(whole.slice(0, whole.length - missing));
  }

  /** Instructions for one motor, or broadcasts without a reply. */
  #each({ id, instruction }: ServoPacket, params: Uint8Array): void {
    for (const motor of this.#motors) {
      if ((id !== BROADCAST_ID && motor.id !== id) || motor.isUnresponsive(this.#nowMs)) continue;
      const isPing = instruction === INSTRUCTION.ping;
      const answer = this.#carryOut(motor, instruction, params);
      if (id === BROADCAST_ID && !isPing) continue;
      const level = isPing ? LEVEL.ping : instruction === INSTRUCTION.read ? LEVEL.read : LEVEL.all;
      this.#status(motor, answer.error, answer.data, level);
      if (instruction === INSTRUCTION.reboot) motor.reboot(this.#nowMs);
    }
  }

  #carryOut(
    motor: SimMotor,
    instruction: number,
    params: Uint8Array,
  ): { error: number; data: ArrayLike<number> } {
    const plain = (error: number) => ({ error, data: [] });
    switch (instruction) {
      case INSTRUCTION.ping:
        return { error: 0, data: [motor.table[0]!, motor.table[1]!, motor.firmware] };
      case INSTRUCTION.read: {
        if (params.length !== 4) return plain(STATUS_ERROR.length);
        const from = unsignedAt(params, 0, 2);
        const size = unsignedAt(params, 2, 2);
        const data = motor.table.slice(from, from + size);
        return data.length === size ? { error: 0, data } : plain(STATUS_ERROR.length);
      }
      case INSTRUCTION.write:
        return plain(
          params.length < 3 ? STATUS_ERROR.length : motor.write(signedAt(params, 0, 2), params.slice(2)),
        );
      case INSTRUCTION.regWrite:
        motor.registered.push({ address: unsignedAt(params, 0, 2), data: params.slice(2) });
        return plain(0);
      case INSTRUCTION.action:
        for (const { address, data } of motor.registered.splice(0)) motor.write(address, data);
        return plain(0);
      case INSTRUCTION.clear:
        return plain(motor.clearTurns() ? 0 : STATUS_ERROR.result);
      case INSTRUCTION.reboot:
        return plain(0);
      default:
        return plain(STATUS_ERROR.instruction);
    }
  }

  #status(motor: SimMotor, error: number, data: ArrayLike<number>, level: number): void {
    if (motor.table[STATUS_LEVEL_AT]! < level) return;
    this.#answers.push(statusPacket(motor.id, error | (motor.hardwareError === 0 ? 0 : ALERT), data));
  }
}
