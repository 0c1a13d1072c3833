import path from 'node:path';
import { TeleopError } from '../../core/errors.ts';
import type { EpisodeFigures, EpisodeRow } from '../../messages/recording.ts';
import { FigureMeter } from '../figures.ts';
import { findOutliers, type ScoredEpisode } from '../outliers.ts';
import { QualityMeter } from '../quality.ts';
import { readDatasetInfo } from './check.ts';
import type { EpisodeMeta } from './episode-meta.ts';
import type { DatasetInfo } from './layout.ts';
import { openParquet, type ParquetFile } from './parquet.ts';
import { Problems, problemText } from './problems.ts';
import { isList, valueAt } from './values.ts';

/** The figures of one episode of a dataset, and what is unusual about it. */
export interface EpisodeScore extends ScoredEpisode, Pick<EpisodeFigures, 'interventions' | 'motion'> {
  episode: number;
  rows: number;
  tasks: string[];
  /** As labelled when it was exported. */
  label: string | null;
  endDistanceRad: number | null;
  marks: string[];
}

/** Scores every episode of a dataset from any writer; figures that its columns do not give are null. */
export async function scoreDataset(dir: string): Promise<EpisodeScore[]> {
  const problems = new Problems();
  const { info, episodes } = await readDatasetInfo(dir, problems);
  if (
    info === null ||
    info.features['observation.state'] === undefined ||
    info.features['action'] === undefined
  )
    throw new TeleopError(
      'bad-dataset',
      `${dir}: ${problems.list.map(problemText).join('; ') || 'no state or action'}`,
      {
        hint: 'Give the folder of a LeRobot v3 dataset with observation.state and action.',
      },
    );
  const columns = columnsOf(info);
  const scored: Omit<EpisodeScore, 'endDistanceRad' | 'marks'>[] = [];
  for (const [file, inside] of byFile(episodes)) {
    const parquet = await openParquet(path.join(dir, file));
    for (const episode of inside)
      scored.push(await scoreOf(parquet, columns, info, episode, inside[0]!.fromIndex));
  }
  scored.sort((a, b) => a.episode - b.episode);
  const { endDistanceRad, marks } = findOutliers(scored);
  return scored.map((each, i) => ({ ...each, endDistanceRad: endDistanceRad[i]!, marks: marks[i]! }));
}

function byFile(episodes: readonly EpisodeMeta[]): Map<string, EpisodeMeta[]> {
  const files = new Map<string, EpisodeMeta[]>();
  for (const episode of episodes)
    files.set(episode.dataFile, [...(files.get(episode.dataFile) ?? []), episode]);
  return files;
}

const STALE = 'recording.frame_stale.';

function columnsOf({ features }: DatasetInfo): string[] {
  const wanted = ['timestamp', 'observation.state', 'action', 'recording.latency_ms', 'intervention'];
  return Object.keys(features).filter((key) => wanted.includes(key) || key.startsWith(STALE));
}

async function scoreOf(
  parquet: ParquetFile,
  columns: string[],
  { fps, farhand, features }: DatasetInfo,
  { episode, length, tasks, fromIndex }: EpisodeMeta,
  firstIndex: number,
): Promise<Omit<EpisodeScore, 'endDistanceRad' | 'marks'>> {
  const rows = await parquet.read(fromIndex - firstIndex, fromIndex - firstIndex + length, columns);
  const names = features['observation.state']!.names;
  // Distances in radians would count a gripper's 0 … 1.
  const joints =
    Array.isArray(names) && names.at(-1) === 'gripper' ? names.length - 1 : Number.POSITIVE_INFINITY;
  const staleKeys = columns.filter((key) => key.startsWith(STALE));
  const quality = new QualityMeter(fps);
  const figures = new FigureMeter();
  rows.forEach((row, i) => {
    const [state, action] = [numbers(row['observation.state'], joints), numbers(row['action'], joints)];
    quality.row(rowOf(i, i / fps, state, row, staleKeys));
    figures.row(i / fps, action, state, Number(row['intervention'] ?? 0) > 0);
  });
  const { jerkP95RadS3, oneWayP95Ms, staleShare } = quality.result(0);
  return {
    episode,
    rows: length,
    durationS: length / fps,
    tasks,
    label: farhand?.episodes[episode]?.label ?? null,
    ...{ jerkP95RadS3, oneWayP95Ms, badWindows: null, staleShare: staleKeys.length > 0 ? staleShare : null },
    ...figures.result(),
  };
}

/** For a few hundred thousand rows: one object each, without copies. */
function rowOf(
  index: number,
  timeS: number,
  stateRad: number[],
  row: Record<string, unknown>,
  staleKeys: readonly string[],
): EpisodeRow {
  const oneWayMs = valueAt(row['recording.latency_ms'] ?? Number.NaN, 0);
  const stale = staleKeys.some((key) => Number(row[key]) > 0);
  return {
    index,
    timeNs: timeS * 1e9,
    seq: index,
    engaged: false,
    supervisor: 'engaged',
    limitedBy: '',
    commandRad: NONE,
    commandGripper: 0,
    stateRad,
    stateGripper: 0,
    oneWayNs: oneWayMs >= 0 ? oneWayMs * 1e6 : null,
    uncertaintyNs: null,
    playoutDelayNs: null,
    frames: stale ? STALE_FRAME : FRESH,
  };
}

const NONE: number[] = [];
const FRESH = {};
const STALE_FRAME = { any: { captureNs: 0, ageNs: 0, stale: true } };

const numbers = (value: unknown, most: number): number[] =>
  isList(value) ? firstOf(value, most) : [Number(value)];

function firstOf(values: ArrayLike<unknown>, most: number): number[] {
  const out: number[] = [];
  for (let i = 0; i < Math.min(values.length, most); i++) out.push(Number(values[i]));
  return out;
}
