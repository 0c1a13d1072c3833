import type { Pty } from '../src/robot/buses/pty.ts';

/** Registers of a device: `read` and `write` return null and false for an address it does not have. */
export interface Registers {
  read(address: number, count: number): number[] | null;
  write(address: number, values: readonly number[]): boolean;
}

const READ_HOLDING = 3;
const READ_INPUT = 4;
const WRITE = 16;
const ILLEGAL_FUNCTION = 1;
const ILLEGAL_ADDRESS = 2;

/** The reply to a request; both without CRC. Written from the Modbus specification, independent of our codec. */
export function modbusReply(registers: Registers, request: Buffer): Buffer {
  const [slave = 0, func = 0] = request;
  const exception = (code: number) => Buffer.of(slave, func | 0x80, code);
  if (func === READ_HOLDING || func === READ_INPUT) {
    if (request.length !== 6) return exception(ILLEGAL_ADDRESS);
    const values = registers.read(request.readUInt16BE(2), request.readUInt16BE(4));
    if (values === null) return exception(ILLEGAL_ADDRESS);
    const reply = Buffer.alloc(3 + 2 * values.length);
    reply.set([slave, func, 2 * values.length]);
    values.forEach((value, i) => {
      reply.writeUInt16BE(value & 0xffff, 3 + 2 * i);
    });
    return reply;
  }
  if (func !== WRITE) return exception(ILLEGAL_FUNCTION);
  const count = request.length >= 7 ? request.readUInt16BE(4) : 0;
  if (count === 0 || request.length !== 7 + 2 * count) return exception(ILLEGAL_ADDRESS);
  const values = Array.from({ length: count }, (_, i) => request.readUInt16BE(7 + 2 * i));
  if (!registers.write(request.readUInt16BE(2), values)) return exception(ILLEGAL_ADDRESS);
  return Buffer.from(request.subarray(0, 6));
}

/** CRC-16/MODBUS by its table. */
const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xa001 : value >>> 1;
  return value;
});
const crc = (bytes: Buffer): number =>
  bytes.reduce((sum, byte) => (sum >>> 8) ^ TABLE[(sum ^ byte) & 0xff]!, 0xffff);

/** A device on a pseudo-terminal. Call `tick` often; a request for another address is ignored. */
export class ModbusSlave {
  readonly #pty: Pty;
  readonly #slave: number;
  readonly #registers: Registers;
  readonly #in = new Uint8Array(4096);
  #held: Buffer = Buffer.alloc(0);
  silent = false;
  /** Sends each reply in two pieces, the second a tick later. */
  split = false;
  #rest: Buffer = Buffer.alloc(0);

  constructor(pty: Pty, slave: number, registers: Registers) {
    this.#pty = pty;
    this.#slave = slave;
    this.#registers = registers;
  }

  tick(): void {
    if (this.#rest.length > 0) this.#pty.write(this.#rest, this.#rest.length);
    this.#rest = Buffer.alloc(0);
    const bytes = this.#pty.read(this.#in);
    if (bytes === 0) return;
    this.#held = Buffer.concat([this.#held, this.#in.subarray(0, bytes)]);
    for (let whole = this.#whole(); whole > 0; whole = this.#whole()) {
      this.#take(this.#held.subarray(0, whole));
      this.#held = this.#held.subarray(whole);
    }
  }

  /** Length of the first request; a byte that begins none is dropped. */
  #whole(): number {
    while (this.#held.length >= 2 && ![READ_HOLDING, READ_INPUT, WRITE].includes(this.#held[1]!))
      this.#held = this.#held.subarray(1);
    if (this.#held.length < 8) return 0;
    const bytes = this.#held[1] === WRITE ? 9 + this.#held[6]! : 8;
    return this.#held.length < bytes ? 0 : bytes;
  }

  #take(frame: Buffer): void {
    const body = frame.subarray(0, -2);
    if (this.silent || frame[0] !== this.#slave || crc(body) !== frame.readUInt16LE(body.length)) return;
    const reply = modbusReply(this.#registers, body);
    const whole = Buffer.concat([reply, Buffer.alloc(2)]);
    whole.writeUInt16LE(crc(reply), reply.length);
    const first = this.split ? Math.ceil(whole.length / 2) : whole.length;
    this.#pty.write(whole, first);
    this.#rest = whole.subarray(first);
  }
}
