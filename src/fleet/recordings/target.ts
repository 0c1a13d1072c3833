import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { TeleopError } from '../../core/errors.ts';

/** Where reading goes on. `mark` is the target's own; 0 at the start. */
export interface ReadPoint {
  offset: number;
  mark: number;
}

export interface StoredObject {
  sizeBytes: number;
  /** As the uploader said, hexadecimal. Only reading all of it back proves it. */
  sha256: string;
}

/** A file that is to be stored, hashed already. */
export interface Upload extends StoredObject {
  name: string;
  file: string;
  /** Told of every piece that went out or came back; waits as long as the next one should. */
  pace?: (bytes: number) => Promise<void>;
}

/** A store of recordings. Everything may be interrupted at any point and begun again. */
export interface RecordingTarget {
  /** As the index has it. */
  where(name: string): string;
  /** What a finished upload left; null: there is none. */
  find(name: string): Promise<StoredObject | null>;
  /** Goes on where an earlier upload of the same bytes ended; `resumed` is told how much was there already. */
  store(upload: Upload, resumed: (bytes: number) => void): Promise<void>;
  read(name: string, from: ReadPoint): AsyncIterable<{ bytes: Uint8Array; next: ReadPoint }>;
  /** So that the next upload begins anew. */
  discard(upload: Upload): Promise<void>;
}

export const START: ReadPoint = { offset: 0, mark: 0 };

export async function sha256OfFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  try {
    for await (const part of createReadStream(file, { highWaterMark: 1 << 20 })) hash.update(part as Buffer);
  } catch (cause) {
    throw new TeleopError('file-unreadable', `${file} cannot be read: ${(cause as Error).message}`, {
      hint: 'Check that it is there and that this user may read it.',
      cause,
    });
  }
  return hash.digest('hex');
}

/** Reads all of an object back and compares; null: its bytes are right. */
export async function whatIsWrong(
  target: RecordingTarget,
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

/** Exactly `bytes` from `offset`; throws when the file is shorter than that by now. */
export async function readPart(handle: FileHandle, offset: number, bytes: number): Promise<Buffer> {
  const part = Buffer.alloc(bytes);
  for (let got = 0; got < bytes; ) {
    const { bytesRead } = await handle.read(part, got, bytes - got, offset + got);
    if (bytesRead === 0)
      throw new TeleopError('transfer-failed', 'the file became shorter while it was sent', {
        hint: 'Send it when nothing writes to it any more.',
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
