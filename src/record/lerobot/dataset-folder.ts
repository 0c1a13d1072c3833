import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { TeleopError } from '../../core/errors.ts';
import { syncFolderOf } from '../../files/write-whole.ts';
import { CHUNK_FILES } from './layout.ts';
import { writeSynced } from './parquet.ts';

const LOCK_FILE = '.farhand-export';
const MOVES_FILE = '.farhand-moves';

/** All files below a folder, as relative paths; empty if the folder does not exist. */
export function filesBelow(dir: string): string[] {
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(dir, path.join(entry.parentPath, entry.name)).replaceAll('\\', '/'));
}

/**
 * Prevents two exports into one folder, which would use the same episode numbers. Returns the release
 * function.
 */
export function lockDataset(dir: string): () => void {
  mkdirSync(dir, { recursive: true });
  const file = path.join(dir, LOCK_FILE);
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
  } catch (cause) {
    const holder = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
    if (isRunning(holder))
      throw new TeleopError('bad-dataset', `${dir}: process ${holder} is exporting into it`, {
        hint: 'Wait until that export has finished, or choose another folder.',
        cause,
      });
    writeFileSync(file, String(process.pid));
  }
  return () => rmSync(file, { force: true });
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

/**
 * Moves temporary files to their names so that a crash cannot stop half-way: the list of names is on disk
 * before the first move, and the next export finishes the moves. All files must be complete and synced.
 */
export function moveAll(dir: string, names: readonly string[]): void {
  writeSynced(path.join(dir, MOVES_FILE), JSON.stringify(names));
  finishMoves(dir);
}

/** Finishes the moves of an export that was interrupted among them. */
export function finishMoves(dir: string): void {
  const list = path.join(dir, MOVES_FILE);
  for (const name of readMoves(list)) {
    const file = path.join(dir, name);
    if (!existsSync(`${file}.tmp`)) continue;
    renameSync(`${file}.tmp`, file);
    syncFolderOf(file);
  }
  rmSync(list, { force: true });
}

function readMoves(list: string): string[] {
  try {
    return JSON.parse(readFileSync(list, 'utf8')) as string[];
  } catch {
    // None, or the crash came before the list was complete and so before any move.
    return [];
  }
}

const FILE_NUMBER = /chunk-(\d+)\/file-(\d+)\.(parquet|mp4)$/;

/** The number of the first files that do not exist yet. Other programs leave gaps when they delete episodes. */
export function nextFile(dir: string): number {
  const numbers = ['data', 'videos', 'meta/episodes']
    .flatMap((folder) => filesBelow(path.join(dir, folder)))
    .map((name) => FILE_NUMBER.exec(name))
    .map((match) => (match === null ? -1 : Number(match[1]) * CHUNK_FILES + Number(match[2])));
  return 1 + numbers.reduce((most, number) => Math.max(most, number), -1);
}

/** Removes the temporary files of an interrupted export; a new dataset needs an empty folder. */
export function clearLeftovers(dir: string, isNew: boolean): void {
  const files = filesBelow(dir).filter((name) => name !== LOCK_FILE);
  const unrelated = files.find((name) => !name.endsWith('.tmp'));
  if (isNew && unrelated !== undefined)
    throw new TeleopError('bad-dataset', `${dir}: the folder contains unrelated files (${unrelated})`, {
      hint: 'Choose a new or empty folder.',
    });
  for (const name of files) if (name.endsWith('.tmp')) rmSync(path.join(dir, name), { force: true });
}
