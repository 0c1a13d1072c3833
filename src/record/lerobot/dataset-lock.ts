import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { TeleopError } from '../../core/errors.ts';
import { linkTarget, unwritable } from '../../files/write-whole.ts';

/** Inside the dataset, where its parent folder cannot be written, as in a container's mount. */
export const INNER_LOCK_FILE = '.farhand-export';

/** The folder itself, where `dir` is a symbolic link: an edit replaces it. */
export const folderOf = (dir: string): string => linkTarget(path.resolve(dir));

/** Beside the folder, because an edit replaces the folder. */
const lockOf = (dir: string): string => `${folderOf(dir)}.farhand-lock`;

/**
 * Prevents two programs from changing a dataset at the same time. The folder need not exist yet. Returns the
 * release function.
 */
export function lockDataset(dir: string): () => void {
  try {
    return claim(dir, lockOf(dir));
  } catch (cause) {
    if (!['EACCES', 'EPERM', 'EROFS'].includes((cause as NodeJS.ErrnoException).code ?? '')) throw cause;
  }
  const file = path.join(folderOf(dir), INNER_LOCK_FILE);
  try {
    mkdirSync(path.dirname(file), { recursive: true });
    return claim(dir, file);
  } catch (cause) {
    throw unwritable(file, cause);
  }
}

/** The same for several, or none of them. */
export function lockDatasets(dirs: readonly string[]): () => void {
  const unlocks: (() => void)[] = [];
  const unlock = () => {
    for (const each of unlocks) each();
  };
  try {
    // One order for all programs, and a dataset that is named twice once.
    for (const dir of [...new Set(dirs.map(folderOf))].sort()) unlocks.push(lockDataset(dir));
    return unlock;
  } catch (error) {
    unlock();
    throw error;
  }
}

function claim(dir: string, file: string): () => void {
  const release = () => rmSync(file, { force: true });
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return release;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
    const holder = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
    if (isRunning(holder))
      throw new TeleopError('bad-dataset', `${dir}: process ${holder} is exporting into it or editing it`, {
        hint: `Wait until it has finished. If process ${holder} is another program, delete ${file}.`,
        cause,
      });
  }
  writeFileSync(file, String(process.pid));
  return release;
}

function isRunning(pid: number): boolean {
  if (!(pid > 0) || pid === process.pid) return pid === process.pid;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
