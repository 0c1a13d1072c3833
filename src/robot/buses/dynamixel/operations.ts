import type { DynamixelBus } from './bus.ts';
import type { Register } from './control-table.ts';
import { FastStatus } from './fast-status.ts';
import {
  BROADCAST_ID,
  type BulkItem,
  bulkReadPacket,
  MAX_ID,
  pingPacket,
  readPacket,
  rebootPacket,
  syncReadPacket,
  syncWritePacket,
  unsignedAt,
  valueBytes,
  writePacket,
} from './packets.ts';
import type { DynamixelPacket } from './parser.ts';

/** Operations for set-up, one exchange each; null where no answer came. None of them throws. */

export interface MotorInfo {
  modelNumber: number;
  firmware: number;
}

export interface Answer {
  error: number;
  data: Uint8Array;
}

const STATUS_BYTES = 11;
const PING_BYTES = 14;
/** The vendor's allowance for each of all possible motors, beside its bytes. */
const PING_SCAN_MS = 3;

/** Sends, and collects what `take` accepts until `answers` came or the time is over. */
function exchange(
  bus: DynamixelBus,
  bytes: Uint8Array,
  answers: number,
  answerBytes: number,
  take: (packet: DynamixelPacket) => number,
): Promise<boolean> {
  return new Promise((resolve) => {
    bus.submit({
      bytes,
      byteCount: bytes.length,
      answers,
      answerBytes,
      onStatus: take,
      onDone: resolve,
    });
  });
}

async function single(
  bus: DynamixelBus,
  id: number,
  bytes: Uint8Array,
  size: number,
): Promise<Answer | null> {
  let answer: Answer | null = null;
  await exchange(bus, bytes, 1, STATUS_BYTES + size, (packet) => {
    // An error comes without data.
    if (packet.id !== id || (packet.paramBytes !== size && packet.paramBytes !== 0)) return 0;
    answer = { error: packet.error, data: packet.params.slice(0, packet.paramBytes) };
    return 1;
  });
  return answer;
}

export async function ping(bus: DynamixelBus, id: number): Promise<MotorInfo | null> {
  const answer = await single(bus, id, pingPacket(id), 3);
  return answer !== null && answer.data.length === 3 ? infoOf(answer.data) : null;
}

const infoOf = (data: Uint8Array): MotorInfo => ({ modelNumber: unsignedAt(data, 0, 2), firmware: data[2]! });

/** Asks everyone at once; takes the time that all possible motors would. */
export async function pingAll(bus: DynamixelBus): Promise<Map<number, MotorInfo>> {
  const found = new Map<number, MotorInfo>();
  const extraBytes = (PING_SCAN_MS * MAX_ID * bus.baudRate) / 10_000;
  await exchange(bus, pingPacket(BROADCAST_ID), MAX_ID + 1, PING_BYTES * MAX_ID + extraBytes, (packet) => {
    if (packet.paramBytes !== 3 || found.has(packet.id)) return 0;
    found.set(packet.id, infoOf(packet.params));
    return 1;
  });
  return found;
}

export const readBytes = (
  bus: DynamixelBus,
  id: number,
  address: number,
  size: number,
): Promise<Answer | null> => single(bus, id, readPacket(id, address, size), size);

/** The register's value, not negative; null where the motor did not answer or refused. */
export async function read(bus: DynamixelBus, id: number, register: Register): Promise<number | null> {
  const answer = await readBytes(bus, id, register.address, register.size);
  return answer?.data.length === register.size ? unsignedAt(answer.data, 0, register.size) : null;
}

/** The error byte of the answer. A motor with status return level 0 or 1 gives none. */
export async function write(
  bus: DynamixelBus,
  id: number,
  register: Register,
  value: number,
): Promise<number | null> {
  const bytes = writePacket(id, register.address, valueBytes(value, register.size));
  return (await single(bus, id, bytes, 0))?.error ?? null;
}

export async function reboot(bus: DynamixelBus, id: number): Promise<boolean> {
  return (await single(bus, id, rebootPacket(id), 0)) !== null;
}

/** Answers by id; those that did not come are missing. */
export async function syncReadBytes(
  bus: DynamixelBus,
  ids: readonly number[],
  address: number,
  size: number,
): Promise<Map<number, Answer>> {
  return several(
    bus,
    syncReadPacket(address, size, ids),
    ids.map((id) => ({ id, address, size })),
  );
}

export const bulkRead = (bus: DynamixelBus, items: readonly BulkItem[]): Promise<Map<number, Answer>> =>
  several(bus, bulkReadPacket(items), items);

async function several(
  bus: DynamixelBus,
  bytes: Uint8Array,
  items: readonly BulkItem[],
): Promise<Map<number, Answer>> {
  const sizes = new Map(items.map(({ id, size }) => [id, size]));
  const found = new Map<number, Answer>();
  const answerBytes = items.reduce((sum, { size }) => sum + STATUS_BYTES + size, 0);
  await exchange(bus, bytes, items.length, answerBytes, ({ id, error, params, paramBytes }) => {
    if (found.has(id) || sizes.get(id) !== paramBytes) return 0;
    found.set(id, { error, data: params.slice(0, paramBytes) });
    return 1;
  });
  return found;
}

/** All answers or none. Needs firmware that knows it. */
export async function fastSyncReadBytes(
  bus: DynamixelBus,
  ids: readonly number[],
  address: number,
  size: number,
): Promise<Map<number, Answer>> {
  const found = new Map<number, Answer>();
  const fast = new FastStatus(ids, size, (id, error, bytes, at) => {
    found.set(id, { error, data: bytes.slice(at, at + size) });
  });
  const bytes = syncReadPacket(address, size, ids, true);
  await exchange(bus, bytes, ids.length, 8 + ids.length * (size + 4), (packet) =>
    packet.id === BROADCAST_ID ? fast.take(packet.params, packet.paramBytes) : 0,
  );
  return found;
}

/** One register of several motors, not negative, by id. */
export async function syncRead(
  bus: DynamixelBus,
  ids: readonly number[],
  register: Register,
): Promise<Map<number, number>> {
  const answers = await syncReadBytes(bus, ids, register.address, register.size);
  return new Map([...answers].map(([id, { data }]) => [id, unsignedAt(data, 0, register.size)]));
}

/** Not answered by anyone, so it works at every status return level. Resolves when it is on its way. */
export function syncWrite(
  bus: DynamixelBus,
  ids: readonly number[],
  register: Register,
  values: number | readonly number[],
): Promise<boolean> {
  if (ids.length === 0) return Promise.resolve(true);
  const all = typeof values === 'number' ? ids.map(() => values) : values;
  return exchange(bus, syncWritePacket(register.address, register.size, ids, all), 0, 0, () => 0);
}
