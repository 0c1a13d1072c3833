import { CdrWriter } from '../../../core/cdr.ts';
import { encodeAnnouncement, encodeLeave, type ParticipantOptions } from './announcement.ts';
import {
  decodeEndpoint,
  decodeParticipant,
  type EndpointData,
  encodeEndpoint,
  type ParticipantData,
  reachable,
} from './discovery-data.ts';
import {
  BUILTIN,
  DISPOSED_AND_UNREGISTERED,
  discoveryPort,
  ENTITY,
  type Guid,
  type Locator,
  MULTICAST_GROUP,
  metatrafficPort,
  prefixKey,
  samePrefix,
} from './ids.ts';
import { LocalTopics, type Topic } from './local-topics.ts';
import {
  type AcknackMessage,
  type DataMessage,
  type FragmentMessage,
  type GapMessage,
  type HeartbeatMessage,
  type MessageVisitor,
  readMessage,
} from './message-reader.ts';
import { MessageWriter } from './message-writer.ts';
import { type DdsReason, Tally } from './tally.ts';
import { type SampleListener, TopicReader } from './topic-reader.ts';
import { type Outlet, TopicWriter } from './topic-writer.ts';
import type { Sample } from './writer-proxy.ts';

const ANNOUNCE_NS = 1e9;
/** A new participant announces itself more often at first. */
const FIRST_ANNOUNCE_NS = 200e6;
const FIRST_ANNOUNCEMENTS = 5;
const MAX_PARTICIPANTS = 128;
const HELD_BYTES = 4 * 2 ** 20;
/** Participant ids probed on a host that multicast does not reach. */
const PEER_PARTICIPANTS = 8;
const SEDP = { topic: '', type: '', userData: '', locators: [], partitions: [], plainCdr: true };

interface RemoteParticipant extends Omit<ParticipantData, 'metatraffic' | 'user'> {
  metatraffic: Locator;
  user: Locator;
  receivedNs: number;
}

/**
 * A DDS participant: finds others (SPDP), exchanges writers and readers with them (SEDP), and carries the samples of
 * its topics. Sans I/O: datagrams and time come in through `receive` and `tick`, datagrams go out through `send`.
 * On any input nothing throws and memory stays bounded; rejections are counted in `tally`.
 */
export class Participant implements MessageVisitor, Outlet {
  readonly tally = new Tally();
  readonly #options: ParticipantOptions;
  readonly #send: (bytes: Uint8Array, length: number, to: Locator) => void;
  readonly #message: MessageWriter;
  readonly #budget = { leftBytes: HELD_BYTES };
  readonly #remotes = new Map<string, RemoteParticipant>();
  readonly #topics: LocalTopics;
  readonly #publications: TopicWriter;
  readonly #subscriptions: TopicWriter;
  readonly #builtinReaders: TopicReader[];
  readonly #announcement: Uint8Array;
  readonly #leaveMessage: Uint8Array;
  readonly #allWriters: TopicWriter[];
  readonly #allReaders: TopicReader[];
  #announced = 0;
  #nextAnnounceNs = Number.NEGATIVE_INFINITY;
  #nowNs = 0;
  #wallNs = 0;
  #started = false;

