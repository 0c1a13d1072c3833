import { createHash } from 'node:crypto';
import type { JetStreamClient, JetStreamManager, StoredMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';
import { TeleopError } from '../../core/errors.ts';
import { parseJson } from '../../core/parse-json.ts';
import { loadJetStream, loadNats } from '../nats-module.ts';
import { recordingNames } from '../recordings.ts';
import {
  type ReadPoint,
  type RecordingTarget,
  readPart,
  type StoredObject,
  type Upload,
  withOpen,
} from './target.ts';

/** Well under the servers' largest message, 1 MB. */
const CHUNK_BYTES = 512 * 1024;
const DIGEST = 'SHA-256=';
const TIMEOUT_MS = 10_000;
/**
 * How often an upload checks its progress again after a lost answer or a concurrent upload of the same file.
 */
const MOST_CHECKS = 5;

/** An object's metadata, as NATS clients store it. */
const MAX_META_BYTES = 64 * 1024;
/** Other NATS clients add more fields. */
const metaSchema = z.object({
  ...{ name: z.string(), nuid: z.string(), size: z.number(), chunks: z.number(), digest: z.string() },
  deleted: z.boolean().optional(),
});
type Meta = z.infer<typeof metaSchema>;

/**
 * A robot's bucket in JetStream's object store, in the layout that every NATS client reads. The chunks' id is
 * derived from name and hash, so that an interrupted upload finds its chunks again without any state beside
 * the file.
 */
export class NatsTarget implements RecordingTarget {
  readonly #robot: string;
  readonly #js: JetStreamClient;
  readonly #jsm: JetStreamManager;
  readonly #headers: (
    values: Record<string, string>,
  ) => ReturnType<typeof import('@nats-io/transport-node').headers>;

  private constructor(
    robot: string,
    js: JetStreamClient,
    jsm: JetStreamManager,
    nats: Awaited<ReturnType<typeof loadNats>>,
  ) {
    this.#robot = robot;
    this.#js = js;
    this.#jsm = jsm;
    this.#headers = (values) => {
      const made = nats.headers();
      for (const [key, value] of Object.entries(values)) made.set(key, value);
      return made;
    };
  }

  static async open(nats: NatsConnection, robot: string): Promise<NatsTarget> {
    const { jetstream, jetstreamManager } = await loadJetStream();
    const jsm = await jetstreamManager(nats, { checkAPI: false, timeout: TIMEOUT_MS });
    return new NatsTarget(robot, jetstream(nats, { timeout: TIMEOUT_MS }), jsm, await loadNats());
  }

  where(): string {
    return 'nats';
  }

  async find(name: string): Promise<StoredObject | null> {
    const meta = await this.#meta(name);
    if (meta === null) return null;
    const sha256 = Buffer.from(meta.digest.slice(DIGEST.length), 'base64url').toString('hex');
    return { sizeBytes: meta.size, sha256 };
  }

  async store(upload: Upload, resumed: (bytes: number) => void): Promise<void> {
    await withOpen(upload.file, async (handle) => {
      const { sizeBytes } = upload;
      const subject = this.#chunksOf(upload);
      const part = (offset: number) => readPart(handle, offset, Math.min(CHUNK_BYTES, sizeBytes - offset));
      for (let checks = 0; ; checks++) {
        let { offset, last } = await this.#reached(subject, part, sizeBytes);
        if (checks === 0 && offset > 0) resumed(offset);
        try {
          for (; offset < sizeBytes; offset = Math.min(offset + CHUNK_BYTES, sizeBytes)) {
            last = await this.#put(subject, await part(offset), offset === 0 ? 'first' : last);
            await upload.pace?.(CHUNK_BYTES);
          }
          break;
        } catch (error) {
          if (!isDisagreement(error) || checks >= MOST_CHECKS) throw error;
        }
      }
      await this.#describe(upload, false);
    });
  }

  async *read(name: string, from: ReadPoint): AsyncGenerator<{ bytes: Uint8Array; next: ReadPoint }> {
    const meta = await this.#meta(name);
    if (meta === null) return;
    const subject = recordingNames.chunks(this.#robot, meta.nuid);
    for (let { offset, mark } = from; offset < meta.size; ) {
      const chunk = await this.#get({ seq: mark + 1, next_by_subj: subject });
      if (chunk === null || chunk.data.byteLength === 0) return;
      offset += chunk.data.byteLength;
      mark = chunk.seq;
      yield { bytes: chunk.data, next: { offset, mark } };
    }
  }

  async discard(upload: Upload): Promise<void> {
    await this.#describe(upload, true);
    // Replaces all chunks; an upload treats an empty chunk as none.
    await this.#js.publish(this.#chunksOf(upload), '', { headers: this.#headers(ROLLUP) });
  }

  #chunksOf({ name, sha256 }: Upload): string {
    const id = createHash('sha256').update(`${name} ${sha256}`).digest('hex').slice(0, 22);
    return recordingNames.chunks(this.#robot, id);
  }

  /** How much of the file is stored, and the number of its last chunk. */
  async #reached(
    subject: string,
    part: (offset: number) => Promise<Buffer>,
    sizeBytes: number,
  ): Promise<{ offset: number; last: number }> {
    const info = await this.#jsm.streams
      .info(recordingNames.stream(this.#robot), { subjects_filter: subject })
      .catch((cause: unknown) => Promise.reject(this.#unreachable(cause)));
    const count = info.state.subjects?.[subject] ?? 0;
    const newest = count === 0 ? null : await this.#get({ last_by_subj: subject });
    const offset = (count - 1) * CHUNK_BYTES;
    if (newest === null || offset >= sizeBytes) return { offset: 0, last: 0 };
    const ours = await part(offset);
    if (!ours.equals(newest.data)) return { offset: 0, last: 0 };
    return { offset: offset + ours.byteLength, last: newest.seq };
  }

  /** Stores a chunk after `last`, or as the first, replacing all others; returns its number. */
  async #put(subject: string, bytes: Uint8Array, last: number | 'first'): Promise<number> {
    const options =
      last === 'first' ? { headers: this.#headers(ROLLUP) } : { expect: { lastSubjectSequence: last } };
    return (await this.#js.publish(subject, bytes, { ...options, timeout: TIMEOUT_MS })).seq;
  }

  async #describe(upload: Upload, deleted: boolean): Promise<void> {
    const { name, sizeBytes, sha256 } = upload;
    const digest = `${DIGEST}${padded(Buffer.from(sha256, 'hex').toString('base64url'))}`;
    const meta = {
      name,
      description: '',
      options: { max_chunk_size: CHUNK_BYTES },
      bucket: recordingNames.bucket(this.#robot),
      nuid: this.#chunksOf(upload).split('.').at(-1),
      size: deleted ? 0 : sizeBytes,
      chunks: deleted ? 0 : Math.ceil(sizeBytes / CHUNK_BYTES),
      mtime: new Date().toISOString(),
      digest: deleted ? '' : digest,
      deleted,
    };
    const subject = recordingNames.meta(this.#robot, encoded(name));
    await this.#js.publish(subject, JSON.stringify(meta), { headers: this.#headers(ROLLUP) });
  }

  async #meta(name: string): Promise<Meta | null> {
    const stored = await this.#get({ last_by_subj: recordingNames.meta(this.#robot, encoded(name)) });
    const meta = stored === null ? 'malformed' : parseJson(stored.string(), metaSchema, MAX_META_BYTES);
    return typeof meta === 'string' || meta.deleted === true ? null : meta;
  }

  async #get(
    query: { last_by_subj: string } | { seq: number; next_by_subj: string },
  ): Promise<StoredMsg | null> {
    try {
      return await this.#jsm.direct.getMessage(recordingNames.stream(this.#robot), query as never);
    } catch (cause) {
      throw this.#unreachable(cause);
    }
  }

  #unreachable(cause: unknown): TeleopError {
    return new TeleopError(
      'transfer-failed',
      `the recordings of ${this.#robot} cannot be reached: ${(cause as Error).message}`,
      {
        hint: 'Check that it has a bucket (`farhand fleet bucket NAME`) and that the credentials allow this robot.',
        cause,
      },
    );
  }
}

const ROLLUP = { 'Nats-Rollup': 'sub' };

const isDisagreement = (error: unknown): boolean => /wrong last sequence|timeout/i.test(String(error));

const padded = (text: string): string => text.padEnd(Math.ceil(text.length / 4) * 4, '=');
const encoded = (name: string): string => padded(Buffer.from(name).toString('base64url'));
