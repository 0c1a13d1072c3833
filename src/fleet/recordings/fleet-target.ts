import { createHash } from 'node:crypto';
import type { z } from 'zod';
import {
  type ObjectStore,
  type ReadPoint,
  readPart,
  type StoredObject,
  type Upload,
  withOpen,
} from '../../s3/object-store.ts';
import type { FleetConnection } from '../connection.ts';
import { recordingAnswers } from '../store/recording-requests.ts';
import type { RecordingVerb } from '../subjects.ts';
import { askStore } from './recording-index.ts';

const CHUNK_BYTES = 512 * 1024;
/**
 * How often an upload checks its progress again after a lost answer or a concurrent upload of the same file.
 */
const MOST_CHECKS = 5;

/** The fleet's own store, through its service. An interrupted upload finds its chunks again there. */
export class FleetTarget implements ObjectStore {
  readonly #connection: FleetConnection;
  readonly #robot: string;

  constructor(connection: FleetConnection, robot: string) {
    this.#connection = connection;
    this.#robot = robot;
  }

  where(): string {
    return 'nats';
  }

  async find(name: string): Promise<StoredObject | null> {
    return (await this.#ask('get', { op: 'find', name }, recordingAnswers.find)).found;
  }

  async store(upload: Upload, resumed: (bytes: number) => void): Promise<void> {
    await withOpen(upload.file, async (handle) => {
      const { sizeBytes } = upload;
      const part = (offset: number) => readPart(handle, offset, Math.min(CHUNK_BYTES, sizeBytes - offset));
      for (let checks = 0; ; checks++) {
        let { offset, last } = await this.#reached(upload, part);
        if (checks === 0 && offset > 0) resumed(offset);
        try {
          for (; offset < sizeBytes; offset = Math.min(offset + CHUNK_BYTES, sizeBytes)) {
            last = await this.#put(upload, await part(offset), last);
            await upload.pace?.(CHUNK_BYTES);
          }
          break;
        } catch (error) {
          if (!isDisagreement(error) || checks >= MOST_CHECKS) throw error;
        }
      }
      await this.#ask('put', { op: 'finish', ...about(upload) }, recordingAnswers.done);
    });
  }

  async *read(name: string, from: ReadPoint): AsyncGenerator<{ bytes: Uint8Array; next: ReadPoint }> {
    for (let { offset, mark } = from; ; ) {
      const chunk = await this.#ask('get', { op: 'read', name, mark }, recordingAnswers.read);
      if (chunk.mark === null || chunk.bytes.byteLength === 0) return;
      offset += chunk.bytes.byteLength;
      mark = chunk.mark;
      yield { bytes: chunk.bytes, next: { offset, mark } };
    }
  }

  async discard(upload: Upload): Promise<void> {
    await this.#ask('put', { op: 'discard', ...about(upload) }, recordingAnswers.done);
  }

  /** How much of the file is stored, and the number of its last chunk. */
  async #reached(
    upload: Upload,
    part: (offset: number) => Promise<Buffer>,
  ): Promise<{ offset: number; last: number }> {
    const head = { op: 'reached', ...about(upload) };
    const { chunks, last, lastSha256 } = await this.#ask('put', head, recordingAnswers.reached);
    const offset = (chunks - 1) * CHUNK_BYTES;
    if (chunks === 0 || offset >= upload.sizeBytes) return { offset: 0, last: 0 };
    const ours = await part(offset);
    if (createHash('sha256').update(ours).digest('hex') !== lastSha256) return { offset: 0, last: 0 };
    return { offset: offset + ours.byteLength, last };
  }

  async #put(upload: Upload, bytes: Uint8Array, last: number): Promise<number> {
    const head = { op: 'chunk', ...about(upload), last };
    return (await this.#ask('put', head, recordingAnswers.chunk, bytes)).last;
  }

  #ask<T extends object>(
    verb: RecordingVerb,
    head: object,
    schema: z.ZodType<T, unknown>,
    bytes?: Uint8Array,
  ): Promise<T & { bytes: Uint8Array }> {
    return askStore(this.#connection, this.#robot, verb, head, schema, bytes);
  }
}

const about = ({ name, sizeBytes, sha256 }: Upload) => ({ name, sizeBytes, sha256 });

const isDisagreement = (error: unknown): boolean =>
  /wrong last sequence|timeout|answered within/i.test(String(error));