  constructor(options: ParticipantOptions, send: (bytes: Uint8Array, length: number, to: Locator) => void) {
    this.#options = options;
    this.#send = send;
    this.#message = new MessageWriter(options.prefix);
    this.#publications = new TopicWriter(this.#builtin(ENTITY.publicationsWriter), this);
    this.#subscriptions = new TopicWriter(this.#builtin(ENTITY.subscriptionsWriter), this);
    this.#builtinReaders = [
      this.#builtinReader(ENTITY.publicationsReader, 'writer'),
      this.#builtinReader(ENTITY.subscriptionsReader, 'reader'),
    ];
    this.#topics = new LocalTopics(options.prefix, this, this.tally, this.#budget);
    this.#announcement = encodeAnnouncement(options);
    this.#leaveMessage = encodeLeave(options);
    this.#allWriters = [this.#publications, this.#subscriptions];
    this.#allReaders = [...this.#builtinReaders];
  }

  get participants(): number {
    return this.#remotes.size;
  }

  /** Names of the participants found. */
  get participantNames(): string[] {
    return [...this.#remotes.values()].map(({ name }) => name);
  }

  /** Only before `start`. */
  addWriter(topic: Topic): TopicWriter {
    this.#mustNotRun();
    return this.#topics.addWriter(topic);
  }

  /** Only before `start`. */
  addReader(topic: Topic, onSample: SampleListener): TopicReader {
    this.#mustNotRun();
    return this.#topics.addReader(topic, onSample);
  }

  /** How many other participants write this topic. */
  rivals(topic: string): number {
    return this.#topics.rivals(topic);
  }

  /** The last mismatch as text; empty if there was none. */
  get lastMismatch(): string {
    return this.#topics.lastMismatch;
  }

  /** Topics that others write, with their types, for user messages. */
  get seenTopics(): ReadonlyMap<string, string> {
    return this.#topics.seen;
  }

  start(nowNs: number, wallNs: number): void {
    this.#started = true;
    this.#allWriters.push(...this.#topics.writers);
    this.#allReaders.push(...this.#topics.readers);
    const out = new CdrWriter(new Uint8Array(4096));
    const declare = (list: TopicWriter, { data }: { data: EndpointData }) => {
      encodeEndpoint(data, out);
      list.write(out.bytes.subarray(0, out.length), wallNs, nowNs);
    };
    for (const writer of this.#topics.writers) declare(this.#publications, writer);
    for (const reader of this.#topics.readers) declare(this.#subscriptions, reader);
    this.tick(nowNs, wallNs);
  }

  /** Call about every 10 ms. */
  tick(nowNs: number, wallNs: number): void {
    this.#nowNs = nowNs;
    this.#wallNs = wallNs;
    if (nowNs >= this.#nextAnnounceNs) {
      const hurry = ++this.#announced < FIRST_ANNOUNCEMENTS;
      this.#nextAnnounceNs = nowNs + (hurry ? FIRST_ANNOUNCE_NS : ANNOUNCE_NS);
      this.#announce(wallNs, 0);
    }
    for (const [key, remote] of this.#remotes) {
      if (nowNs - remote.receivedNs <= remote.leaseS * 1e9) continue;
      this.tally.add('lease-expired');
      this.#forget(key, remote);
    }
    for (const writer of this.#allWriters) writer.tick(nowNs);
    for (const reader of this.#allReaders) reader.tick(nowNs);
  }

  receive(bytes: Uint8Array, nowNs: number): void {
    this.#nowNs = nowNs;
    readMessage(bytes, this.#options.prefix, this);
  }

  /** Announces that we are leaving. */
  leave(wallNs: number): void {
    if (this.#started) this.#announce(wallNs, DISPOSED_AND_UNREGISTERED);
  }

  begin(destination: Uint8Array | null): MessageWriter {
    return this.#message.begin(destination);
  }

  send(to: Locator): void {
    if (this.#message.length > 0) this.#send(this.#message.bytes, this.#message.length, to);
  }

  reject(reason: DdsReason): void {
    this.tally.add(reason);
  }

  onData(source: Uint8Array, message: DataMessage): void {
    this.#received(source);
    if (message.writer === ENTITY.spdpWriter) return this.#onParticipant(source, message);
    this.#dispatch(message.reader, (reader) => reader.onData(source, message, this.#nowNs));
  }

  onFragment(source: Uint8Array, message: FragmentMessage): void {
    this.#received(source);
    this.#dispatch(message.reader, (reader) => reader.onFragment(source, message, this.#nowNs));
  }

  onHeartbeat(source: Uint8Array, message: HeartbeatMessage): void {
    this.#received(source);
    this.#dispatch(message.reader, (reader) => reader.onHeartbeat(source, message, this.#nowNs), true);
  }

  onGap(source: Uint8Array, message: GapMessage): void {
    this.#received(source);
    this.#dispatch(message.reader, (reader) => reader.onGap(source, message, this.#nowNs), true);
  }

  onAcknack(source: Uint8Array, message: AcknackMessage): void {
    this.#received(source);
    for (const writer of this.#allWriters)
      if (writer.data.guid.entity === message.writer) writer.onAcknack(source, message);
  }

  #dispatch(entity: number, take: (reader: TopicReader) => boolean, quiet = false): void {
    let taken = false;
    for (const reader of this.#allReaders)
      if (entity === ENTITY.unknown || entity === reader.data.guid.entity) taken = take(reader) || taken;
    if (!taken && !quiet) this.tally.add('unknown-source');
  }

  /** Any message from a participant renews its lease. */
  #received(source: Uint8Array): void {
    const remote = this.#remotes.get(prefixKey(source));
    if (remote !== undefined) remote.receivedNs = this.#nowNs;
  }

  #onParticipant(source: Uint8Array, message: DataMessage): void {
    const key = prefixKey(source);
    const known = this.#remotes.get(key);
    if (message.gone !== 0) {
      if (known !== undefined) this.#forget(key, known);
      return;
    }
    const data = decodeParticipant(message.payload);
    if (data === null || !samePrefix(data.prefix, source)) return this.tally.add('malformed');
    if (data.domainId !== null && data.domainId !== this.#options.domainId) return;
    const metatraffic = reachable(data.metatraffic, this.#options.address);
    const user = reachable(data.user, this.#options.address) ?? metatraffic;
    if (metatraffic === null || user === null) return this.tally.add('unknown-source');
    if (known !== undefined) {
      Object.assign(known, { metatraffic, user, leaseS: data.leaseS });
      return;
    }
    if (this.#remotes.size >= MAX_PARTICIPANTS) return this.tally.add('too-many-peers');
    const prefix = data.prefix.slice();
    const remote = { ...data, prefix, metatraffic, user, receivedNs: this.#nowNs };
    this.#remotes.set(key, remote);
    this.#greet(remote);
  }

  /** Announces us and our topics to a new participant at once. */
  #greet({ prefix, metatraffic, builtins }: RemoteParticipant): void {
    this.#sendAnnouncement(metatraffic, this.#wallNs, 0);
    const locator = metatraffic;
    const to = (list: TopicWriter, bit: number, entity: number) => {
      if ((builtins & bit) === 0) return;
      list.match({ guid: { prefix, entity }, reliable: true, locator }, true, this.#nowNs);
    };
    to(this.#publications, BUILTIN.publicationsDetector, ENTITY.publicationsReader);
    to(this.#subscriptions, BUILTIN.subscriptionsDetector, ENTITY.subscriptionsReader);
    const from = (reader: TopicReader | undefined, bit: number, entity: number) => {
      if ((builtins & bit) === 0) return;
      reader?.match({ guid: { prefix, entity }, reliable: true, locator }, this.#nowNs);
    };
    from(this.#builtinReaders[0], BUILTIN.publicationsAnnouncer, ENTITY.publicationsWriter);
    from(this.#builtinReaders[1], BUILTIN.subscriptionsAnnouncer, ENTITY.subscriptionsWriter);
  }

  #forget(key: string, { prefix }: RemoteParticipant): void {
    this.#remotes.delete(key);
    for (const writer of this.#allWriters) writer.unmatchAll(prefix);
    for (const reader of this.#allReaders) reader.unmatchAll(prefix);
    this.#topics.forgetRivals(prefix);
  }

  #onEndpoint(kind: 'writer' | 'reader', sample: Sample, source: Guid): void {
    if (sample.gone !== 0) return this.#topics.onEndpointGone(sample, source.prefix);
    const data = decodeEndpoint(sample.payload, kind);
    const remote = this.#remotes.get(prefixKey(source.prefix));
    if (data === null || remote === undefined || !samePrefix(data.guid.prefix, source.prefix))
      return this.tally.add('malformed');
    const locator = reachable(data.locators, this.#options.address) ?? remote.user;
    if (kind === 'writer') this.#topics.onRemoteWriter(data, locator, this.#nowNs);
    else this.#topics.onRemoteReader(data, locator, this.#nowNs);
  }

  #announce(wallNs: number, gone: number): void {
    const { domainId, peers } = this.#options;
    this.#sendAnnouncement({ host: MULTICAST_GROUP, port: discoveryPort(domainId) }, wallNs, gone);
    for (const host of peers)
      for (let id = 0; id < PEER_PARTICIPANTS; id++)
        this.#sendAnnouncement({ host, port: metatrafficPort(domainId, id) }, wallNs, gone);
  }

  #sendAnnouncement(to: Locator, wallNs: number, gone: number): void {
    const payload = gone === 0 ? this.#announcement : this.#leaveMessage;
    const change = { seq: gone === 0 ? 1 : 2, payload, wallNs, gone };
    this.begin(null).data(ENTITY.unknown, ENTITY.spdpWriter, change);
    this.send(to);
  }

  #mustNotRun(): void {
    if (this.#started) throw new Error('declare topics before the participant starts');
  }

  #builtin(entity: number): EndpointData {
    const guid = { prefix: this.#options.prefix, entity };
    return { ...SEDP, guid, reliable: true, transientLocal: true, depth: Number.POSITIVE_INFINITY };
  }

  #builtinReader(entity: number, kind: 'writer' | 'reader'): TopicReader {
    return new TopicReader(this.#builtin(entity), this, this.tally, this.#budget, (sample, { guid }) =>
      this.#onEndpoint(kind, sample, guid),
    );
  }
}
