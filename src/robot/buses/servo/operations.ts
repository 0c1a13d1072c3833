import {
  bulkReadPacket,
  pingPacket,
  type ReadItem,
  readPacket,
  syncReadPacket,
  syncWritePacket,
  writePacket,
} from './packets.ts';
import type { ServoBus } from './servo-bus.ts';
import type { Register, ServoPacket } from './servo-protocol.ts';
import { putValue, unsignedAt } from './values.ts';

/** Set-up operations, one exchange each; null if no reply came. They never throw. */

export interface Answer {
  error: number;
  data: Uint8Array;
}

/** Sends, and collects what `take` accepts until all `answers` arrived or the time is up. */
function exchange(
  bus: ServoBus,
  bytes: Uint8Array,
  answers: number,
  answerBytes: number,
  take: (packet: ServoPacket) => number,
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

/** Sends an instruction to one servo; its reply has `size` bytes of data, or none if it reports an error. */
export async function requestOne(
  bus: ServoBus,
  id: number,
  bytes: Uint8Array,
  size: number,
): Promise<Answer | null> {
  let answer: Answer | null = null;
  await exchange(bus, bytes, 1, bus.protocol.statusBytes + size, (packet) => {
    if (packet.id !== id || (packet.paramBytes !== size && packet.paramBytes !== 0)) return 0;
    answer = { error: packet.error, data: packet.params.slice(0, packet.paramBytes) };
    return 1;
  });
  return answer;
}

export const ping = (bus: ServoBus, id: number): Promise<Answer | null> =>
  requestOne(bus, id, pingPacket(bus.protocol, id), bus.protocol.pingDataBytes);

export const readBytes = (bus: ServoBus, id: number, address: number, size: number): Promise<Answer | null> =>
  requestOne(bus, id, readPacket(bus.protocol, id, address, size), size);

/** Bytes at the begin of every table, in sizes that nothing else asks for: in turn, so that a late one is not taken for the next. */
const MARK_BYTES = [5, 6, 7] as const;

/**
 * A reply names neither its request nor its register: one that comes after its time is taken for the reply to the next request of
 * its size, and so on with all that follow. Servos reply in order: if this is true, nothing asked before can be answered any more.
 * After an incomplete read, ask until it is, and nothing else meanwhile.
 */
export async function isInStep(bus: ServoBus, id: number): Promise<boolean> {
  const size = MARK_BYTES[bus.marks++ % MARK_BYTES.length]!;
  return (await readBytes(bus, id, 0, size))?.data.length === size;
}

/** The register's value, not negative; null if the servo did not reply or reported an error. */
export async function read(bus: ServoBus, id: number, register: Register): Promise<number | null> {
  const answer = await readBytes(bus, id, register.address, register.size);
  return answer?.data.length === register.size ? registerValue(bus, answer.data) : null;
}

const registerValue = (bus: ServoBus, data: Uint8Array): number =>
  unsignedAt(data, 0, data.length, bus.protocol.isLittleEndian);

/** The reply's error byte; null if there was no reply. Servos can be configured not to acknowledge writes. */
export async function write(
  bus: ServoBus,
  id: number,
  register: Register,
  value: number,
): Promise<number | null> {
  const data = new Uint8Array(register.size);
  putValue(data, 0, value, register.size, bus.protocol.isLittleEndian);
  return (await requestOne(bus, id, writePacket(bus.protocol, id, register.address, data), 0))?.error ?? null;
}

/** Replies by id; missing ones are absent. */
export function syncReadBytes(
  bus: ServoBus,
  ids: readonly number[],
  address: number,
  size: number,
): Promise<Map<number, Answer>> {
  const { syncRead } = bus.protocol;
  const items = ids.map((id) => ({ id, address, size }));
  return syncRead === null
    ? oneByOne(bus, items)
    : several(bus, syncReadPacket(bus.protocol, syncRead, address, size, ids), items);
}

/** Different registers of several servos. Replies by id; missing ones are absent. */
export function bulkRead(bus: ServoBus, items: readonly ReadItem[]): Promise<Map<number, Answer>> {
  const instruction = bus.protocol.bulkRead;
  return instruction === null
    ? oneByOne(bus, items)
    : several(bus, bulkReadPacket(bus.protocol, instruction, items), items);
}

async function several(
  bus: ServoBus,
  bytes: Uint8Array,
  items: readonly ReadItem[],
): Promise<Map<number, Answer>> {
  const sizes = new Map(items.map(({ id, size }) => [id, size]));
  const found = new Map<number, Answer>();
  const answerBytes = items.reduce((sum, { size }) => sum + bus.protocol.statusBytes + size, 0);
  await exchange(bus, bytes, items.length, answerBytes, ({ id, error, params, paramBytes }) => {
    if (found.has(id) || sizes.get(id) !== paramBytes) return 0;
    found.set(id, { error, data: params.slice(0, paramBytes) });
    return 1;
  });
  return found;
}

async function oneByOne(bus: ServoBus, items: readonly ReadItem[]): Promise<Map<number, Answer>> {
  const found = new Map<number, Answer>();
  for (const { id, address, size } of items) {
    const answer = await readBytes(bus, id, address, size);
    if (answer?.data.length === size) found.set(id, answer);
  }
  return found;
}

/** One register of several servos, not negative, by id. */
export async function syncRead(
  bus: ServoBus,
  ids: readonly number[],
  register: Register,
): Promise<Map<number, number>> {
  const answers = await syncReadBytes(bus, ids, register.address, register.size);
  return new Map([...answers].map(([id, { data }]) => [id, registerValue(bus, data)]));
}

/** No servo replies, so it works at every status return level. Resolves once sent. */
export function syncWrite(
  bus: ServoBus,
  ids: readonly number[],
  register: Register,
  values: number | readonly number[],
): Promise<boolean> {
  if (ids.length === 0) return Promise.resolve(true);
  const all = typeof values === 'number' ? ids.map(() => values) : values;
  const bytes = syncWritePacket(bus.protocol, register.address, register.size, ids, all);
  return exchange(bus, bytes, 0, 0, () => 0);
}
