import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { TeleopError } from '../core/errors.ts';

/** Where reading resumes. `mark` is private to the target; 0 at the start. */
export interface ReadPoint {
  offset: number;
  mark: number;
}

export interface StoredObject {
  sizeBytes: number;
  /** As reported by the uploader, hexadecimal. Only reading everything back proves it. */
  sha256: string;
}

/** A file to store, with its hash. */
export interface Upload extends StoredObject {
  name: string;
  file: string;
  /** Called after every piece sent or read back; delays the next one. */
  pace?: (bytes: number) => Promise<void>;
}

/** A store of files. Every operation may be interrupted at any point and repeated. */
export interface ObjectStore {
  /** The place as written in the index. */
  where(name: string): string;
  /** The result of a finished upload; null: none. */
  find(name: string): Promise<StoredObject | null>;
  /** Resumes an earlier upload of the same bytes; `resumed` receives how much was already stored. */
  store(upload: Upload, resumed: (bytes: number) => void): Promise<void>;
  read(name: string, from: ReadPoint): AsyncIterable<{ bytes: Uint8Array; next: ReadPoint }>;
  /** Discards it, so that the next upload starts over. */
  discard(upload: Upload): Promise<void>;
}

export const START: ReadPoint = { offset: 0, mark: 0 };

export async function sha256OfFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  try {
    for await (const part of createReadStream(file, { highWaterMark: 1 << 20 })) hash.update(part as Buffer);
  } catch (cause) {
    throw new TeleopError('file-unreadable', `${file} cannot be read: ${(cause as Error).message}`, {
      hint: 'Check that it exists and that this user may read it.',
      cause,
    });
  }
  return hash.digest('hex');
}

/** Reads an object back and compares it; null: its bytes are right. */
export async function whatIsWrong(
  target: ObjectStore,
  { name, sizeBytes, sha256, pace }: Upload,
): Promise<string | null> {
  const hash: Hash = createHash('sha256');
  let size = 0;
  for await (const { bytes } of target.read(name, START)) {
    hash.update(bytes);
    size += bytes.byteLength;
    if (size > sizeBytes) break;
    await pace?.(bytes.byteLength);
  }
  if (size !== sizeBytes) return `it has ${size} bytes instead of ${sizeBytes}`;
  const found = hash.digest('hex');
  return found === sha256 ? null : `its SHA-256 is ${found} instead of ${sha256}`;
}

/** Reads exactly `bytes` from `offset`; throws if the file has become shorter. */
export async function readPart(handle: FileHandle, offset: number, bytes: number): Promise<Buffer> {
  const part = Buffer.alloc(bytes);
  for (let got = 0; got < bytes; ) {
    const { bytesRead } = await handle.read(part, got, bytes - got, offset + got);
    if (bytesRead === 0)
      throw new TeleopError('transfer-failed', 'the file became shorter while it was sent', {
        hint: 'Send it once no process writes to it any more.',
      });
    got += bytesRead;
  }
  return part;
}

export async function withOpen<T>(file: string, use: (handle: FileHandle) => Promise<T>): Promise<T> {
  const handle = await open(file, 'r');
  try {
    return await use(handle);
  } finally {
    await handle.close();
  }
}
