import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import path from 'node:path';

/** A real file system of a few kilobytes or megabytes that can be filled. */
export interface SmallDisk {
  dir: string;
  /** Fills all free space except `leaveBytes`. */
  fill(leaveBytes?: number): void;
  /** Frees it again. */
  free(): void;
  /** All names in it, except the filler. */
  names(): string[];
  readOnly(): void;
  close(): Promise<void>;
}

const FILLER = 'filler';
const HOLDER = 'mount -t tmpfs -o size=$1,mode=700 none /mnt && echo mounted && cat >/dev/null';

/**
 * Mounted in a namespace of a process that ends with this one in any case, so that no mount is left behind.
 * The namespace's files are accessed through /proc.
 */
export async function openSmallDisk(sizeBytes: number): Promise<SmallDisk> {
  const holder: ChildProcess = spawn('unshare', ['-m', 'sh', '-c', HOLDER, 'sh', String(sizeBytes)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(holder, 'exit');
  await Promise.race([once(holder.stdout!, 'data'), exited]);
  if (holder.exitCode !== null) throw new Error(`no tmpfs could be mounted (${holder.exitCode})`);
  const inside = `/proc/${holder.pid}/root`;
  const dir = `${inside}/mnt`;
  const filler = path.join(dir, FILLER);
  return {
    dir,
    fill(leaveBytes = 0) {
      for (let chunk = 1 << 20; chunk >= 1; chunk >>= 1)
        for (let isRoom = true; isRoom; ) isRoom = wrote(filler, chunk);
      if (leaveBytes > 0) truncateSync(filler, Math.max(0, statSync(filler).size - leaveBytes));
    },
    free: () => rmSync(filler, { force: true }),
    names: () => readdirSync(dir).filter((name) => name !== FILLER),
    readOnly() {
      const done = spawnSync('nsenter', [
        '-m',
        '-t',
        String(holder.pid),
        'mount',
        '-o',
        'remount,ro',
        '/mnt',
      ]);
      if (done.status !== 0) throw new Error(`cannot remount: ${done.stderr}`);
    },
    async close() {
      holder.stdin!.end();
      await exited;
    },
  };
}

function wrote(file: string, bytes: number): boolean {
  try {
    appendFileSync(file, Buffer.alloc(bytes));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    return false;
  }
}
