import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** Far above any file of settings, and any model. */
const MAX_BYTES = 16 << 20;
const CHUNK_BYTES = 1 << 16;

/**
 * A whole file that a person named, and its permissions. Folders, pipes, devices and files over `maxBytes` are rejected:
 * reading one could block, or fill the memory. Throws an `Error` whose message says why, to follow "cannot be read: ".
 */
export function readBounded(file: string, maxBytes = MAX_BYTES): { bytes: Buffer; mode: number } {
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  const fd = opened(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stat = fstatSync(fd);
    if (stat.isDirectory()) throw new Error('it is a folder');
    if (!stat.isFile()) throw new Error('it is not a regular file');
    return { bytes: readAll(fd, maxBytes), mode: stat.mode };
  } finally {
    closeSync(fd);
  }
}

const WHY: Record<string, string> = {
  ENOENT: 'it does not exist',
  EACCES: 'permission denied',
};

/** Node's own message repeats the path and names the system call. */
function opened(file: string, flags: number): number {
  try {
    return openSync(file, flags);
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    if (WHY[code] === undefined) throw cause;
    throw Object.assign(new Error(`${WHY[code]} (${code})`, { cause }), { code });
  }
}

/** The size of some files (/proc) is unknown before they have been read. */
function readAll(fd: number, maxBytes: number): Buffer {
  const chunks: Buffer[] = [];
  for (let length = 0; ; ) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const taken = readSync(fd, chunk);
    if (taken === 0) return Buffer.concat(chunks);
    chunks.push(chunk.subarray(0, taken));
    length += taken;
    if (length > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`);
  }
}
