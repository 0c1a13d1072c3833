import { copyFileSync, existsSync, linkSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { TeleopError } from '../core/errors.ts';
import { syncFolderOf, unwritable } from '../files/write-whole.ts';
import { DELETED_FOLDER, episodeFile, REFUSED_FOLDER } from './episodes.ts';
import { sidecarOf } from './reader.ts';
import { trimEpisode } from './trim.ts';
import { EPISODE_ENDING, PART_ENDING } from './writer.ts';

/** Moves an episode to `deleted/` beside it. What was trimmed goes; the whole recording is there already. */
export function deleteEpisode(dir: string, id: string): void {
  const file = finishedFile(dir, id);
  const kept = keptFile(file);
  changing(file, () => {
    mkdirSync(path.dirname(kept), { recursive: true });
    if (existsSync(kept)) rmSync(file);
    else renameSync(file, kept);
    if (existsSync(sidecarOf(file))) renameSync(sidecarOf(file), sidecarOf(kept));
    syncFolderOf(kept);
    syncFolderOf(file);
  });
}

/** Keeps only what was recorded from `fromS` to `toS`; the whole recording goes to `deleted/`. Returns the rows. */
export function cutEpisode(dir: string, id: string, fromS: number, toS: number, version: string): number {
  const file = finishedFile(dir, id);
  const kept = keptFile(file);
  const isFirst = !existsSync(kept);
  return changing(file, () => {
    mkdirSync(path.dirname(kept), { recursive: true });
    if (isFirst) linkOrCopy(file, kept);
    try {
      return trimEpisode(file, fromS, toS, file, version);
    } catch (cause) {
      if (isFirst) rmSync(kept);
      throw cause;
    }
  });
}

/** Undoes `deleteEpisode` and `cutEpisode`: the whole recording is back. */
export function restoreEpisode(dir: string, id: string): void {
  for (const place of [dir, path.join(dir, REFUSED_FOLDER)]) {
    const file = path.join(place, `${path.basename(id)}${EPISODE_ENDING}`);
    const kept = keptFile(file);
    if (!existsSync(kept)) continue;
    return changing(file, () => {
      renameSync(kept, file);
      if (existsSync(sidecarOf(kept))) renameSync(sidecarOf(kept), sidecarOf(file));
      syncFolderOf(file);
    });
  }
  throw new TeleopError('file-missing', `there is no deleted or trimmed episode "${id}" in ${dir}`, {
    hint: `Deleted recordings are in ${path.join(dir, DELETED_FOLDER)}.`,
  });
}

const keptFile = (file: string): string => path.join(path.dirname(file), DELETED_FOLDER, path.basename(file));

function finishedFile(dir: string, id: string): string {
  const file = episodeFile(dir, id);
  if (!file.endsWith(PART_ENDING)) return file;
  throw new TeleopError('bad-episode', `${file} is being recorded, or was never finished`, {
    hint: `Stop the recording first, or finish the file with \`farhand recover ${file}\`.`,
  });
}

/** Two names for one file need no space; not every disk has them. */
function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}

function changing<T>(file: string, change: () => T): T {
  try {
    return change();
  } catch (cause) {
    throw unwritable(file, cause);
  }
}
