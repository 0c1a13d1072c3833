import { createHash } from 'node:crypto';
import {
  type ObjectStore,
  type ReadPoint,
  readPart,
  type StoredObject,
  type Upload,
  withOpen,
} from './object-store.ts';
import { type S3Client, valuesOf } from './s3-client.ts';

/** S3 accepts at most 10,000 parts, each at least 5 MiB except the last. */
const MOST_PARTS = 10_000;
const PART_STEP_BYTES = 8 << 20;
const HASH_HEADER = 'x-amz-meta-sha256';

export const partBytesOf = (sizeBytes: number): number =>
  PART_STEP_BYTES * Math.max(1, Math.ceil(sizeBytes / MOST_PARTS / PART_STEP_BYTES));

/**
 * An S3 bucket. Uploads consist of parts; an interrupted upload is found on the server by its name, and an
 * existing part counts if its MD5 matches. Every part is signed with its SHA-256.
 */
export class S3Target implements ObjectStore {
  readonly #client: S3Client;

  constructor(client: S3Client) {
    this.#client = client;
  }

  where(name: string): string {
    return `s3://${this.#client.place.bucket}/${this.#client.keyOf(name)}`;
  }

  async find(name: string): Promise<StoredObject | null> {
    const answer = await this.#client.ask('HEAD', this.#client.keyOf(name));
    if (answer.status === 404) return null;
    if (!answer.ok) throw this.#client.failed(new Error(`${answer.status} on HEAD`));
    const sizeBytes = Number(answer.headers.get('content-length'));
    return { sizeBytes, sha256: answer.headers.get(HASH_HEADER) ?? '' };
  }

  async store(upload: Upload, resumed: (bytes: number) => void): Promise<void> {
    const { name, file, sizeBytes } = upload;
    const key = this.#client.keyOf(name);
    const partBytes = partBytesOf(sizeBytes);
    await withOpen(file, async (handle) => {
      const uploadId = (await this.#unfinished(key)) ?? (await this.#begin(key, upload));
      const have = await this.#parts(key, uploadId);
      if (have.size > 0) resumed([...have.values()].reduce((sum, { bytes }) => sum + bytes, 0));
      const tags: string[] = [];
      for (let offset = 0; offset < sizeBytes; offset += partBytes) {
        const number = tags.length + 1;
        const part = await readPart(handle, offset, Math.min(partBytes, sizeBytes - offset));
        tags.push(tagIfSame(have.get(number), part) ?? (await this.#put(key, uploadId, number, part)));
      }
      await this.#complete(key, uploadId, tags);
    });
  }

  async *read(name: string, { offset }: ReadPoint): AsyncGenerator<{ bytes: Uint8Array; next: ReadPoint }> {
    const range: Record<string, string> = offset > 0 ? { range: `bytes=${offset}-` } : {};
    const answer = await this.#client.ask('GET', this.#client.keyOf(name), {}, range);
    if (answer.status === 404 || answer.body === null) return;
    if (answer.status !== (offset > 0 ? 206 : 200))
      throw this.#client.failed(new Error(`${answer.status} on GET`));
    let at = offset;
    try {
      for await (const bytes of answer.body as unknown as AsyncIterable<Uint8Array>) {
        at += bytes.byteLength;
        yield { bytes, next: { offset: at, mark: 0 } };
      }
    } catch (cause) {
      throw this.#client.failed(cause);
    }
  }

  async discard({ name }: Upload): Promise<void> {
    await this.#client.text('DELETE', this.#client.keyOf(name));
  }

  async #begin(key: string, { sha256 }: Upload): Promise<string> {
    const text = await this.#client.text('POST', key, { uploads: '' }, { [HASH_HEADER]: sha256 });
    return valuesOf(text, 'UploadId')[0]!;
  }

  /** The newest unfinished upload of this key. */
  async #unfinished(key: string): Promise<string | null> {
    const text = await this.#client.text('GET', null, { uploads: '', prefix: key });
    const mine = valuesOf(text, 'Upload').filter((each) => valuesOf(each, 'Key')[0] === key);
    return mine.map((each) => valuesOf(each, 'UploadId')[0]!).at(-1) ?? null;
  }

  async #parts(key: string, uploadId: string): Promise<Map<number, { tag: string; bytes: number }>> {
    const found = new Map<number, { tag: string; bytes: number }>();
    for (let after = '0'; ; ) {
      const query = { uploadId, 'part-number-marker': after };
      const text = await this.#client.text('GET', key, query);
      for (const part of valuesOf(text, 'Part')) {
        const value = (name: string) => valuesOf(part, name)[0] ?? '';
        found.set(Number(value('PartNumber')), { tag: value('ETag'), bytes: Number(value('Size')) });
      }
      const next = valuesOf(text, 'NextPartNumberMarker')[0];
      if (valuesOf(text, 'IsTruncated')[0] !== 'true' || next === undefined || next === after) return found;
      after = next;
    }
  }

  async #put(key: string, uploadId: string, partNumber: number, bytes: Buffer): Promise<string> {
    const query = { partNumber: String(partNumber), uploadId };
    const answer = await this.#client.ask('PUT', key, query, {}, bytes);
    const tag = answer.headers.get('etag');
    if (!answer.ok || tag === null)
      throw this.#client.failed(new Error(`${answer.status} on part ${partNumber}: ${await answer.text()}`));
    return tag;
  }

  async #complete(key: string, uploadId: string, tags: readonly string[]): Promise<void> {
    const parts = tags.map(
      (tag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${escaped(tag)}</ETag></Part>`,
    );
    const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
    await this.#client.text('POST', key, { uploadId }, {}, Buffer.from(body));
  }
}

/** The stored part's tag if it matches the file. If a server's tags are not MD5, the part is sent again. */
function tagIfSame(there: { tag: string; bytes: number } | undefined, part: Buffer): string | null {
  if (there?.bytes !== part.byteLength) return null;
  return there.tag.replaceAll('"', '') === createHash('md5').update(part).digest('hex') ? there.tag : null;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
