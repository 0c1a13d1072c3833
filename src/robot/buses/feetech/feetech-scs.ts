// UNVERIFIED ON HARDWARE: checked only against the vendor's SDK and the examples in its protocol manual.
import type { ServoPacket, ServoProtocol } from '../servo/servo-protocol.ts';

const BROADCAST_ID = 0xfe;
/** Header, id and length. */
const HEAD_BYTES = 4;
/** Instruction or error, and checksum. */
const MIN_LENGTH = 2;
/** Longest packet the vendor's SDK sends. */
const MAX_PACKET_BYTES = 250;
/** Ids of a status, and of an instruction for one servo. */
const MAX_ERROR = 0x7f;

/**
 * Feetech STS and SMS series: `FF FF | id | length | instruction | parameters | checksum`; the length counts
 * from the instruction on. A status has an error byte instead of the instruction. The checksum is only 8
 * bits, so drivers check readings for plausibility.
 */
export const FEETECH_STS: ServoProtocol = {
  name: 'Feetech STS',
  ping: 0x01,
  read: 0x02,
  write: 0x03,
  syncWrite: 0x83,
  syncRead: 0x82,
  bulkRead: null,
  status: null,
  broadcastId: BROADCAST_ID,
  addressBytes: 1,
  isLittleEndian: true,
  maxPacketBytes: MAX_PACKET_BYTES,
  statusBytes: 6,
  pingDataBytes: 0,
  packetBytes: (paramBytes) => HEAD_BYTES + MIN_LENGTH + paramBytes,
  encode,
  lengthAt,
  decode,
};

/** The older SCS series: the same frames, most significant byte first, no sync read. */
export const FEETECH_SCS: ServoProtocol = {
  ...FEETECH_STS,
  name: 'Feetech SCS',
  syncRead: null,
  isLittleEndian: false,
};

function checksum(bytes: Uint8Array, from: number, to: number): number {
  let sum = 0;
  for (let i = from; i < to; i++) sum += bytes[i]!;
  return ~sum & 0xff;
}

function encode(
  out: Uint8Array,
  id: number,
  instruction: number,
  params: Uint8Array,
  paramBytes: number,
): number {
  const end = HEAD_BYTES + 1 + paramBytes;
  if (end + 1 > Math.min(out.length, MAX_PACKET_BYTES)) return -1;
  out[0] = 0xff;
  out[1] = 0xff;
  out[2] = id;
  out[3] = paramBytes + MIN_LENGTH;
  out[4] = instruction;
  for (let i = 0; i < paramBytes; i++) out[5 + i] = params[i]!;
  out[end] = checksum(out, 2, end);
  return end + 1;
}

function lengthAt(bytes: Uint8Array, start: number, end: number): number {
  const there = end - start;
  if (bytes[start] !== 0xff) return -1;
  if (there > 1 && bytes[start + 1] !== 0xff) return -1;
  if (there > 2 && bytes[start + 2]! > BROADCAST_ID) return -1;
  if (there > 4 && bytes[start + 2] !== BROADCAST_ID && bytes[start + 4]! > MAX_ERROR) return -1;
  if (there < HEAD_BYTES) return 0;
  const length = bytes[start + 3]!;
  return length < MIN_LENGTH || length > MAX_PACKET_BYTES - HEAD_BYTES ? -1 : HEAD_BYTES + length;
}

function decode(bytes: Uint8Array, start: number, length: number, found: ServoPacket): boolean {
  const end = start + length - 1;
  if (checksum(bytes, start + 2, end) !== bytes[end]) return false;
  found.id = bytes[start + 2]!;
  found.instruction = bytes[start + 4]!;
  found.error = bytes[start + 4]!;
  found.paramBytes = end - start - 5;
  for (let i = 0; i < found.paramBytes; i++) found.params[i] = bytes[start + 5 + i]!;
  return true;
}
