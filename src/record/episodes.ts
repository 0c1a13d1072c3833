import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { TeleopError } from '../core/errors.ts';
import { writeWhole } from '../files/write-whole.ts';
import type { EpisodeInfo } from '../messages/recording.ts';
import type { Sidecar } from './episode-schema.ts';
import { readInfo, sidecarOf } from './reader.ts';
import { EPISODE_ENDING, PART_ENDING } from './writer.ts';

/** Episodes that did not keep the limits go here, out of the way of an export. */
export const REFUSED_FOLDER = 'refused';

/** All episodes of a folder, oldest first. Files that are none of ours are left out. */
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

/** Left behind by a process that was ended while it recorded, and not recovered since. */
export const leftovers = (dir: string): string[] =>
  names(dir)
    .filter((name, _, all) => name.endsWith(PART_ENDING) && !isRecovered(name, all))
    .map((name) => path.join(dir, name));

/** The file of an episode: in the folder, among the refused ones, or unfinished. */
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
    hint: 'List what there is with `farhand record list`.',
  });
}

/** Says something of a saved episode; the recording itself stays as it is. */
export async function labelEpisode(file: string, said: Sidecar): Promise<void> {
  const { label, task } = await readInfo(file);
  const beside = sidecarOf(file);
  const text = `${JSON.stringify({ label, task, ...said }, null, 2)}\n`;
  writeWhole(beside, text);
}

/** `YYYYMMDD-HHMMSS-<3 digits>`, UTC; the digits tell episodes of one second apart. */
export function newEpisodeId(startedAt: Date, isTaken: (id: string) => boolean): string {
  const [date, time] = startedAt.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').split('T');
  for (let n = 1; ; n++) {
    const id = `${date}-${time}-${String(n).padStart(3, '0')}`;
    if (!isTaken(id)) return id;
  }
}

export function isTakenIn(dir: string, id: string): boolean {
  const places = [dir, path.join(dir, REFUSED_FOLDER)];
  return places.some((place) => names(place).some((name) => name.startsWith(`${id}.`)));
}

/** Any name a file can have, and no path. */
const ID = /^[^/\\]+$/;

const isEpisode = (name: string): boolean => name.endsWith(EPISODE_ENDING) || name.endsWith(PART_ENDING);

/** An unfinished file that was recovered by hand is still there. */
const isRecovered = (name: string, all: readonly string[]): boolean =>
  name.endsWith(PART_ENDING) && all.includes(name.slice(0, -'.part'.length));

function names(dir: string): string[] {
  try {
    return readdirSync(dir).sort();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new TeleopError('file-unreadable', `folder ${dir} cannot be read: ${(cause as Error).message}`, {
      hint: 'Make it a folder this user may read.',
      cause,
    });
  }
}
