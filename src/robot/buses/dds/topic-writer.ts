import type { EndpointData } from './discovery-data.ts';
import { type Guid, guidKey, type Locator, samePrefix } from './ids.ts';
import type { AcknackMessage } from './message-reader.ts';
import {
  type Change,
  MAX_MESSAGE_BYTES,
  MESSAGE_OVERHEAD_BYTES,
  type MessageWriter,
} from './message-writer.ts';

/** How long a reliable reader may leave samples unacknowledged before a heartbeat. */
const HEARTBEAT_NS = 100e6;
const MAX_READERS = 128;

/** Builds a message for a participant and sends it to its locator. */
export interface Outlet {
  begin(destination: Uint8Array | null): MessageWriter;
  send(to: Locator): void;
}

export interface RemoteReader {
  guid: Guid;
  reliable: boolean;
  locator: Locator;
}

interface ReaderProxy extends RemoteReader {
  /** The first change it should receive. */
  start: number;
  acked: number;
  /** Count of its last ACKNACK; older and repeated ones are ignored. */
  answers: number;
}

/**
 * A writer and its history. Sans I/O. Heartbeats announce the history to reliable readers, which get what
 * they request while it is kept; for dropped changes they get a GAP.
 */
export class TopicWriter {
  readonly data: EndpointData;
  readonly #outlet: Outlet;
  readonly #readers = new Map<string, ReaderProxy>();
  readonly #history: Change[] = [];
  #last = 0;
  #heartbeats = 0;
  #nextHeartbeatNs = 0;
  resent = 0;

  constructor(data: EndpointData, outlet: Outlet) {
    this.data = data;
    this.#outlet = outlet;
  }

  get matched(): number {
    return this.#readers.size;
  }

  /** Number of changes so far. */
  get written(): number {
    return this.#last;
  }

  /** Whether every reliable reader has acknowledged everything. */
  get isSettled(): boolean {
    for (const reader of this.#readers.values())
      if (reader.reliable && reader.acked < this.#last) return false;
    return true;
  }

  /** Keeps a copy. Returns false, and sends nothing, if it is too large for one datagram. */
  write(payload: Uint8Array, wallNs: number, nowNs: number): boolean {
    if (payload.length + MESSAGE_OVERHEAD_BYTES > MAX_MESSAGE_BYTES) return false;
    const change = { seq: ++this.#last, payload: payload.slice(), wallNs, gone: 0 };
    this.#history.push(change);
    while (this.#history.length > this.data.depth) this.#history.shift();
    for (const reader of this.#readers.values()) this.#sendChange(reader, change);
    this.#nextHeartbeatNs = nowNs + HEARTBEAT_NS;
    return true;
  }

  match(remote: RemoteReader, late: boolean, nowNs: number): boolean {
    const key = guidKey(remote.guid.prefix, remote.guid.entity);
    const known = this.#readers.get(key);
    if (known !== undefined) {
      known.locator = remote.locator;
      known.reliable = remote.reliable;
      return true;
    }
    if (this.#readers.size >= MAX_READERS) return false;
    const start = late ? 1 : this.#last + 1;
    const reader: ReaderProxy = { ...remote, start, acked: start - 1, answers: -1 };
    this.#readers.set(key, reader);
    if (late) for (const change of this.#history) this.#sendChange(reader, change);
    else if (reader.reliable) this.#sendHeartbeat(reader);
    this.#nextHeartbeatNs = nowNs + HEARTBEAT_NS;
    return true;
  }

  unmatch(guid: Guid): void {
    this.#readers.delete(guidKey(guid.prefix, guid.entity));
  }

  unmatchAll(prefix: Uint8Array): void {
    for (const [key, reader] of this.#readers)
      if (samePrefix(reader.guid.prefix, prefix)) this.#readers.delete(key);
  }

  onAcknack(source: Uint8Array, message: AcknackMessage): void {
    const reader = this.#readers.get(guidKey(source, message.reader));
    if (reader === undefined || !reader.reliable || !(message.base >= 0)) return;
    if (reader.answers >= 0 && ((message.count - reader.answers) | 0) <= 0) return;
    reader.answers = message.count;
    reader.acked = Math.max(reader.acked, Math.min(this.#last, message.base - 1));
    const first = this.#firstFor(reader);
    const gone = message.missing.filter((seq) => seq < first);
    if (gone.length > 0) this.#sendGap(reader, gone[0]!, first);
    for (const change of this.#history) {
      if (change.seq < first || !message.missing.includes(change.seq)) continue;
      this.resent++;
      this.#sendChange(reader, change);
    }
    if (!message.final && message.missing.length === 0 && reader.acked < this.#last)
      this.#sendHeartbeat(reader);
  }

  /** Call periodically. */
  tick(nowNs: number): void {
    if (nowNs < this.#nextHeartbeatNs) return;
    this.#nextHeartbeatNs = nowNs + HEARTBEAT_NS;
    for (const reader of this.#readers.values())
      if (reader.reliable && reader.acked < this.#last) this.#sendHeartbeat(reader);
  }

  #firstFor(reader: ReaderProxy): number {
    return Math.max(reader.start, this.#history[0]?.seq ?? this.#last + 1);
  }

  #sendChange(reader: ReaderProxy, change: Change): void {
    const { entity } = this.data.guid;
    const message = this.#outlet.begin(reader.guid.prefix).data(reader.guid.entity, entity, change);
    if (reader.reliable) this.#putHeartbeat(message, reader);
    this.#outlet.send(reader.locator);
  }

  #sendHeartbeat(reader: ReaderProxy): void {
    this.#putHeartbeat(this.#outlet.begin(reader.guid.prefix), reader);
    this.#outlet.send(reader.locator);
  }

  #putHeartbeat(message: MessageWriter, reader: ReaderProxy): void {
    this.#heartbeats = (this.#heartbeats + 1) | 0;
    const { entity } = this.data.guid;
    message.heartbeat(
      reader.guid.entity,
      entity,
      this.#firstFor(reader),
      this.#last,
      this.#heartbeats >>> 0,
      false,
    );
  }

  #sendGap(reader: ReaderProxy, from: number, base: number): void {
    const { entity } = this.data.guid;
    this.#outlet.begin(reader.guid.prefix).gap(reader.guid.entity, entity, from, { base, missing: [] });
    this.#outlet.send(reader.locator);
  }
}
