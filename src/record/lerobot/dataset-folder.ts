import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { TeleopError } from '../../core/errors.ts';
import {
  DATA_PATH,
  type DatasetInfo,
  EPISODES_PATH,
  pathOf,
  placeOf,
  STATS_FILE,
  TASKS_FILE,
  VIDEO_PATH,
  videoKeysOf,
} from './layout.ts';

const LOCK_FILE = '.farhand-export';

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

/** Removes what an interrupted export left: temporary files, and the files of an episode not yet counted. */
export function clearLeftovers(dir: string, info: DatasetInfo | null): void {
  const files = filesBelow(dir).filter((name) => name !== LOCK_FILE);
  const next = placeOf(info?.total_episodes ?? 0);
  const uncounted = new Set([pathOf(DATA_PATH, next), pathOf(EPISODES_PATH, next)]);
  const [before = '', after = ''] = pathOf(VIDEO_PATH, next, '\n').split('\n');
  const isVideo = (name: string) => name.startsWith(before) && name.endsWith(after);
  if (info === null) for (const name of [TASKS_FILE, STATS_FILE]) uncounted.add(name);
  else for (const key of videoKeysOf(info.features)) uncounted.add(pathOf(VIDEO_PATH, next, key));
  const leftovers = files.filter(
    (name) => name.endsWith('.tmp') || uncounted.has(name) || (info === null && isVideo(name)),
  );
  if (info === null && leftovers.length < files.length)
    throw new TeleopError(
      'bad-dataset',
      `${dir}: the folder contains unrelated files (${files.find((name) => !leftovers.includes(name))})`,
      {
        hint: 'Choose a new or empty folder.',
      },
    );
  for (const name of leftovers) rmSync(path.join(dir, name), { force: true });
}
