import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { TeleopError } from '../../core/errors.ts';
import { monotonicClock } from '../../core/time/clock.ts';
import type { EpisodeInfo } from '../../messages/recording.ts';
import { checkDataset } from '../lerobot/check.ts';
import { LeRobotWriter } from '../lerobot/dataset-writer.ts';
import { joinEpisodeFiles } from '../lerobot/join-episode-files.ts';
import type { SourceEpisode } from '../lerobot/layout.ts';
import { type DatasetInfo, INFO_FILE } from '../lerobot/layout.ts';
import { problemText } from '../lerobot/problems.ts';
import type { Codec } from '../lerobot/video.ts';
import { prepared } from './prepared.ts';
import { cameraFps, type EpisodeSource, openSource } from './sources.ts';

export interface LeRobotExport {
  dir: string;
  episodes: readonly EpisodeSource[];
  codec: Codec;
  /** Rows per second; null: the dataset's rate, or the first camera's for a new dataset. */
  fps: number | null;
  maxGapS: number;
  /** Only what a person drove after taking over from a policy; each stretch becomes an episode. */
  onlyCorrections?: boolean;
  /** Version of this program. */
  version: string;
  /** Called when an episode is done or was already present. */
  onEpisode?: (reported: ExportedEpisode) => void;
  onProgress?: (id: string, done: number, total: number) => void;
}

export interface ExportedEpisode {
  id: string;
  /** Its number in the dataset; null if this recording was already in it. */
  episode: number | null;
  rows: number;
  /** Rows dropped because a damaged part of the file held their pictures. */
  leftOut: number;
  recordedS: number;
  tookS: number;
}

/** Adds recordings to a dataset, then checks the whole dataset. Succeeds only if it satisfies every rule. */
export async function exportLeRobot(options: LeRobotExport): Promise<ExportedEpisode[]> {
  const { dir, episodes, codec, maxGapS, version } = options;
  const [first] = episodes;
  if (first === undefined) return [];
  const fps = options.fps ?? (await chosenFps(dir, first));
  let current = '';
  const writer = await LeRobotWriter.open(dir, {
    fps,
    codec,
    maxGapS,
    version,
    onProgress: (done, total) => options.onProgress?.(current, done, total),
  });
  const reported: ExportedEpisode[] = [];
  try {
    for (const source of episodes) {
      current = source.info.id;
      for await (const done of addEpisodes(writer, source, options.onlyCorrections ?? false)) {
        reported.push(done);
        options.onEpisode?.(done);
      }
    }
    await joinEpisodeFiles(dir);
  } finally {
    writer.close();
  }
  if (reported.length > 0) await assertWhole(dir);
  return reported;
}

async function* addEpisodes(
  writer: LeRobotWriter,
  source: EpisodeSource,
  onlyCorrections: boolean,
): AsyncGenerator<ExportedEpisode> {
  if (!onlyCorrections && writer.has(source.info.id)) {
    yield alreadyIn(source.info);
    return;
  }
  const { parts, leftOut } = await named(source.info.id, () => prepared(source, onlyCorrections));
  for (const [i, part] of parts.entries())
    yield await named(part.info.id, () => addPart(writer, part, i === 0 ? leftOut : 0));
}

async function addPart(
  writer: LeRobotWriter,
  part: SourceEpisode,
  leftOut: number,
): Promise<ExportedEpisode> {
  const { id, durationS } = part.info;
  if (writer.has(id)) return alreadyIn(part.info);
  const startedNs = monotonicClock.nowNs();
  const { episode, rows } = await writer.add(part);
  const tookS = (monotonicClock.nowNs() - startedNs) / 1e9;
  return { id, episode, rows, leftOut, recordedS: durationS, tookS };
}

const alreadyIn = ({ id, durationS }: EpisodeInfo): ExportedEpisode => ({
  ...{ id, episode: null, rows: 0, leftOut: 0, recordedS: durationS, tookS: 0 },
});

/** A failure says which episode it is about. */
async function named<T>(id: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof TeleopError) || error.code !== 'bad-episode') throw error;
    throw new TeleopError('bad-episode', `${id}: ${error.message}`, { hint: error.hint, cause: error });
  }
}

async function chosenFps(dir: string, first: EpisodeSource): Promise<number> {
  const file = path.join(dir, INFO_FILE);
  if (existsSync(file)) return (JSON.parse(readFileSync(file, 'utf8')) as DatasetInfo).fps;
  const { info, rows } = await openSource(first);
  return cameraFps(info.cameras, rows);
}

async function assertWhole(dir: string): Promise<void> {
  const { problems } = await checkDataset(dir);
  const [problem] = problems.list;
  if (problem === undefined) return;
  throw new TeleopError('bad-dataset', `${dir}: ${problemText(problem)} (${problems.total} in all)`, {
    hint: `\`farhand dataset check ${dir}\` lists all of them. Export into a new folder; the recordings are unchanged.`,
  });
}
