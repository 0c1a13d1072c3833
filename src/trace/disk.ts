import { closeSync, fstatSync, fsyncSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * What a trace writer needs from a file system. Each call blocks, and throws an error with a `code` on
 * failure.
 */
export interface Disk {
  /** Creates a new file, and its directories if needed; fails if the file exists. */
  create(path: string): number;
  /** Returns how many bytes were written, which may be fewer than given. */
  write(fd: number, bytes: Buffer, start: number, length: number): number;
  sync(fd: number): void;
  /** Whether the file still has a name: data written to an unlinked file is lost when it is closed. */
  isNamed(fd: number): boolean;
  close(fd: number): void;
  remove(path: string): void;
}

export const nodeDisk: Disk = {
  create(path) {
    mkdirSync(dirname(path), { recursive: true });
    return openSync(path, 'wx');
  },
  write: writeSync,
  sync: fsyncSync,
  isNamed: (fd) => fstatSync(fd).nlink > 0,
  close: closeSync,
  remove: (path) => rmSync(path, { force: true }),
};
