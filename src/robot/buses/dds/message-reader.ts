import { CdrReader } from '../../../core/cdr.ts';
import { FLAG, GUID_BYTES, PID, PREFIX_BYTES, SUBMESSAGE, samePrefix } from './ids.ts';
import { MAX_SET_BITS } from './message-writer.ts';
import { readEntity, walkParameters } from './parameter-list.ts';
import type { DdsReason } from './tally.ts';

const HEADER_BYTES = 20;
/** From here on submessages are vendor-specific. */
const FIRST_VENDOR_KIND = 0x80;
const NS_PER_FRACTION = 1e9 / 2 ** 32;

export interface DataMessage {
  reader: number;
  writer: number;
  seq: number;
  /** With its encapsulation; empty when there is none. A view of the datagram. */
  payload: Uint8Array;
  /** Writer's wall clock; NaN when not sent. */
  wallNs: number;
  /** Status bits of a disposed instance; 0 for data. */
  gone: number;
  /** Key of a disposed instance, if sent outside the payload. */
  keyHash: Uint8Array | null;
}

/** A part of a sample that was too large for one datagram. */
export interface FragmentMessage {
  reader: number;
  writer: number;
  seq: number;
  /** Counted from 1. */
  first: number;
  count: number;
  fragmentBytes: number;
  sampleBytes: number;
  payload: Uint8Array;
  wallNs: number;
}

export interface HeartbeatMessage {
  reader: number;
  writer: number;
  first: number;
  last: number;
  count: number;
  final: boolean;
}

export interface AcknackMessage {
  reader: number;
  writer: number;
  base: number;
  missing: number[];
  count: number;
  final: boolean;
}

export interface GapMessage {
  reader: number;
  writer: number;
  from: number;
  base: number;
  /** Numbers from `base` on. */
  more: number[];
}

/** Receives the parsed submessages; `source` is the sender's prefix. */
export interface MessageVisitor {
  onData(source: Uint8Array, message: DataMessage): void;
  onFragment(source: Uint8Array, message: FragmentMessage): void;
  onHeartbeat(source: Uint8Array, message: HeartbeatMessage): void;
  onAcknack(source: Uint8Array, message: AcknackMessage): void;
  onGap(source: Uint8Array, message: GapMessage): void;
  reject(reason: DdsReason): void;
}

/** Parses one RTPS message. Never throws; rejects what it cannot read and continues with the rest. */
export function readMessage(bytes: Uint8Array, own: Uint8Array, visitor: MessageVisitor): void {
  if (bytes.length < HEADER_BYTES) return visitor.reject('short');
  if (bytes[0] !== 0x52 || bytes[1] !== 0x54 || bytes[2] !== 0x50 || bytes[3] !== 0x53 || bytes[4] !== 2)
    return visitor.reject('bad-magic');
  const context = new MessageContext(bytes, own, visitor);
  for (let at = HEADER_BYTES; at + 4 <= bytes.length; ) {
    const kind = bytes[at]!;
    const flags = bytes[at + 1]!;
    const little = (flags & FLAG.little) !== 0;
    const reported = little ? bytes[at + 2]! + bytes[at + 3]! * 256 : bytes[at + 2]! * 256 + bytes[at + 3]!;
    const isInfo = kind === SUBMESSAGE.infoTimestamp || kind === SUBMESSAGE.pad;
    const end = reported === 0 && !isInfo ? bytes.length : at + 4 + reported;
    if (end > bytes.length) return visitor.reject('malformed');
    if (!context.take(kind, flags, new CdrReader(bytes, at + 4, end, little), at + 4, end))
      return visitor.reject('malformed');
    at = end;
  }
}

interface InlineQos {
  end: number;
  status: number;
  keyHash: Uint8Array | null;
}

/** State from earlier submessages that applies to later ones. */
class MessageContext {
  readonly #bytes: Uint8Array;
  readonly #own: Uint8Array;
  readonly #visitor: MessageVisitor;
  #source: Uint8Array;
  #forUs = true;
  #wallNs = Number.NaN;

  constructor(bytes: Uint8Array, own: Uint8Array, visitor: MessageVisitor) {
    this.#bytes = bytes;
    this.#own = own;
    this.#visitor = visitor;
    this.#source = bytes.subarray(8, 8 + PREFIX_BYTES);
  }

