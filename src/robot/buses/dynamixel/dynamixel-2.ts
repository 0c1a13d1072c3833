import { packet } from '../servo/packets.ts';
import type { ServoPacket, ServoProtocol } from '../servo/servo-protocol.ts';
import { putValue } from '../servo/values.ts';
import { crc16 } from './crc.ts';

/** Instructions of Protocol 2.0. */
export const INSTRUCTION = {
  ping: 0x01,
  read: 0x02,
  write: 0x03,
  regWrite: 0x04,
  action: 0x05,
  factoryReset: 0x06,
  reboot: 0x08,
  clear: 0x10,
  status: 0x55,
  syncRead: 0x82,
  syncWrite: 0x83,
  fastSyncRead: 0x8a,
  bulkRead: 0x92,
  bulkWrite: 0x93,
  fastBulkRead: 0x9a,
} as const;

export const BROADCAST_ID = 0xfe;
/** Header, reserved byte, id and length. */
const HEAD_BYTES = 7;
/** Size of the vendor's buffers. */
export const MAX_PACKET_BYTES = 1024;
/** Instruction and CRC. */
const MIN_LENGTH = 3;
const MAX_LENGTH = MAX_PACKET_BYTES - HEAD_BYTES;

/** ROBOTIS Protocol 2.0: `FF FF FD 00 | id | length | instruction | parameters | CRC`; the length counts from the instruction on. */
export const DYNAMIXEL_2: ServoProtocol = {
  name: 'Dynamixel Protocol 2.0',
  ping: INSTRUCTION.ping,
  read: INSTRUCTION.read,
  write: INSTRUCTION.write,
  syncWrite: INSTRUCTION.syncWrite,
  syncRead: INSTRUCTION.syncRead,
  bulkRead: INSTRUCTION.bulkRead,
  status: INSTRUCTION.status,
  broadcastId: BROADCAST_ID,
  addressBytes: 2,
  isLittleEndian: true,
  maxPacketBytes: MAX_PACKET_BYTES,
  statusBytes: 11,
  pingDataBytes: 3,
  // Worst case, stuffing adds one byte per three.
  packetBytes: (paramBytes) => HEAD_BYTES + 3 + Math.ceil((paramBytes * 4) / 3),
  encode: encodePacket,
  lengthAt,
  decode,
};

function putHead(out: Uint8Array, id: number, instruction: number): void {
  out[0] = 0xff;
  out[1] = 0xff;
  out[2] = 0xfd;
  out[3] = 0;
  out[4] = id;
  out[7] = instruction;
}

/** Adds stuffing: an `FD` after each `FF FF FD` from the instruction on; length and CRC include it. */
function encodePacket(
  out: Uint8Array,
  id: number,
  instruction: number,
  params: Uint8Array,
  paramBytes: number,
): number {
  const room = Math.min(out.length, MAX_PACKET_BYTES) - 2;
  if (room < HEAD_BYTES + 1) return -1;
  putHead(out, id, instruction);
  let end = HEAD_BYTES + 1;
  for (let i = 0; i < paramBytes; i++) {
    if (end >= room) return -1;
    const byte = params[i]!;
    out[end++] = byte;
    if (byte !== 0xfd || out[end - 2] !== 0xff || out[end - 3] !== 0xff || end - 3 < HEAD_BYTES) continue;
    if (end >= room) return -1;
    out[end++] = 0xfd;
  }
  putValue(out, 5, end + 2 - HEAD_BYTES, 2);
  putValue(out, end, crc16(out, 0, end), 2);
  return end + 2;
}

function lengthAt(bytes: Uint8Array, start: number, end: number): number {
  const there = end - start;
  if (bytes[start] !== 0xff) return -1;
  if (there > 1 && bytes[start + 1] !== 0xff) return -1;
  if (there > 2 && bytes[start + 2] !== 0xfd) return -1;
  if (there > 3 && bytes[start + 3] !== 0) return -1;
  if (there < HEAD_BYTES) return 0;
  const length = bytes[start + 5]! | (bytes[start + 6]! << 8);
  if (length < MIN_LENGTH || length > MAX_LENGTH || bytes[start + 4]! > BROADCAST_ID) return -1;
  return HEAD_BYTES + length;
}

/** False also for a status without an error byte. A fast reply has one per motor, among the parameters. */
function decode(bytes: Uint8Array, start: number, length: number, found: ServoPacket): boolean {
  const crcAt = start + length - 2;
  if (crc16(bytes, start, crcAt) !== (bytes[crcAt]! | (bytes[crcAt + 1]! << 8))) return false;
  found.id = bytes[start + 4]!;
  found.instruction = bytes[start + HEAD_BYTES]!;
  const isStatus = found.instruction === INSTRUCTION.status;
  const isFast = isStatus && found.id === BROADCAST_ID;
  let from = start + HEAD_BYTES + 1;
  found.error = 0;
  if (isStatus && !isFast) {
    if (from >= crcAt) return false;
    found.error = bytes[from]!;
    from++;
  }
  let count = 0;
  for (let i = from; i < crcAt; i++) {
    const byte = bytes[i]!;
    found.params[count++] = byte;
    const ends = byte === 0xfd && bytes[i - 1] === 0xff && bytes[i - 2] === 0xff && i - 2 > start + 6;
    if (ends && !isFast && bytes[i + 1] === 0xfd && i + 1 < crcAt) i++;
  }
  found.paramBytes = count;
  return true;
}

export const rebootPacket = (id: number): Uint8Array => packet(DYNAMIXEL_2, id, INSTRUCTION.reboot);

/** A motor's reply; for simulators and tests. */
export const statusPacket = (id: number, error: number, data: ArrayLike<number> = []): Uint8Array =>
  packet(DYNAMIXEL_2, id, INSTRUCTION.status, [error, ...Array.from(data)]);

export interface FastAnswer {
  id: number;
  error: number;
  data: Uint8Array;
}

/**
 * Replies of several motors in one packet, not stuffed: error, id, data and a CRC over all bytes so far, for
 * each motor. The last CRC is the packet's.
 */
export function fastStatusPacket(answers: readonly FastAnswer[]): Uint8Array {
  const body = answers.reduce((sum, { data }) => sum + data.length + 4, 0);
  const out = new Uint8Array(HEAD_BYTES + 1 + body);
  putHead(out, BROADCAST_ID, INSTRUCTION.status);
  putValue(out, 5, 1 + body, 2);
  let end = HEAD_BYTES + 1;
  for (const { id, error, data } of answers) {
    out[end] = error;
    out[end + 1] = id;
    out.set(data, end + 2);
    end += 2 + data.length;
    putValue(out, end, crc16(out, 0, end), 2);
    end += 2;
  }
  return out;
}
