import { closeSync, fstatSync, fsyncSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** The few things a trace writer asks of a file system. Each blocks, and throws an error with a `code` on failure. */
export interface Disk {
  /** A new file, its directories made as needed; fails when the file exists. */
  create(path: string): number;
  /** Returns how many of the bytes were taken, which may be fewer than given. */
  write(fd: number, bytes: Buffer, start: number, length: number): number;
  sync(fd: number): void;
  /** Whether the file still has a name: bytes written to one without are lost when it is closed. */
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
