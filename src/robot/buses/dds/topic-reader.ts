import type { EndpointData } from './discovery-data.ts';
import { type Guid, guidKey, samePrefix } from './ids.ts';
import type { DataMessage, FragmentMessage, GapMessage, HeartbeatMessage } from './message-reader.ts';
import { MAX_SET_BITS } from './message-writer.ts';
import type { Tally } from './tally.ts';
import type { Outlet } from './topic-writer.ts';
import {
  Assembly,
  newWriterProxy,
  type RemoteWriter,
  type Sample,
  type WriterProxy,
} from './writer-proxy.ts';

const MAX_WRITERS = 128;
const MAX_HELD = 64;
const ASK_AGAIN_NS = 20e6;
const GREET_AGAIN_NS = 500e6;
/** Give up on a missing sample after this long: newer ones wait behind it. */
const GIVE_UP_NS = 500e6;
/** After a pause of our thread, first process what has already arrived. */
const GIVE_UP_TICKS = 5;

/** Memory for early samples, shared by all readers. */
export interface HeldBudget {
  leftBytes: number;
}

/** `sample.payload` may be a view of a datagram: valid only during the call. */
export type SampleListener = (sample: Sample, writer: RemoteWriter, nowNs: number) => void;

/**
 * A reader: delivers each sample once and in order. Sans I/O. It requests missing samples again from a
 * reliable writer; on a volatile topic it soon gives up on them rather than keep newer samples waiting.
 */
export class TopicReader {
  readonly data: EndpointData;
  readonly #outlet: Outlet;
  readonly #tally: Tally;
  readonly #budget: HeldBudget;
  readonly #onSample: SampleListener;
  readonly #writers = new Map<string, WriterProxy>();
  /** Samples that were sent but never arrived. */
  lost = 0;

  constructor(
    data: EndpointData,
    outlet: Outlet,
    tally: Tally,
    budget: HeldBudget,
    onSample: SampleListener,
  ) {
    this.data = data;
    this.#outlet = outlet;
    this.#tally = tally;
    this.#budget = budget;
    this.#onSample = onSample;
  }

  get matched(): number {
    return this.#writers.size;
  }

  has(key: string): boolean {
    return this.#writers.has(key);
  }

