import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { TeleopError } from '../../core/errors.ts';
import { syncFolderOf } from '../../files/write-whole.ts';
import type { Values } from '../lerobot/columns.ts';
import { DIGEST_FILE, digestsJson } from '../lerobot/digests.ts';
import type { EpisodeMeta } from '../lerobot/episode-meta.ts';
import {
  CHUNK_FILES,
  CODEBASE_VERSION,
  DATA_PATH,
  type DatasetInfo,
  EPISODES_PATH,
  INFO_FILE,
  type OwnInfo,
  pathOf,
  placeOf,
  STATS_FILE,
  TASKS_FILE,
  VIDEO_PATH,
  videoKeysOf,
} from '../lerobot/layout.ts';
import { parquetBytes, writeSynced } from '../lerobot/parquet.ts';
import { joinStats, STAT_NAMES, type Stats, valueStats } from '../lerobot/stats.ts';
import { canWrite, dataParquet, episodeParquet, statsJson, tasksParquet } from '../lerobot/tables.ts';
import { isList } from '../lerobot/values.ts';
import { videoStats } from '../lerobot/video.ts';
import { readVideoTrack, type VideoTrack } from '../mp4/video-track.ts';
import { type OpenDataset, rowsOf } from './open-dataset.ts';
import { type Method, writePart } from './part-video.ts';

/** A piece of an episode that becomes an episode of the new dataset. */
export interface Part {
  from: OpenDataset;
  episode: EpisodeMeta;
  /** First row, and how many. */
  first: number;
  count: number;
  /** A new task; absent: as it was. */
  task?: string;
}

export interface BuildOptions {
  /** The sources are about to go: share their bytes. */
  mayLink: boolean;
  /** Compute the statistics of pictures again instead of keeping those of unchanged episodes. */
  freshStats: boolean;
}

export interface Built {
  episodes: number;
  rows: number;
  /** Videos by how they were made. */
  videos: Record<Method, number>;
}

/** Writes a complete, synced dataset in an empty folder, one file per episode. */
export async function buildDataset(
  dir: string,
  parts: readonly Part[],
  options: BuildOptions,
): Promise<Built> {
  const [first] = parts;
  if (first === undefined)
    throw new TeleopError('bad-option', 'no episode would be left', {
      hint: 'Delete the folder of the dataset instead.',
    });
  const builder = new Builder(dir, first.from.info, options);
  for (const part of parts) await builder.add(part);
  return builder.finish(parts);
}

class Builder {
  readonly #dir: string;
  readonly #info: DatasetInfo;
  readonly #options: BuildOptions;
  readonly #tasks: string[] = [];
  readonly #stats: Record<string, Stats>[] = [];
  readonly #tracks = new Map<string, VideoTrack>();
  readonly #written = new Map<string, string>();
  readonly #videos: Record<Method, number> = { kept: 0, cut: 0, encoded: 0 };
  #episodes = 0;
  #rows = 0;

  constructor(dir: string, info: DatasetInfo, options: BuildOptions) {
    this.#dir = dir;
    this.#info = info;
    this.#options = options;
    const unknown = Object.keys(info.features).find((key) => !canWrite(info.features[key]!));
    if (unknown !== undefined)
      throw new TeleopError('bad-dataset', `feature ${unknown} has a type that cannot be edited`, {
        hint: `Remove it first: lerobot-edit-dataset --operation.type remove_feature --operation.feature_names '["${unknown}"]'`,
      });
  }

  #file(name: string): string {
    const file = path.join(this.#dir, name);
    mkdirSync(path.dirname(file), { recursive: true });
    this.#written.set(name, file);
    return file;
  }