  /** False when the submessage is broken. */
  take(kind: number, flags: number, body: CdrReader, at: number, end: number): boolean {
    switch (kind) {
      case SUBMESSAGE.infoTimestamp:
        return this.#timestamp(flags, body);
      case SUBMESSAGE.infoDestination: {
        const prefix = body.bytes(PREFIX_BYTES);
        this.#forUs = prefix.every((byte) => byte === 0) || samePrefix(prefix, this.#own);
        return body.ok;
      }
      case SUBMESSAGE.infoSource:
        body.take(8);
        this.#source = body.bytes(PREFIX_BYTES);
        this.#wallNs = Number.NaN;
        return body.ok;
      case SUBMESSAGE.pad:
      case SUBMESSAGE.infoReply:
      case SUBMESSAGE.heartbeatFrag:
      case SUBMESSAGE.nackFrag:
        // We never send fragments; a peer's missing fragments are requested by sample.
        return true;
    }
    if (!this.#forUs || samePrefix(this.#source, this.#own)) return true;
    switch (kind) {
      case SUBMESSAGE.data:
        return this.#data(flags, body, at, end);
      case SUBMESSAGE.dataFrag:
        return this.#fragment(flags, body, at, end);
      case SUBMESSAGE.heartbeat:
        return this.#heartbeat(flags, body);
      case SUBMESSAGE.acknack:
        return this.#acknack(flags, body);
      case SUBMESSAGE.gap:
        return this.#gap(body);
    }
    if (kind < FIRST_VENDOR_KIND) this.#visitor.reject('unknown-submessage');
    return true;
  }

  #timestamp(flags: number, body: CdrReader): boolean {
    this.#wallNs = Number.NaN;
    if ((flags & FLAG.noTimestamp) !== 0) return true;
    const seconds = body.u32();
    const fraction = body.u32();
    if (body.ok) this.#wallNs = seconds * 1e9 + fraction * NS_PER_FRACTION;
    return body.ok;
  }

  #data(flags: number, body: CdrReader, at: number, end: number): boolean {
    body.u16();
    const toInlineQos = body.u16();
    const reader = readEntity(body);
    const writer = readEntity(body);
    const seq = readSequence(body);
    if (!body.ok) return false;
    const qos = this.#inlineQos(flags, at + 4 + toInlineQos, end, body.little);
    if (qos === null) return false;
    const hasPayload = (flags & (FLAG.data | FLAG.key)) !== 0;
    const payload = this.#bytes.subarray(hasPayload ? qos.end : end, end);
    this.#visitor.onData(this.#source, {
      reader,
      writer,
      seq,
      payload,
      wallNs: this.#wallNs,
      gone: qos.status,
      keyHash: qos.keyHash,
    });
    return true;
  }

  #inlineQos(flags: number, at: number, end: number, little: boolean): InlineQos | null {
    if (at > end) return null;
    const qos: InlineQos = { end: at, status: 0, keyHash: null };
    if ((flags & FLAG.inlineQos) === 0) return qos;
    qos.end = walkParameters(this.#bytes, at, end, little, (id, value) => {
      if (id === PID.keyHash) qos.keyHash = value.bytes(GUID_BYTES);
      if (id !== PID.statusInfo) return;
      value.take(3);
      qos.status = value.u8();
    });
    return qos.end < 0 ? null : qos;
  }

  #fragment(flags: number, body: CdrReader, at: number, end: number): boolean {
    body.u16();
    const toInlineQos = body.u16();
    const reader = readEntity(body);
    const writer = readEntity(body);
    const seq = readSequence(body);
    const first = body.u32();
    const count = body.u16();
    const fragmentBytes = body.u16();
    const sampleBytes = body.u32();
    if (!body.ok) return false;
    const qos = this.#inlineQos(flags, at + 4 + toInlineQos, end, body.little);
    if (qos === null) return false;
    if ((flags & FLAG.fragKey) !== 0) return true;
    const payload = this.#bytes.subarray(qos.end, end);
    const wallNs = this.#wallNs;
    const message = { reader, writer, seq, first, count, fragmentBytes, sampleBytes, payload, wallNs };
    this.#visitor.onFragment(this.#source, message);
    return true;
  }

  #heartbeat(flags: number, body: CdrReader): boolean {
    const reader = readEntity(body);
    const writer = readEntity(body);
    const first = readSequence(body);
    const last = readSequence(body);
    const count = body.u32();
    const final = (flags & FLAG.final) !== 0;
    if (body.ok) this.#visitor.onHeartbeat(this.#source, { reader, writer, first, last, count, final });
    return body.ok;
  }

  #acknack(flags: number, body: CdrReader): boolean {
    const reader = readEntity(body);
    const writer = readEntity(body);
    const { base, members } = readSet(body);
    const count = body.u32();
    const final = (flags & FLAG.final) !== 0;
    if (body.ok)
      this.#visitor.onAcknack(this.#source, { reader, writer, base, missing: members, count, final });
    return body.ok;
  }

  #gap(body: CdrReader): boolean {
    const reader = readEntity(body);
    const writer = readEntity(body);
    const from = readSequence(body);
    const { base, members } = readSet(body);
    if (body.ok) this.#visitor.onGap(this.#source, { reader, writer, from, base, more: members });
    return body.ok;
  }
}

/** A sequence number as a plain number; NaN if no writer could have reached it. */
function readSequence(body: CdrReader): number {
  const high = body.i32();
  const low = body.u32();
  return high < 0 || high >= 2 ** 20 ? Number.NaN : high * 2 ** 32 + low;
}

function readSet(body: CdrReader): { base: number; members: number[] } {
  const base = readSequence(body);
  const bits = body.u32();
  const members: number[] = [];
  if (bits > MAX_SET_BITS) {
    body.ok = false;
    return { base, members };
  }
  for (let word = 0; word * 32 < bits; word++) {
    const value = body.u32();
    for (let bit = 0; bit < 32 && word * 32 + bit < bits; bit++)
      if ((value & (1 << (31 - bit))) !== 0) members.push(base + word * 32 + bit);
  }
  return { base, members };
}
