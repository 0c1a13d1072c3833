/**
 * UFACTORY's TCP commands (port 502): u16 BE transaction, u16 BE protocol 2, u16 BE length of what follows, u8 function,
 * parameters; floats are little-endian f32. A reply repeats the head and adds a state byte.
 */
export const XARM_HEAD_BYTES = 6;
export const XARM_MAX_BYTES = 1024;
const PROTOCOL = 2;

export const xarmTotalBytes = (bytes: Buffer, at: number): number =>
  XARM_HEAD_BYTES + bytes.readUInt16BE(at + 4);

export function encodeXarm(transaction: number, func: number, parameters: ArrayLike<number> = []): Buffer {
  const bytes = Buffer.alloc(XARM_HEAD_BYTES + 1 + parameters.length);
  writeXarmHead(bytes, transaction, func);
  bytes.set(parameters, XARM_HEAD_BYTES + 1);
  return bytes;
}

/** Hot path. */
export function writeXarmHead(bytes: Buffer, transaction: number, func: number): void {
  bytes.writeUInt16BE(transaction & 0xffff, 0);
  bytes.writeUInt16BE(PROTOCOL, 2);
  bytes.writeUInt16BE(bytes.length - XARM_HEAD_BYTES, 4);
  bytes.writeUInt8(func, 6);
}

/** Bits of the state byte of a reply. */
export const XARM_FLAG = { error: 0x40, warning: 0x20, notReady: 0x10, invalid: 0x08 } as const;

/** Whether these bytes are a reply: protocol, length, state byte. Its function is byte 6, its state byte 7, data from 8. */
export const isXarmReply = (bytes: Buffer): boolean =>
  bytes.length >= XARM_HEAD_BYTES + 2 &&
  bytes.readUInt16BE(2) === PROTOCOL &&
  bytes.readUInt16BE(4) === bytes.length - XARM_HEAD_BYTES;
