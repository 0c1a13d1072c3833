import { createHash } from 'node:crypto';
import type { JetStreamClient, JetStreamManager, StoredMsg } from '@nats-io/jetstream';
import type { MsgHdrs, NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';
import { parseJson } from '../../core/parse-json.ts';
import { loadJetStream, loadNats } from '../nats-module.ts';
import { parseRecording, type Recording, recordingNames } from '../recordings.ts';
import { mergeEntry } from './merge-entry.ts';

/** Well under the servers' largest message, 1 MB. */
export const CHUNK_BYTES = 512 * 1024;
const DIGEST = 'SHA-256=';
const TIMEOUT_MS = 10_000;

export interface BucketSize {
  maxBytes: number;
  /** Servers that keep it. */
  replicas: number;
}

/** Creates a robot's bucket if it does not exist; needs an administrator's credentials. */
export async function createRecordingBucket(
  nats: NatsConnection,
  robot: string,
  { maxBytes, replicas }: BucketSize,
): Promise<void> {
  const { jetstreamManager } = await loadJetStream();
  const jsm = await jetstreamManager(nats);
  const bucket = recordingNames.bucket(robot);
  await jsm.streams.add({
    name: recordingNames.stream(robot),
    subjects: [`$O.${bucket}.C.>`, `$O.${bucket}.M.>`, recordingNames.entry(robot, '*')],
    storage: 'file' as never,
    discard: 'new' as never,
    num_replicas: replicas,
    max_bytes: maxBytes,
    allow_direct: true,
    allow_rollup_hdrs: true,
  });
}

/** A file that a user stores. */
export interface StoredUpload {
  user: string;
  name: string;
  sizeBytes: number;
  sha256: string;
}

/** An object's metadata, as NATS clients store it, and who stored it. */
const metaSchema = z.object({
  ...{ name: z.string(), nuid: z.string(), size: z.number(), chunks: z.number(), digest: z.string() },
  deleted: z.boolean().optional(),
  metadata: z.object({ by: z.string().optional() }).optional(),
});
type Meta = z.infer<typeof metaSchema>;
const MAX_META_BYTES = 64 * 1024;

/**
 * A robot's bucket in JetStream's object store, in the layout that every NATS client reads, and its index.
 * Only the storing service uses it: people and robots send requests. Each user's chunks have their own place,
 * so that nobody replaces another's.
 */
export class RecordingStore {
  readonly #robot: string;
  readonly #js: JetStreamClient;
  readonly #jsm: JetStreamManager;
  readonly #headers: () => MsgHdrs;

  private constructor(robot: string, js: JetStreamClient, jsm: JetStreamManager, headers: () => MsgHdrs) {
    this.#robot = robot;
    this.#js = js;
    this.#jsm = jsm;
    this.#headers = headers;
  }

  static async open(nats: NatsConnection, robot: string): Promise<RecordingStore> {
    const { jetstream, jetstreamManager } = await loadJetStream();
    const jsm = await jetstreamManager(nats, { checkAPI: false, timeout: TIMEOUT_MS });
    const { headers } = await loadNats();
    return new RecordingStore(robot, jetstream(nats, { timeout: TIMEOUT_MS }), jsm, () => headers());
  }

  /** Returns the entry as stored. Null: another user announced other bytes under this name. */
  async putEntry(user: string, recording: Recording): Promise<Recording | null> {
    const subject = recordingNames.entry(this.#robot, recording.episode);
    const stored = await this.#last(subject);
    const known = stored && this.#parsed(stored, recording.episode);
    // Entries without an author are from before there were any.
    const author = (known && stored?.header.get(AUTHOR)) || user;
    const next = known && author !== user ? mergeEntry(known, recording) : recording;
    if (next === null) return null;
    await this.#replace(subject, JSON.stringify(next), { author, last: stored?.seq ?? 0 });
    return next;
  }

  /** Null: unknown, or the stored entry is invalid. */
  async entry(episode: string): Promise<Recording | null> {
    const found = await this.#last(recordingNames.entry(this.#robot, episode));
    return found && this.#parsed(found, episode);
  }

  #parsed(stored: StoredMsg, episode: string): Recording | null {
    const entry = parseRecording(stored.string());
    return entry?.robot === this.#robot && entry.episode === episode ? entry : null;
  }

  /** Names of all episodes, sorted. */
  async episodes(): Promise<string[]> {
    const subjects_filter = recordingNames.entry(this.#robot, '*');
    const info = await this.#jsm.streams.info(recordingNames.stream(this.#robot), { subjects_filter });
    return Object.keys(info.state.subjects ?? {})
      .map((subject) => subject.split('.').at(-1)!)
      .sort();
  }

  async find(name: string): Promise<{ sizeBytes: number; sha256: string } | null> {
    const meta = await this.#meta(name);
    if (meta === null) return null;
    const sha256 = Buffer.from(meta.digest.slice(DIGEST.length), 'base64url').toString('hex');
    return { sizeBytes: meta.size, sha256 };
  }

  /** The chunk after `mark`; null: there is none. */
  async read(name: string, mark: number): Promise<{ bytes: Uint8Array; mark: number } | null> {
    const meta = await this.#meta(name);
    if (meta === null) return null;
    const next_by_subj = recordingNames.chunks(this.#robot, meta.nuid);
    const chunk = await this.#get({ seq: mark + 1, next_by_subj });
    return chunk === null || chunk.data.byteLength === 0 ? null : { bytes: chunk.data, mark: chunk.seq };
  }

  /** How many chunks of an upload are stored, the number of the last one, and its hash. */
  async reached(upload: StoredUpload): Promise<{ chunks: number; last: number; lastSha256: string }> {
    const subject = this.#chunksOf(upload);
    const stream = recordingNames.stream(this.#robot);
    const info = await this.#jsm.streams.info(stream, { subjects_filter: subject });
    const chunks = info.state.subjects?.[subject] ?? 0;
    const newest = chunks === 0 ? null : await this.#last(subject);
    if (newest === null || newest.data.byteLength === 0) return { chunks: 0, last: 0, lastSha256: '' };
    const lastSha256 = createHash('sha256').update(newest.data).digest('hex');
    return { chunks, last: newest.seq, lastSha256 };
  }

  /** Stores a chunk after the one numbered `last`; 0: as the first, replacing all others. Returns its number. */
  async putChunk(upload: StoredUpload, last: number, bytes: Uint8Array): Promise<number> {
    const subject = this.#chunksOf(upload);
    if (last === 0) return this.#replace(subject, bytes);
    return (await this.#js.publish(subject, bytes, { expect: { lastSubjectSequence: last } })).seq;
  }

  /** Makes a complete upload visible. False: another user stored other bytes under this name. */
  async finish(upload: StoredUpload): Promise<boolean> {
    const { name, user, sizeBytes, sha256 } = upload;
    const known = await this.#meta(name);
    const digest = `${DIGEST}${padded(Buffer.from(sha256, 'hex').toString('base64url'))}`;
    const owner = known?.metadata?.by ?? user;
    if (known !== null && owner !== user) return known.digest === digest;
    const chunks = Math.ceil(sizeBytes / CHUNK_BYTES);
    await this.#describe(upload, { size: sizeBytes, chunks, digest, deleted: false });
    return true;
  }

  /** Voids the user's own upload, so that the next one starts over. */
  async discard(upload: StoredUpload): Promise<void> {
    const known = await this.#meta(upload.name);
    if (known !== null && (known.metadata?.by ?? upload.user) === upload.user)
      await this.#describe(upload, { size: 0, chunks: 0, digest: '', deleted: true });
    // An upload treats an empty chunk as none.
    await this.#replace(this.#chunksOf(upload), '');
  }

  #chunksOf({ user, name, sha256 }: StoredUpload): string {
    const id = createHash('sha256').update(`${name} ${sha256} ${user}`).digest('hex').slice(0, 22);
    return recordingNames.chunks(this.#robot, id);
  }

  async #describe(
    upload: StoredUpload,
    what: { size: number; chunks: number; digest: string; deleted: boolean },
  ): Promise<void> {
    const meta = {
      name: upload.name,
      description: '',
      options: { max_chunk_size: CHUNK_BYTES },
      bucket: recordingNames.bucket(this.#robot),
      nuid: this.#chunksOf(upload).split('.').at(-1),
      mtime: new Date().toISOString(),
      metadata: { by: upload.user },
      ...what,
    };
    await this.#replace(recordingNames.meta(this.#robot, encoded(upload.name)), JSON.stringify(meta));
  }

  async #meta(name: string): Promise<Meta | null> {
    const stored = await this.#last(recordingNames.meta(this.#robot, encoded(name)));
    const meta = stored === null ? 'malformed' : parseJson(stored.string(), metaSchema, MAX_META_BYTES);
    return typeof meta === 'string' || meta.deleted === true ? null : meta;
  }

  /** The only message on its subject from then on. Headers are made here, never passed on. */
  async #replace(
    subject: string,
    data: string | Uint8Array,
    entry?: { author: string; last: number },
  ): Promise<number> {
    const headers = this.#headers();
    headers.set('Nats-Rollup', 'sub');
    if (entry === undefined) return (await this.#js.publish(subject, data, { headers })).seq;
    headers.set(AUTHOR, entry.author);
    const expect = { lastSubjectSequence: entry.last };
    return (await this.#js.publish(subject, data, { headers, expect })).seq;
  }

  #last(subject: string): Promise<StoredMsg | null> {
    return this.#get({ last_by_subj: subject });
  }

  #get(query: { last_by_subj: string } | { seq: number; next_by_subj: string }): Promise<StoredMsg | null> {
    return this.#jsm.direct.getMessage(recordingNames.stream(this.#robot), query as never);
  }
}

/** Of an entry: the user who announced it. */
const AUTHOR = 'Farhand-Author';

const padded = (text: string): string => text.padEnd(Math.ceil(text.length / 4) * 4, '=');
const encoded = (name: string): string => padded(Buffer.from(name).toString('base64url'));
