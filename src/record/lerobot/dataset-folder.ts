import { type Dirent, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { TeleopError } from '../../core/errors.ts';
import { syncFolderOf } from '../../files/write-whole.ts';
import { INNER_LOCK_FILE } from './dataset-lock.ts';
import { CHUNK_FILES } from './layout.ts';
import { writeSynced } from './parquet.ts';

const MOVES_FILE = '.farhand-moves';

/** All files below a folder, as relative paths; empty if the folder does not exist. A hub's cache consists of links to files. */
export function filesBelow(dir: string): string[] {
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() || isLinkToFile(entry))
    .map((entry) => path.relative(dir, path.join(entry.parentPath, entry.name)).replaceAll('\\', '/'));
}

const isLinkToFile = (entry: Dirent): boolean =>
  entry.isSymbolicLink() &&
  statSync(path.join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.isFile() === true;

/** Names in the dataset. */
interface Moves {
  /** Whose temporary files become the files. */
  names: readonly string[];
  removed: readonly string[];
}

/**
 * Moves temporary files to their names, then removes others, so that a crash cannot stop half-way: the lists are on
 * disk before the first move, and the next export finishes the moves. All files must be complete and synced.
 */
export function moveAll(dir: string, names: readonly string[], removed: readonly string[] = []): void {
  writeSynced(path.join(dir, MOVES_FILE), JSON.stringify({ names, removed } satisfies Moves));
  syncFolderOf(path.join(dir, MOVES_FILE));
  finishMoves(dir);
}

/** Finishes the moves of an export that was interrupted among them. */
export function finishMoves(dir: string): void {
  const list = path.join(dir, MOVES_FILE);
  const { names, removed } = readMoves(list);
  for (const name of names) {
    const file = path.join(dir, name);
    if (!existsSync(`${file}.tmp`)) continue;
    renameSync(`${file}.tmp`, file);
    syncFolderOf(file);
  }
  for (const name of removed) rmSync(path.join(dir, name), { force: true });
  rmSync(list, { force: true });
}

function readMoves(list: string): Moves {
  try {
    const read = JSON.parse(readFileSync(list, 'utf8')) as Moves | string[];
    // Only names: from an earlier version.
    return Array.isArray(read) ? { names: read, removed: [] } : read;
  } catch {
    // None, or the crash came before the list was complete and so before any move.
    return { names: [], removed: [] };
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
  const files = filesBelow(dir).filter((name) => name !== INNER_LOCK_FILE);
  const unrelated = files.find((name) => !name.endsWith('.tmp'));
  if (isNew && unrelated !== undefined)
    throw new TeleopError('bad-dataset', `${dir}: the folder contains unrelated files (${unrelated})`, {
      hint: 'Choose a new or empty folder.',
    });
  for (const name of files) if (name.endsWith('.tmp')) rmSync(path.join(dir, name), { force: true });
}
