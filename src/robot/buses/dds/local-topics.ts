import { type EndpointData, mismatch, type TopicQos } from './discovery-data.ts';
import {
  GUID_BYTES,
  type Guid,
  guidKey,
  type Locator,
  PID,
  PREFIX_BYTES,
  samePrefix,
  USER_READER,
  USER_WRITER,
} from './ids.ts';
import { readGuid, walkPayload } from './parameter-list.ts';
import type { Tally } from './tally.ts';
import { type HeldBudget, type SampleListener, TopicReader } from './topic-reader.ts';
import { type Outlet, TopicWriter } from './topic-writer.ts';
import type { Sample } from './writer-proxy.ts';

const MAX_TOPICS = 256;

export interface Topic extends TopicQos {
  topic: string;
  type: string;
  depth: number;
  userData: string;
}

/** Our writers and readers, and the remote ones that match them. */
export class LocalTopics {
  readonly writers: TopicWriter[] = [];
  readonly readers: TopicReader[] = [];
  /** Topics that others write, with their types. */
  readonly seen = new Map<string, string>();
  lastMismatch = '';
  readonly #prefix: Uint8Array;
  readonly #outlet: Outlet;
  readonly #tally: Tally;
  readonly #budget: HeldBudget;
  /** Remote writers on topics that we write. */
  readonly #rivals = new Map<string, { guid: Guid; topic: string }>();

  constructor(prefix: Uint8Array, outlet: Outlet, tally: Tally, budget: HeldBudget) {
    this.#prefix = prefix;
    this.#outlet = outlet;
    this.#tally = tally;
    this.#budget = budget;
  }

  addWriter(topic: Topic): TopicWriter {
    const writer = new TopicWriter(this.#endpoint(topic, this.writers.length, USER_WRITER), this.#outlet);
    this.writers.push(writer);
    return writer;
  }

  addReader(topic: Topic, onSample: SampleListener): TopicReader {
    const data = this.#endpoint(topic, this.readers.length, USER_READER);
    const reader = new TopicReader(data, this.#outlet, this.#tally, this.#budget, onSample);
    this.readers.push(reader);
    return reader;
  }

  rivals(topic: string): number {
    let count = 0;
    for (const rival of this.#rivals.values()) if (rival.topic === topic) count++;
    return count;
  }

  onRemoteWriter(data: EndpointData, locator: Locator, nowNs: number): void {
    if (this.seen.size < MAX_TOPICS) this.seen.set(data.topic, data.type);
    const { guid, reliable } = data;
    for (const reader of this.readers) {
      if (reader.data.topic !== data.topic || !this.#agree(data, reader.data, data)) continue;
      if (!reader.match({ guid, reliable, locator }, nowNs)) this.#tally.add('too-many-peers');
    }
    if (this.writers.some((writer) => writer.data.topic === data.topic) && this.#rivals.size < MAX_TOPICS)
      this.#rivals.set(guidKey(guid.prefix, guid.entity), { guid, topic: data.topic });
  }

  onRemoteReader(data: EndpointData, locator: Locator, nowNs: number): void {
    const { guid } = data;
    for (const writer of this.writers) {
      if (writer.data.topic !== data.topic || !this.#agree(writer.data, data, data)) continue;
      const remote = { guid, reliable: data.reliable, locator };
      if (!writer.match(remote, false, nowNs)) this.#tally.add('too-many-peers');
    }
  }

  /** Identified by its key, in the payload or inline; only its own participant may remove it. */
  onEndpointGone({ payload, keyHash }: Sample, source: Uint8Array): void {
    let guid: Guid | null = null;
    walkPayload(payload, (id, value) => {
      if (id === PID.endpointGuid) guid = readGuid(value);
    });
    if (guid === null && keyHash?.length === GUID_BYTES)
      guid = { prefix: keyHash.slice(0, PREFIX_BYTES), entity: new DataView(keyHash.buffer).getUint32(12) };
    if (guid === null || !samePrefix((guid as Guid).prefix, source)) return this.#tally.add('malformed');
    for (const writer of this.writers) writer.unmatch(guid);
    for (const reader of this.readers) reader.unmatch(guid);
    this.#rivals.delete(guidKey((guid as Guid).prefix, (guid as Guid).entity));
  }

  forgetRivals(prefix: Uint8Array): void {
    for (const [key, { guid }] of this.#rivals) if (samePrefix(guid.prefix, prefix)) this.#rivals.delete(key);
  }

  #agree(writer: EndpointData, reader: EndpointData, theirs: EndpointData): boolean {
    const reason = mismatch(writer, reader);
    if (reason === null) return true;
    this.#tally.add(reason);
    const detail = reason === 'type-mismatch' ? `has type ${theirs.type}` : qosText(writer, reader);
    this.lastMismatch = `${theirs.topic} ${detail}`;
    return false;
  }

  #endpoint(topic: Topic, index: number, kind: number): EndpointData {
    const guid = { prefix: this.#prefix, entity: ((index + 1) << 8) | kind };
    return { ...topic, guid, locators: [], partitions: [], plainCdr: true };
  }
}

function qosText(writer: EndpointData, reader: EndpointData): string {
  if (reader.reliable && !writer.reliable) return 'is best-effort, but its reader requires reliable';
  if (reader.transientLocal && !writer.transientLocal)
    return 'is volatile, but its reader requires transient-local';
  if (!reader.plainCdr || !writer.plainCdr) return 'is not in plain CDR (XCDR1)';
  return 'is in a partition';
}