  match(remote: Omit<RemoteWriter, 'key'>, nowNs: number): boolean {
    const key = guidKey(remote.guid.prefix, remote.guid.entity);
    const known = this.#writers.get(key);
    if (known !== undefined) {
      known.locator = remote.locator;
      return true;
    }
    if (this.#writers.size >= MAX_WRITERS) return false;
    const reliable = remote.reliable && this.data.reliable;
    const writer = newWriterProxy({ ...remote, key, reliable }, this.data.transientLocal ? 1 : Number.NaN);
    this.#writers.set(key, writer);
    if (reliable) this.#answer(writer, [], nowNs, false);
    return true;
  }

  unmatch(guid: Guid): void {
    this.#drop(guidKey(guid.prefix, guid.entity));
  }

  unmatchAll(prefix: Uint8Array): void {
    for (const [key, writer] of this.#writers) if (samePrefix(writer.guid.prefix, prefix)) this.#drop(key);
  }

  /** False if the writer is unknown. */
  onData(source: Uint8Array, message: DataMessage, nowNs: number): boolean {
    const writer = this.#writers.get(guidKey(source, message.writer));
    if (writer === undefined) return false;
    const { seq, payload, wallNs, gone, keyHash } = message;
    this.#take(writer, { seq, payload, wallNs, gone, keyHash }, nowNs);
    return true;
  }

  onFragment(source: Uint8Array, message: FragmentMessage, nowNs: number): boolean {
    const writer = this.#writers.get(guidKey(source, message.writer));
    if (writer === undefined) return false;
    const { seq, wallNs } = message;
    if (!(seq >= 1)) this.#tally.add('bad-sequence');
    else if (seq < writer.next || seq < (writer.assembly?.seq ?? 0)) this.#tally.add('duplicate');
    else {
      if (writer.assembly?.seq !== seq) writer.assembly = Assembly.begin(message);
      const { assembly } = writer;
      if (assembly === null) this.#tally.add('oversize');
      else if (!assembly.add(message)) this.#tally.add('malformed');
      else if (assembly.isWhole) {
        writer.assembly = null;
        this.#take(writer, { seq, payload: assembly.bytes, wallNs, gone: 0, keyHash: null }, nowNs);
      }
    }
    return true;
  }

  onHeartbeat(source: Uint8Array, message: HeartbeatMessage, nowNs: number): boolean {
    const writer = this.#writers.get(guidKey(source, message.writer));
    if (writer === undefined) return false;
    if (!writer.reliable) return true;
    const { first, last, count, final } = message;
    if (!(first >= 1) || !(last >= first - 1)) {
      this.#tally.add('bad-sequence');
      return true;
    }
    if (((count - writer.heartbeats) | 0) <= 0 && writer.receivedHeartbeat) return true;
    writer.heartbeats = count;
    writer.receivedHeartbeat = true;
    if (Number.isNaN(writer.next)) writer.next = last + 1;
    if (first > writer.next) this.#skipTo(writer, first, nowNs);
    const missing = this.#missing(writer, last);
    if (missing.length > 0 && Number.isNaN(writer.gapNs)) writer.gapNs = nowNs;
    if (missing.length > 0 || !final) this.#answer(writer, missing, nowNs, true);
    return true;
  }

  onGap(source: Uint8Array, message: GapMessage, nowNs: number): boolean {
    const writer = this.#writers.get(guidKey(source, message.writer));
    if (writer === undefined) return false;
    const { from, base, more } = message;
    if (!(from >= 1) || !(base >= from)) {
      this.#tally.add('bad-sequence');
      return true;
    }
    if (Number.isNaN(writer.next)) return true;
    if (from <= writer.next && base > writer.next) this.#skipTo(writer, base, nowNs, false);
    for (const seq of more)
      if (seq >= writer.next && writer.held.size < MAX_HELD) this.#hold(writer, seq, null);
    this.#flush(writer, nowNs);
    return true;
  }

  /** Call periodically. */
  tick(nowNs: number): void {
    for (const writer of this.#writers.values()) {
      if (!writer.reliable) continue;
      if (!writer.receivedHeartbeat && nowNs - writer.askedNs > GREET_AGAIN_NS)
        this.#answer(writer, [], nowNs, false);
      writer.gapTicks = Number.isNaN(writer.gapNs) ? 0 : writer.gapTicks + 1;
      if (writer.held.size > 0 && nowNs - writer.askedNs > ASK_AGAIN_NS)
        this.#answer(writer, this.#missing(writer, Math.max(...writer.held.keys())), nowNs, true);
      const isOverdue = nowNs - writer.gapNs > GIVE_UP_NS && writer.gapTicks > GIVE_UP_TICKS;
      if (isOverdue && writer.held.size > 0 && !this.data.transientLocal)
        this.#skipTo(writer, Math.min(...writer.held.keys()), nowNs);
    }
  }

  #take(writer: WriterProxy, sample: Sample, nowNs: number): void {
    const { seq } = sample;
    if (!(seq >= 1)) return this.#tally.add('bad-sequence');
    if (Number.isNaN(writer.next)) writer.next = seq;
    if (seq < writer.next || writer.held.has(seq)) return this.#tally.add('duplicate');
    if (!writer.reliable && seq > writer.next) this.#lose(seq - writer.next);
    if (!writer.reliable || seq === writer.next) {
      writer.next = seq + 1;
      this.#onSample(sample, writer, nowNs);
      return this.#flush(writer, nowNs);
    }
    if (!this.#hold(writer, seq, sample)) return this.#tally.add('budget');
    if (Number.isNaN(writer.gapNs)) writer.gapNs = nowNs;
    if (nowNs - writer.askedNs > ASK_AGAIN_NS) this.#answer(writer, this.#missing(writer, seq), nowNs, true);
  }

  #hold(writer: WriterProxy, seq: number, sample: Sample | null): boolean {
    const bytes = sample?.payload.length ?? 0;
    if (writer.held.size >= MAX_HELD || bytes > this.#budget.leftBytes) return false;
    this.#release(writer.held.get(seq));
    this.#budget.leftBytes -= bytes;
    writer.held.set(seq, sample === null ? null : { ...sample, payload: sample.payload.slice() });
    return true;
  }

  #release(sample: Sample | null | undefined): void {
    this.#budget.leftBytes += sample?.payload.length ?? 0;
  }

  /** Delivers the samples that are now in order. */
  #flush(writer: WriterProxy, nowNs: number): void {
    for (
      let sample = writer.held.get(writer.next);
      sample !== undefined;
      sample = writer.held.get(writer.next)
    ) {
      writer.held.delete(writer.next);
      this.#release(sample);
      writer.next++;
      if (sample !== null) this.#onSample(sample, writer, nowNs);
    }
    writer.gapNs = writer.held.size === 0 ? Number.NaN : writer.gapNs;
  }

  /** Samples before `seq` will never arrive. */
  #skipTo(writer: WriterProxy, seq: number, nowNs: number, isLoss = true): void {
    let here = 0;
    for (const held of [...writer.held.keys()].filter((key) => key < seq).sort((a, b) => a - b)) {
      const sample = writer.held.get(held) ?? null;
      writer.held.delete(held);
      this.#release(sample);
      here++;
      if (sample !== null) this.#onSample(sample, writer, nowNs);
    }
    if (isLoss) this.#lose(seq - writer.next - here);
    writer.next = seq;
    writer.gapNs = Number.NaN;
    this.#flush(writer, nowNs);
    if (writer.held.size > 0) writer.gapNs = nowNs;
  }

  #lose(count: number): void {
    if (count <= 0 || this.data.transientLocal) return;
    this.lost += count;
    this.#tally.add('lost', count);
  }

  #missing(writer: WriterProxy, last: number): number[] {
    const missing: number[] = [];
    const end = Math.min(last, writer.next + MAX_SET_BITS - 1);
    for (let seq = writer.next; seq <= end; seq++) if (!writer.held.has(seq)) missing.push(seq);
    return missing;
  }

  #answer(writer: WriterProxy, missing: readonly number[], nowNs: number, final: boolean): void {
    writer.askedNs = nowNs;
    writer.answers = (writer.answers + 1) >>> 0;
    const base = Number.isNaN(writer.next) ? 1 : writer.next;
    this.#outlet
      .begin(writer.guid.prefix)
      .acknack(this.data.guid.entity, writer.guid.entity, { base, missing }, writer.answers, final);
    this.#outlet.send(writer.locator);
  }

  #drop(key: string): void {
    const writer = this.#writers.get(key);
    if (writer === undefined) return;
    for (const sample of writer.held.values()) this.#release(sample);
    this.#writers.delete(key);
  }
}
