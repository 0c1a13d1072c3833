import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { TeleopError } from '../../core/errors.ts';
import type { EpisodeInfo, EpisodeRow } from '../../messages/recording.ts';
import { episodeFile, listEpisodes } from '../episodes.ts';
import type { SourceEpisode } from '../lerobot/layout.ts';
import { captures, frames, readEpisode, readInfo } from '../reader.ts';

/** The label of an episode that exports of its folder leave out. */
export const DROPPED = 'drop';

export interface EpisodeSource {
  file: string;
  info: EpisodeInfo;
}

/**
 * Resolves command-line arguments: a file, a folder of recordings, or an id in the recordings folder. A
 * folder yields only its finished episodes that are not labelled `drop`; an unfinished episode named explicitly is rejected.
 */
export async function findEpisodes(words: readonly string[], recordDir: string): Promise<EpisodeSource[]> {
  const found: EpisodeSource[] = [];
  for (const word of words) found.push(...(await episodesOf(word, recordDir)));
  const seen = new Set<string>();
  return found.filter(({ file }) => !seen.has(path.resolve(file)) && seen.add(path.resolve(file)));
}

async function episodesOf(word: string, recordDir: string): Promise<EpisodeSource[]> {
  if (existsSync(word) && statSync(word).isDirectory()) {
    const infos = (await listEpisodes(word)).filter(({ complete, label }) => complete && label !== DROPPED);
    if (infos.length === 0)
      throw new TeleopError('file-missing', `${word} contains no finished episode`, {
        hint: 'Record one, or recover unfinished ones with `farhand recover`.',
      });
    return infos.map((info) => ({ file: episodeFile(word, info.id), info }));
  }
  const file = existsSync(word) ? word : episodeFile(recordDir, word);
  const info = await readInfo(file);
  if (!info.complete)
    throw new TeleopError('bad-episode', `${file} is unfinished`, {
      hint: `Recover it first: \`farhand recover ${file}\`.`,
    });
  return [{ file, info }];
}

export async function openSource({ file }: EpisodeSource): Promise<SourceEpisode> {
  const { info, rows } = await readEpisode(file);
  return { info, rows, frames: (camera) => frames(file, camera) };
}

/** Drops rows whose pictures were lost when a damaged file was recovered, and counts them. */
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

/** The rate of the first camera, from the capture times in the rows; 30 without a camera. */
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
