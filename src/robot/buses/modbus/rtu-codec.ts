/**
 * Modbus RTU: slave, function, data, CRC-16 (polynomial A001h, sent low byte first). Registers are 16 bits, high byte
 * first. Only what grippers need: read (3, 4) and write (16) of several registers.
 */
export const MODBUS = { readHolding: 3, readInput: 4, writeSeveral: 16 } as const;
/** Set in the function of a reply that reports an exception. */
const EXCEPTION_BIT = 0x80;
const CRC_BYTES = 2;
const EXCEPTION_BYTES = 3;

export function crc16(bytes: Uint8Array, length: number): number {
  let crc = 0xffff;
  for (let i = 0; i < length; i++) {
    crc ^= bytes[i]!;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >> 1) ^ 0xa001 : crc >> 1;
  }
  return crc;
}

/** Without CRC, as gateways take it. */
export function readRequest(
  slave: number,
  address: number,
  count: number,
  func = MODBUS.readHolding as number,
) {
  return Uint8Array.of(slave, func, address >> 8, address & 0xff, 0, count);
}

/** Without CRC. */
export function writeRequest(slave: number, address: number, registers: readonly number[]): Uint8Array {
  const values = registers.flatMap((value) => [(value >> 8) & 0xff, value & 0xff]);
  const count = registers.length;
  return Uint8Array.of(
    slave,
    MODBUS.writeSeveral,
    address >> 8,
    address & 0xff,
    0,
    count,
    2 * count,
    ...values,
  );
}

export function withCrc(frame: Uint8Array): Uint8Array {
  const out = new Uint8Array(frame.length + CRC_BYTES);
  out.set(frame);
  const crc = crc16(frame, frame.length);
  out[frame.length] = crc & 0xff;
  out[frame.length + 1] = crc >> 8;
  return out;
}

/** Bytes of the reply to a request, without CRC. */
const replyBytes = (request: Uint8Array): number =>
  request[1] === MODBUS.writeSeveral ? 6 : 3 + 2 * request[5]!;

/**
 * The registers in a reply (empty for a write); a text if it is an exception or does not fit its request. `reply`
 * has no CRC.
 */
export function decodeReply(request: Uint8Array, reply: Uint8Array): number[] | string {
  const [slave, func] = reply;
  if (slave !== request[0]) return 'a reply of another device';
  if (func === (request[1]! | EXCEPTION_BIT)) return `exception ${reply[2] ?? '?'}`;
  if (func !== request[1] || reply.length !== replyBytes(request)) return 'a reply that does not fit';
  if (func === MODBUS.writeSeveral)
    return request.subarray(2, 6).every((byte, i) => byte === reply[2 + i])
      ? []
      : 'a reply that does not fit';
  if (reply[2] !== reply.length - EXCEPTION_BYTES) return 'a reply that does not fit';
  const registers = [];
  for (let at = 3; at < reply.length; at += 2) registers.push((reply[at]! << 8) | reply[at + 1]!);
  return registers;
}

/**
 * Length of the whole frame, CRC included, that answers `request` and begins with `head`; 0 while it cannot be told.
 */
export function frameBytes(request: Uint8Array, head: Uint8Array): number {
  if (head.length < 2) return 0;
  return (head[1]! & EXCEPTION_BIT ? EXCEPTION_BYTES : replyBytes(request)) + CRC_BYTES;
}

export const isCrcGood = (frame: Uint8Array): boolean =>
  frame.length > CRC_BYTES && crc16(frame, frame.length) === 0;
