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
export const MAX_ID = 252;
/** Header, reserved byte, id and length. */
export const HEAD_BYTES = 7;
/** What the vendor's own buffers hold; longer packets are nobody's. */
export const MAX_PACKET_BYTES = 1024;

/** `FF FF FD 00 | id | length | instruction | parameters | CRC`; the length counts from the instruction on. */
function putHead(out: Uint8Array, id: number, instruction: number): void {
  out[0] = 0xff;
  out[1] = 0xff;
  out[2] = 0xfd;
  out[3] = 0;
  out[4] = id;
  out[7] = instruction;
}

function putTail(out: Uint8Array, end: number): number {
  const length = end + 2 - HEAD_BYTES;
  out[5] = length & 0xff;
  out[6] = length >> 8;
  const crc = crc16(out, 0, end);
  out[end] = crc & 0xff;
  out[end + 1] = crc >> 8;
  return end + 2;
}

/**
 * Writes a packet with its stuffing (an `FD` after each `FF FF FD` from the instruction on; length and CRC come
 * after it). Bytes written, or −1 where it does not fit. `params` must not lie in `out`. Hot path.
 */
export function encodePacket(
  out: Uint8Array,
  id: number,
  instruction: number,
  params: Uint8Array,
  paramBytes = params.length,
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
  return putTail(out, end);
}

const NOTHING = new Uint8Array(0);
const scratch = new Uint8Array(MAX_PACKET_BYTES);

/** A packet of its own memory, for what is not sent in every cycle. */
export function packet(id: number, instruction: number, params: ArrayLike<number> = NOTHING): Uint8Array {
  const length = encodePacket(scratch, id, instruction, Uint8Array.from(params));
  if (length < 0) throw new Error(`a packet of ${params.length} parameter bytes is too long`);
  return scratch.slice(0, length);
}

/** Little-endian two's complement in 1, 2 or 4 bytes. */
export function putValue(out: Uint8Array, at: number, value: number, size: number): void {
  for (let i = 0; i < size; i++) out[at + i] = (value >> (8 * i)) & 0xff;
}

export function valueBytes(value: number, size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  putValue(bytes, 0, value, size);
  return bytes;
}

export const unsignedAt = (bytes: Uint8Array, at: number, size: number): number =>
  size === 1
    ? bytes[at]!
    : size === 2
      ? bytes[at]! | (bytes[at + 1]! << 8)
      : (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;

export const signedAt = (bytes: Uint8Array, at: number, size: number): number => {
  const shift = 32 - 8 * size;
  return (unsignedAt(bytes, at, size) << shift) >> shift;
};

const word = (value: number): [number, number] => [value & 0xff, value >> 8];

export const pingPacket = (id: number): Uint8Array => packet(id, INSTRUCTION.ping);
export const rebootPacket = (id: number): Uint8Array => packet(id, INSTRUCTION.reboot);
/** Forgets whole turns: the position is again between 0 and 4095. */
export const clearTurnsPacket = (id: number): Uint8Array =>
  packet(id, INSTRUCTION.clear, [0x01, 0x44, 0x58, 0x4c, 0x22]);

export const readPacket = (id: number, address: number, size: number): Uint8Array =>
  packet(id, INSTRUCTION.read, [...word(address), ...word(size)]);

export const writePacket = (id: number, address: number, data: Uint8Array): Uint8Array =>
  packet(id, INSTRUCTION.write, [...word(address), ...data]);

export const syncReadPacket = (
  address: number,
  size: number,
  ids: readonly number[],
  fast = false,
): Uint8Array =>
  packet(BROADCAST_ID, fast ? INSTRUCTION.fastSyncRead : INSTRUCTION.syncRead, [
    ...word(address),
    ...word(size),
    ...ids,
  ]);

export interface BulkItem {
  id: number;
  address: number;
  size: number;
}

export const bulkReadPacket = (items: readonly BulkItem[], fast = false): Uint8Array =>
  packet(
    BROADCAST_ID,
    fast ? INSTRUCTION.fastBulkRead : INSTRUCTION.bulkRead,
    items.flatMap(({ id, address, size }) => [id, ...word(address), ...word(size)]),
  );

/** One register of several motors, encoded anew for each cycle without allocation. */
export class SyncWrite {
  readonly ids: readonly number[];
  readonly bytes: Uint8Array;
  readonly #size: number;
  readonly #params: Uint8Array;

  constructor(address: number, size: number, ids: readonly number[]) {
    this.ids = ids;
    this.#size = size;
    this.#params = new Uint8Array(4 + ids.length * (size + 1));
    this.#params.set([...word(address), ...word(size)]);
    ids.forEach((id, i) => {
      this.#params[4 + i * (size + 1)] = id;
    });
    // The worst stuffing adds a byte to three.
    this.bytes = new Uint8Array(HEAD_BYTES + 3 + Math.ceil((this.#params.length * 4) / 3));
  }

  set(index: number, value: number): void {
    putValue(this.#params, 5 + index * (this.#size + 1), value, this.#size);
  }

  /** Fills `bytes`; returns how many count. */
  encode(): number {
    return encodePacket(this.bytes, BROADCAST_ID, INSTRUCTION.syncWrite, this.#params);
  }
}

export function syncWritePacket(
  address: number,
  size: number,
  ids: readonly number[],
  values: readonly number[],
): Uint8Array {
  const sync = new SyncWrite(address, size, ids);
  ids.forEach((_, i) => {
    sync.set(i, values[i]!);
  });
  return sync.bytes.slice(0, sync.encode());
}

/** A motor's answer; for simulators and tests. */
export const statusPacket = (id: number, error: number, data: ArrayLike<number> = NOTHING): Uint8Array =>
  packet(id, INSTRUCTION.status, [error, ...Array.from(data)]);

export interface FastAnswer {
  id: number;
  error: number;
  data: Uint8Array;
}

/**
 * The answers of several motors in one packet, not stuffed: error, id, data and a CRC over all bytes so far, for
 * each motor. The last CRC is that of the packet.
 */
export function fastStatusPacket(answers: readonly FastAnswer[]): Uint8Array {
  const body = answers.reduce((sum, { data }) => sum + data.length + 4, 0);
  const out = new Uint8Array(HEAD_BYTES + 1 + body);
  putHead(out, BROADCAST_ID, INSTRUCTION.status);
  out[5] = (1 + body) & 0xff;
  out[6] = (1 + body) >> 8;
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
