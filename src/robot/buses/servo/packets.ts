import type { ServoProtocol } from './servo-protocol.ts';
import { putValue } from './values.ts';

const NOTHING = new Uint8Array(0);

/** A packet in its own buffer, for packets that are not sent every cycle. */
export function packet(
  protocol: ServoProtocol,
  id: number,
  instruction: number,
  params: ArrayLike<number> = NOTHING,
): Uint8Array {
  const out = new Uint8Array(protocol.packetBytes(params.length));
  const length = protocol.encode(out, id, instruction, Uint8Array.from(params), params.length);
  if (length < 0) throw new Error(`a packet of ${params.length} parameter bytes is too long`);
  return out.slice(0, length);
}

/** An address or a size. */
const word = ({ addressBytes }: ServoProtocol, value: number): number[] =>
  addressBytes === 1 ? [value] : [value & 0xff, value >> 8];

export const pingPacket = (protocol: ServoProtocol, id: number): Uint8Array =>
  packet(protocol, id, protocol.ping);

export const readPacket = (protocol: ServoProtocol, id: number, address: number, size: number): Uint8Array =>
  packet(protocol, id, protocol.read, [...word(protocol, address), ...word(protocol, size)]);

export const writePacket = (
  protocol: ServoProtocol,
  id: number,
  address: number,
  data: ArrayLike<number>,
): Uint8Array => packet(protocol, id, protocol.write, [...word(protocol, address), ...Array.from(data)]);

/** `instruction`: the protocol's sync read, or a variant of it. */
export const syncReadPacket = (
  protocol: ServoProtocol,
  instruction: number,
  address: number,
  size: number,
  ids: readonly number[],
): Uint8Array =>
  packet(protocol, protocol.broadcastId, instruction, [
    ...word(protocol, address),
    ...word(protocol, size),
    ...ids,
  ]);

/** What to read from one servo. */
export interface ReadItem {
  id: number;
  address: number;
  size: number;
}

export const bulkReadPacket = (
  protocol: ServoProtocol,
  instruction: number,
  items: readonly ReadItem[],
): Uint8Array =>
  packet(
    protocol,
    protocol.broadcastId,
    instruction,
    items.flatMap(({ id, address, size }) => [id, ...word(protocol, address), ...word(protocol, size)]),
  );

/** One register of several servos, re-encoded each cycle without allocation. */
export class SyncWrite {
  readonly bytes: Uint8Array;
  readonly #protocol: ServoProtocol;
  readonly #size: number;
  readonly #headBytes: number;
  readonly #params: Uint8Array;

  constructor(protocol: ServoProtocol, address: number, size: number, ids: readonly number[]) {
    const head = [...word(protocol, address), ...word(protocol, size)];
    this.#protocol = protocol;
    this.#size = size;
    this.#headBytes = head.length;
    this.#params = new Uint8Array(head.length + ids.length * (size + 1));
    this.#params.set(head);
    ids.forEach((id, i) => {
      this.#params[head.length + i * (size + 1)] = id;
    });
    this.bytes = new Uint8Array(protocol.packetBytes(this.#params.length));
  }

  set(index: number, value: number): void {
    const at = this.#headBytes + index * (this.#size + 1) + 1;
    putValue(this.#params, at, value, this.#size, this.#protocol.isLittleEndian);
  }

  /** Fills `bytes`; returns the length. */
  encode(): number {
    const { broadcastId, syncWrite } = this.#protocol;
    return this.#protocol.encode(this.bytes, broadcastId, syncWrite, this.#params, this.#params.length);
  }
}

export function syncWritePacket(
  protocol: ServoProtocol,
  address: number,
  size: number,
  ids: readonly number[],
  values: readonly number[],
): Uint8Array {
  const sync = new SyncWrite(protocol, address, size, ids);
  ids.forEach((_, i) => {
    sync.set(i, values[i]!);
  });
  const length = sync.encode();
  if (length < 0) throw new Error(`a sync write of ${size} bytes to ${ids.length} servos is too long`);
  return sync.bytes.slice(0, length);
}
