import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { TeleopError } from '../core/errors.ts';
import { writeWhole } from '../files/write-whole.ts';
import type { EpisodeInfo } from '../messages/recording.ts';
import type { Sidecar } from './episode-schema.ts';
import { readInfo, sidecarOf } from './reader.ts';
import { EPISODE_ENDING, PART_ENDING } from './writer.ts';

/** Episodes that violate the limits go here, where an export does not pick them up. */
export const REFUSED_FOLDER = 'refused';
/** Deleted episodes, and the whole ones of those that were trimmed. */
export const DELETED_FOLDER = 'deleted';

/** All episodes of a folder, oldest first. Other files are ignored. */
export async function listEpisodes(dir: string): Promise<EpisodeInfo[]> {
  const found: EpisodeInfo[] = [];
  const all = names(dir);
  for (const name of all.filter((each) => isEpisode(each) && !isRecovered(each, all))) {
    try {
      found.push(await readInfo(path.join(dir, name)));
    } catch (error) {
      if (!(error instanceof TeleopError)) throw error;
    }
  }
  return found;
}

/** Files of processes that died while recording, not recovered yet. */
export const leftovers = (dir: string): string[] =>
  names(dir)
    .filter((name, _, all) => name.endsWith(PART_ENDING) && !isRecovered(name, all))
    .map((name) => path.join(dir, name));

/** The file of an episode: in the folder, in its refused/ subfolder, or unfinished. */
export function episodeFile(dir: string, id: string): string {
  const places = [dir, path.join(dir, REFUSED_FOLDER)];
  const endings = [EPISODE_ENDING, PART_ENDING];
  if (ID.test(id))
    for (const place of places)
      for (const ending of endings) {
        const file = path.join(place, `${id}${ending}`);
        if (existsSync(file)) return file;
      }
  throw new TeleopError('file-missing', `there is no episode "${id}" in ${dir}`, {
    hint: 'List the episodes with `farhand record list`.',
  });
}

/** Changes the label or task of a saved episode; the recording itself is not modified. */
export async function labelEpisode(file: string, change: Sidecar): Promise<void> {
  const { label, task } = await readInfo(file);
  const beside = sidecarOf(file);
  const text = `${JSON.stringify({ label, task, ...change }, null, 2)}\n`;
  writeWhole(beside, text);
}

/** `YYYYMMDD-HHMMSS-<3 digits>`, UTC; the digits distinguish episodes of the same second. */
export function newEpisodeId(startedAt: Date, isTaken: (id: string) => boolean): string {
  const [date, time] = startedAt.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').split('T');
  for (let n = 1; ; n++) {
    const id = `${date}-${time}-${String(n).padStart(3, '0')}`;
    if (!isTaken(id)) return id;
  }
}

export function isTakenIn(dir: string, id: string): boolean {
  const places = [dir, path.join(dir, REFUSED_FOLDER)].flatMap((each) => [
    each,
    path.join(each, DELETED_FOLDER),
  ]);
  return places.some((place) => names(place).some((name) => name.startsWith(`${id}.`)));
}

/** Any file name without a path separator. */
const ID = /^[^/\\]+$/;

const isEpisode = (name: string): boolean => name.endsWith(EPISODE_ENDING) || name.endsWith(PART_ENDING);

/** After a manual recovery the unfinished file remains. */
const isRecovered = (name: string, all: readonly string[]): boolean =>
  name.endsWith(PART_ENDING) && all.includes(name.slice(0, -'.part'.length));

function names(dir: string): string[] {
  try {
    return readdirSync(dir).sort();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new TeleopError('file-unreadable', `folder ${dir} cannot be read: ${(cause as Error).message}`, {
      hint: `Check that it is a folder this user may read: ls -ld ${dir}`,
      cause,
    });
  }
}
