import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { TeleopError } from '../../core/errors.ts';
import type { EpisodeInfo, EpisodeRow } from '../../messages/recording.ts';
import { episodeFile, listEpisodes } from '../episodes.ts';
import type { SourceEpisode } from '../lerobot/layout.ts';
import { captures, frames, readEpisode, readInfo } from '../reader.ts';

export interface EpisodeSource {
  file: string;
  info: EpisodeInfo;
}

/**
 * Episodes by what a person types: a file, a folder of them, or an id in the folder of recordings. A folder gives only
 * its finished ones; one that was not finished and is named itself is refused.
 */
export async function findEpisodes(words: readonly string[], recordDir: string): Promise<EpisodeSource[]> {
  const found: EpisodeSource[] = [];
  for (const word of words) found.push(...(await episodesOf(word, recordDir)));
  const seen = new Set<string>();
  return found.filter(({ file }) => !seen.has(path.resolve(file)) && seen.add(path.resolve(file)));
}

async function episodesOf(word: string, recordDir: string): Promise<EpisodeSource[]> {
  if (existsSync(word) && statSync(word).isDirectory()) {
    const infos = (await listEpisodes(word)).filter(({ complete }) => complete);
    if (infos.length === 0)
      throw new TeleopError('file-missing', `there is no finished episode in ${word}`, {
        hint: 'Record one, or mend unfinished ones with `farhand recover`.',
      });
    return infos.map((info) => ({ file: episodeFile(word, info.id), info }));
  }
  const file = existsSync(word) ? word : episodeFile(recordDir, word);
  const info = await readInfo(file);
  if (!info.complete)
    throw new TeleopError('bad-episode', `${file} was not finished`, {
      hint: `Mend it first: \`farhand recover ${file}\`.`,
    });
  return [{ file, info }];
}

export async function openSource({ file }: EpisodeSource): Promise<SourceEpisode> {
  const { info, rows } = await readEpisode(file);
  return { info, rows, frames: (camera) => frames(file, camera) };
}

/** Leaves out rows that lost a picture when a damaged file was recovered; says how many. */
export async function onlyWhole(
  file: string,
  source: SourceEpisode,
): Promise<{ source: SourceEpisode; leftOut: number }> {
  const held = new Map<string, ReadonlySet<number>>();
  for (const camera of source.info.cameras) held.set(camera, await captures(file, camera));
  const isWhole = ({ frames }: EpisodeRow) =>
    [...held].every(([camera, known]) => known.has(frames[camera]?.captureNs ?? Number.NaN));
  const rows = source.rows.filter(isWhole);
  return { source: { ...source, rows }, leftOut: source.rows.length - rows.length };
}

const DEFAULT_FPS = 30;

/** The rate of the first camera, from the captures that rows show; 30 without a camera. */
export function cameraFps(cameras: readonly string[], rows: readonly EpisodeRow[]): number {
  const [camera] = cameras;
  if (camera === undefined) return DEFAULT_FPS;
  const captures = [...new Set(rows.map(({ frames }) => frames[camera]?.captureNs ?? Number.NaN))];
  const periods = captures
    .slice(1)
    .map((captureNs, i) => captureNs - captures[i]!)
    .filter((periodNs) => periodNs > 0)
    .sort((a, b) => a - b);
  const medianNs = periods[Math.floor(periods.length / 2)];
  return medianNs === undefined ? DEFAULT_FPS : Math.max(1, Math.round(1e9 / medianNs));
}