  async add(part: Part): Promise<void> {
    const { features, fps } = this.#info;
    const place = placeOf(this.#episodes);
    const columns = await this.#columns(part);
    const stats: Record<string, Stats> = {};
    for (const [key, values] of Object.entries(columns))
      if (features[key]!.dtype !== 'string') stats[key] = valueStats(values);
    for (const key of videoKeysOf(features)) stats[key] = await this.#video(part, key);
    writeSynced(this.#file(pathOf(DATA_PATH, place)), parquetBytes(dataParquet(features, columns)));
    const tasks = [...new Set((columns['task_index'] as number[]).map((index) => this.#tasks[index]!))];
    const entry = { episode: this.#episodes, place, firstIndex: this.#rows, rows: part.count, fps };
    writeSynced(this.#file(pathOf(EPISODES_PATH, place)), episodeParquet(tasks, features, stats, entry));
    this.#stats.push(stats);
    this.#episodes++;
    this.#rows += part.count;
  }

  async #columns(part: Part): Promise<Record<string, Values>> {
    const { from, episode, first, count } = part;
    const rows = (await rowsOf(from, episode)).slice(first, first + count);
    const columns: Record<string, Values> = {};
    for (const [key, { dtype }] of Object.entries(this.#info.features))
      if (dtype !== 'video') columns[key] = rows.map((row) => plain(row[key], dtype));
    columns['timestamp'] = rows.map((_, i) => i / this.#info.fps);
    columns['frame_index'] = rows.map((_, i) => i);
    columns['episode_index'] = rows.map(() => this.#episodes);
    columns['index'] = rows.map((_, i) => this.#rows + i);
    columns['task_index'] = rows.map((row) =>
      this.#task(part.task ?? from.tasks[Number(row['task_index'])] ?? ''),
    );
    if (columns['next.done'] !== undefined) columns['next.done'] = rows.map((_, i) => i === rows.length - 1);
    return columns;
  }

  #task(name: string): number {
    const known = this.#tasks.indexOf(name);
    return known >= 0 ? known : this.#tasks.push(name) - 1;
  }

  async #video({ from, episode, first, count }: Part, key: string): Promise<Stats> {
    const { file: name, fromS } = episode.videos[key]!;
    const { fps } = this.#info;
    const file = path.join(from.dir, name);
    const track = this.#tracks.get(file) ?? readVideoTrack(file);
    this.#tracks.set(file, track);
    const out = this.#file(pathOf(VIDEO_PATH, placeOf(this.#episodes), key));
    const start = Math.round(fromS * fps) + first;
    const { mayLink } = this.#options;
    this.#videos[await writePart({ file, track, from: start, count, fps, mayLink }, out)]++;
    const stored = storedStats(episode, key);
    const isWhole = first === 0 && count === episode.length;
    return isWhole && stored !== null && !this.#options.freshStats ? stored : videoStats(out, track, count);
  }

  finish(parts: readonly Part[]): Built {
    const { features } = this.#info;
    const joined = Object.keys(this.#stats[0]!).map((key) => [
      key,
      joinStats(this.#stats.map((own) => own[key]!)),
    ]);
    writeSynced(this.#file(TASKS_FILE), tasksParquet(this.#tasks));
    writeSynced(
      this.#file(STATS_FILE),
      statsJson(Object.fromEntries(joined) as Record<string, Stats>, features),
    );
    writeSynced(this.#file(INFO_FILE), `${JSON.stringify(this.#newInfo(parts), null, 4)}\n`);
    writeSynced(path.join(this.#dir, DIGEST_FILE), digestsJson(null, this.#written));
    this.#syncFolders();
    return { episodes: this.#episodes, rows: this.#rows, videos: this.#videos };
  }

  /** The files are on disk; now their names. */
  #syncFolders(): void {
    const folders = new Set<string>();
    for (const file of this.#written.values())
      for (let at = path.dirname(file); at.length >= this.#dir.length; at = path.dirname(at)) folders.add(at);
    for (const folder of folders) syncFolderOf(path.join(folder, 'any'));
  }

  #newInfo(parts: readonly Part[]): DatasetInfo {
    const { farhand } = this.#info;
    return {
      ...this.#info,
      codebase_version: CODEBASE_VERSION,
      total_episodes: this.#episodes,
      total_frames: this.#rows,
      total_tasks: this.#tasks.length,
      chunks_size: CHUNK_FILES,
      splits: { train: `0:${this.#episodes}` },
      data_path: DATA_PATH,
      video_path: VIDEO_PATH,
      ...(farhand && { farhand: { ...farhand, episodes: parts.map(noteOf) } }),
    };
  }
}

/** The recording that a part comes from. */
function noteOf({ from: { info }, episode: { episode } }: Part): OwnInfo['episodes'][number] {
  return info.farhand?.episodes[episode] ?? { id: '', started_at: '', label: null };
}

function plain(value: unknown, dtype: string): Values[number] {
  if (isList(value)) return Array.from(value, Number);
  if (dtype === 'bool') return Boolean(value);
  return dtype === 'string' ? String(value) : Number(value);
}

/** Null if they are not all there. */
function storedStats({ stats }: EpisodeMeta, key: string): Stats | null {
  const flat = STAT_NAMES.map((name) => {
    const value = stats[key]?.[name];
    return [name, Array.isArray(value) ? value.flat(2).map(Number) : []] as const;
  });
  const isComplete = flat.every(([name, values]) => values.length === (name === 'count' ? 1 : 3));
  return isComplete ? (Object.fromEntries(flat) as unknown as Stats) : null;
}
