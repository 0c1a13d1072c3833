import { createServer, type Server, type Socket } from 'node:net';
import { modbusReply } from '../modbus-slave.ts';
import type { ControlBox } from './control-box.ts';
import { tcpPose } from './report.ts';

const VERSION = '6,6,XI1300,AC1300,v1.12.10';
const MAX_MESSAGE_BYTES = 1024;

/**
 * Port 502: replies to each command, in order. Protocol 3 is protocol 2 with a heartbeat, used by newer
 * clients.
 */
export function commandServer(box: ControlBox): Server {
  return createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => {});
    let held: Buffer = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      held = Buffer.concat([held, chunk]);
      while (held.length >= 6) {
        const bytes = 6 + held.readUInt16BE(4);
        if (bytes > MAX_MESSAGE_BYTES) return void socket.destroy();
        if (held.length < bytes) return;
        answer(socket, box, held.subarray(0, bytes));
        held = held.subarray(bytes);
      }
    });
  });
}

function answer(socket: Socket, box: ControlBox, message: Buffer): void {
  const protocol = message.readUInt16BE(2);
  // Anything else is plain Modbus; its heartbeat needs no simulated reply.
  if (message.length < 7 || (protocol !== 2 && protocol !== 3)) return;
  const func = message[6]!;
  const data = execute(box, func, message.subarray(7));
  const state =
    (box.errorCode !== 0 ? 0x40 : 0) | (box.warningCode !== 0 ? 0x20 : 0) | (data === null ? 0x08 : 0);
  const reply = Buffer.alloc(8 + (data?.length ?? 0));
  message.copy(reply, 0, 0, 4);
  reply.writeUInt16BE(reply.length - 6, 4);
  reply[6] = func;
  reply[7] = state | (box.state >= 4 ? 0x10 : 0);
  data?.copy(reply, 8);
  socket.write(reply);
}

const EMPTY = Buffer.alloc(0);

/** Null for a command that is unknown, or invalid in the current state. */
function execute(box: ControlBox, func: number, parameters: Buffer): Buffer | null {
  switch (func) {
    case 1:
      return Buffer.from(VERSION.padEnd(40, '\0'), 'latin1');
    case 2:
      return Buffer.from('XI130000000000AC130000000000'.padEnd(40, '\0'), 'latin1');
    case 11:
      box.enableMotors(parameters[1] === 1);
      return EMPTY;
    case 12:
      box.setState(parameters[0] ?? 4);
      return EMPTY;
    case 13:
      return Buffer.of(box.state);
    case 14:
      return Buffer.of(0, 0);
    case 15:
      return Buffer.of(box.errorCode, box.warningCode);
    case 16:
      box.clearError();
      return EMPTY;
    case 17:
      box.warningCode = 0;
      return EMPTY;
    case 19:
      box.setMode(parameters[0] ?? 0);
      return EMPTY;
    case 29:
      return servo(box, parameters) ? EMPTY : null;
    case 41:
      return floats(tcpPose(box));
    case 42:
      return floats([...box.positionsRad, 0]);
    case 124:
      return tool(box, parameters);
    case 127:
      return EMPTY;
    case 128:
      return toolRegister(parameters);
    default:
      return null;
  }
}

const TOOL_LINE = 9;
const GRIPPER = 8;

/** A Modbus frame for the tool's RS485 line, without CRC. Only the gripper answers there. */
function tool(box: ControlBox, parameters: Buffer): Buffer | null {
  if (parameters[0] !== TOOL_LINE || parameters[1] !== GRIPPER) return null;
  return Buffer.concat([Buffer.of(TOOL_LINE), modbusReply(box.tool, parameters.subarray(1))]);
}

/** The tool board's own registers: only its baud rate, of which 2 Mbaud is number 11. */
function toolRegister(parameters: Buffer): Buffer | null {
  if (parameters.length < 3 || (parameters.readUInt16BE(1) & 0xfff) !== 0xa0b) return null;
  return Buffer.of(0, 0, 0, 11);
}

function servo(box: ControlBox, parameters: Buffer): boolean {
  if (parameters.length !== 40) return false;
  const target = [0, 1, 2, 3, 4, 5].map((i) => parameters.readFloatLE(4 * i));
  return target.every(Number.isFinite) && box.servo(target);
}

export function floats(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, i) => {
    bytes.writeFloatLE(value, 4 * i);
  });
  return bytes;
}
