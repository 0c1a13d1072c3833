import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { parseJson } from '../core/parse-json.ts';
import { START, whatIsWrong } from '../s3/object-store.ts';
import type { S3Client } from '../s3/s3-client.ts';
import { S3Target } from '../s3/s3-target.ts';
import {
  type Change,
  type DatasetStore,
  isDatasetName,
  type LocalFile,
  type StoredFile,
} from './dataset-store.ts';

/** Written last: what belongs to the dataset. Objects that it does not name do not count. */
const MANIFEST = 'farhand-manifest.json';
const MAX_MANIFEST_BYTES = 256 << 20;
const INFO = 'meta/info.json';
/** Larger files are sent in parts, so that an interrupted upload continues inside the file. */
const WHOLE_BYTES = 8 << 20;
const AT_ONCE = 6;

const manifestSchema = z.object({
  files: z.record(z.string().max(300), z.object({ sizeBytes: z.int().min(0), sha256: z.hash('sha256') })),
  /** Objects that the push removed, or was about to when it was interrupted. */
  removed: z.array(z.string().max(300)).default([]),
});

/** A dataset in an S3 bucket, one object per file: other tools can copy it too. */
export class S3DatasetStore implements DatasetStore {
  readonly #client: S3Client;
  readonly #objects: S3Target;
  #removed: readonly string[] = [];

  constructor(client: S3Client) {
    this.#client = client;
    this.#objects = new S3Target(client);
  }

  get where(): string {
    return this.#objects.where('').replace(/\/$/, '');
  }

  async list(): Promise<ReadonlyMap<string, StoredFile> | null> {
    const answer = await this.#client.ask('GET', this.#client.keyOf(MANIFEST));
    if (answer.status === 404) return null;
    if (!answer.ok) throw this.#client.failed(new Error(`${answer.status} on GET of ${MANIFEST}`));
    const bytes = new Uint8Array(await answer.arrayBuffer());
    const manifest = parseJson(bytes, manifestSchema, MAX_MANIFEST_BYTES);
    if (typeof manifest === 'string')
      throw this.#client.failed(new Error(`${MANIFEST} is not valid: ${manifest}`));
    this.#removed = manifest.removed.filter((name) => isDatasetName(name) && !(name in manifest.files));
    return new Map(
      Object.entries(manifest.files).map(([name, file]) => [name, { ...file, gitId: null }] as const),
    );
  }

  async store({ put, remove, all }: Change, progress: (bytes: number) => void): Promise<void> {
    await this.settle();
    const queue = put.filter(({ name }) => name !== INFO);
    const work = async () => {
      for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
        await this.#putIfMissing(file);
        progress(file.sizeBytes);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    for (const info of put.filter(({ name }) => name === INFO)) {
      await this.#putIfMissing(info);
      progress(info.sizeBytes);
    }
    const files = Object.fromEntries(all.map(({ name, sizeBytes, sha256 }) => [name, { sizeBytes, sha256 }]));
    const manifest = { files, removed: remove };
    await this.#putBytes(MANIFEST, Buffer.from(`${JSON.stringify(manifest, null, 1)}\n`), '');
    await this.#remove(remove);
  }

  settle(): Promise<void> {
    return this.#remove(this.#removed);
  }

  async #remove(names: readonly string[]): Promise<void> {
    for (const name of names) await this.#client.text('DELETE', this.#client.keyOf(name));
  }

  async *read(name: string, offset: number): AsyncGenerator<Uint8Array> {
    for await (const { bytes } of this.#objects.read(name, { ...START, offset })) yield bytes;
  }

  /** An interrupted push has stored it already, without a manifest that names it. */
  async #putIfMissing(file: LocalFile): Promise<void> {
    const there = await this.#objects.find(file.name);
    const isThere = there?.sha256 === file.sha256 && there.sizeBytes === file.sizeBytes;
    if (!isThere && file.sizeBytes > WHOLE_BYTES) await this.#objects.store(file, () => {});
    else if (!isThere) await this.#putBytes(file.name, readFileSync(file.file), file.sha256);
    const problem = await whatIsWrong(this.#objects, file);
    if (problem === null) return;
    await this.#objects.discard(file);
    throw this.#client.failed(new Error(`${file.name} was not stored correctly: ${problem}`));
  }

  async #putBytes(name: string, bytes: Buffer, sha256: string): Promise<void> {
    const headers: Record<string, string> = sha256 === '' ? {} : { 'x-amz-meta-sha256': sha256 };
    await this.#client.text('PUT', this.#client.keyOf(name), {}, headers, bytes);
  }
}
