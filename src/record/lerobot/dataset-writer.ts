import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { TeleopError } from '../../core/errors.ts';
import { ROW_SOURCES } from '../../messages/recording.ts';
import { LIMITED_BY, SUPERVISOR_STATES } from '../../messages/robot-state.ts';
import { finishSwap } from '../edit/swap.ts';
import { readVideoTrack } from '../mp4/video-track.ts';
import { checkMayAdd, checkRows, checkSame, sizesOf, withoutNewer } from './admission.ts';
import { dataColumns, recordingNumber, type Values } from './columns.ts';
import { clearLeftovers, finishMoves, moveAll, nextFile } from './dataset-folder.ts';
import { lockDataset } from './dataset-lock.ts';
import { DIGEST_FILE, digestsJson, readDigests } from './digests.ts';
import { featuresOf } from './features.ts';
import { type GridRow, resample } from './grid.ts';
import {
  CHUNK_FILES,
  CODEBASE_VERSION,
  DATA_PATH,
  type DatasetInfo,
  EPISODES_PATH,
  type Features,
  INFO_FILE,
  LUMA_PREFIX,
  type OwnInfo,
  pathOf,
  pictureKey,
  placeOf,
  type SourceEpisode,
  STATS_FILE,
  TASKS_FILE,
  VIDEO_PATH,
} from './layout.ts';
import { parquetBytes, syncFile, writeSynced } from './parquet.ts';
import { readTasks } from './read-tasks.ts';
import { recordingNumbers } from './recording-numbers.ts';
import { joinStats, type Stats, valueStats } from './stats.ts';
import { dataParquet, episodeParquet, statsJson, statsOfJson, tasksParquet } from './tables.ts';
import { type Codec, type EncodedVideo, encodeVideo, evenSize, type PictureSize } from './video.ts';

export interface WriterOptions {
  fps: number;
  codec: Codec;
  /** Longest gap between two rows that is filled. */
  maxGapS: number;
  /** Version of this program, for the dataset's notes. */
  version: string;
  /** Pictures encoded so far, and the total of this episode. */
  onProgress?: (done: number, total: number) => void;
}

export interface AddedEpisode {
  episode: number;
  rows: number;
  files: string[];
}

/**
 * Adds episodes to a LeRobotDataset v3.0, each in separate files. Writes temporary files and renames them
 * when all of an episode is on disk, `info.json` last: a crash at any time leaves the earlier episodes
 * intact, and its leftovers are removed when the dataset is opened again.
 */
export class LeRobotWriter {
  readonly #dir: string;
  readonly #options: WriterOptions;
  readonly #unlock: () => void;
  #info: DatasetInfo | null;
  #stats: Record<string, Stats> = {};
  #tasks: string[] = [];
  readonly #sources = new Set<number>();

  private constructor(dir: string, options: WriterOptions, unlock: () => void, info: DatasetInfo | null) {
    this.#dir = dir;
    this.#options = options;
    this.#unlock = unlock;
    this.#info = info;
  }

  async #read(): Promise<void> {
    this.#stats = statsOfJson(readFileSync(path.join(this.#dir, STATS_FILE), 'utf8'));
    this.#tasks = (await readTasks(path.join(this.#dir, TASKS_FILE))).names;
    const { farhand, total_episodes: episodes } = this.#info!;
    // Other programs that edit a dataset drop our notes; the rows still say which recordings they are from.
    if (farhand?.episodes.length === episodes)
      for (const { id } of farhand.episodes) this.#sources.add(recordingNumber(id));
    else for (const number of await recordingNumbers(this.#dir)) this.#sources.add(number);
  }

  static async open(dir: string, options: WriterOptions): Promise<LeRobotWriter> {
    mkdirSync(path.dirname(path.resolve(dir)), { recursive: true });
    const unlock = lockDataset(dir);
    try {
      finishSwap(dir);
      finishMoves(dir);
      const file = path.join(dir, INFO_FILE);
      const info = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as DatasetInfo) : null;
      if (info !== null) checkMayAdd(dir, info, options.fps);
      clearLeftovers(dir, info === null);
      const writer = new LeRobotWriter(dir, options, unlock, info);
      if (info !== null) await writer.#read();
      return writer;
    } catch (error) {
      unlock();
      throw error;
    }
  }

  close(): void {
    this.#unlock();
  }

  get episodes(): number {
    return this.#info?.total_episodes ?? 0;
  }

  /** Whether it contains this recording. */
  has(id: string): boolean {
    return this.#sources.has(recordingNumber(id));
  }

  async add(source: SourceEpisode): Promise<AddedEpisode> {
    const { fps, codec, maxGapS } = this.#options;
    const grid = resample(source.rows, fps, maxGapS);
    checkRows(source, grid);
    const sizes = await sizesOf(source);
    const own = featuresOf(source.info, { fps, codec, sizes: evenSizes(sizes) });
    const features = this.#info === null ? own : withoutNewer(own, this.#info.features);
    if (this.#info !== null) checkSame(this.#dir, this.#info, features, source.info.robot);
    const pending = new Map<string, string>();
    try {
      return await this.#write(source, grid, sizes, features, pending);
    } catch (error) {
      for (const file of pending.values()) rmSync(file, { force: true });
      throw error;
    }
  }

  async #write(
    source: SourceEpisode,
    grid: readonly GridRow[],
    sizes: Record<string, PictureSize>,
    features: Features,
    pending: Map<string, string>,
  ): Promise<AddedEpisode> {
    const episode = this.episodes;
    const place = placeOf(nextFile(this.#dir));
    const firstIndex = this.#info?.total_frames ?? 0;
    const tasks = this.#tasks.includes(source.info.task) ? this.#tasks : [...this.#tasks, source.info.task];
    const keep = (name: string): string => {
      const file = path.join(this.#dir, name);
      pending.set(file, `${file}.tmp`);
      return `${file}.tmp`;
    };
    const encoded = await this.#videos(source, grid, sizes, (key) => keep(pathOf(VIDEO_PATH, place, key)));
    const stats: Record<string, Stats> = {};
    const columns = dataColumns(source.info, grid, {
      episode,
      firstIndex,
      taskIndex: tasks.indexOf(source.info.task),
      fps: this.#options.fps,
    });
    for (const [camera, video] of Object.entries(encoded)) {
      stats[pictureKey(camera)] = video.stats;
      columns[`${LUMA_PREFIX}${camera}`] = video.lumas;
    }
    for (const key of Object.keys(columns)) if (features[key] === undefined) delete columns[key];
    for (const [key, values] of Object.entries(columns))
      if (features[key]?.dtype !== 'string') stats[key] = valueStats(values);
    writeSynced(
      keep(pathOf(EPISODES_PATH, place)),
      episodeParquet([source.info.task], features, stats, {
        episode,
        place,
        firstIndex,
        rows: grid.length,
        fps: this.#options.fps,
      }),
    );
    writeSynced(keep(pathOf(DATA_PATH, place)), dataBytes(features, columns));
    const joined = this.#joined(stats);
    const info = this.#nextInfo(source, features, grid.length, tasks.length);
    writeSynced(keep(TASKS_FILE), tasksParquet(tasks));
    writeSynced(keep(STATS_FILE), statsJson(joined, features));
    writeSynced(keep(INFO_FILE), `${JSON.stringify(info, null, 4)}\n`);
    const written = new Map([...pending].map(([to, from]) => [path.relative(this.#dir, to), from]));
    writeSynced(keep(DIGEST_FILE), digestsJson(readDigests(this.#dir), written));
    moveAll(this.#dir, [...written.keys(), DIGEST_FILE]);
    this.#info = info;
    this.#stats = joined;
    this.#tasks = tasks;
    this.#sources.add(recordingNumber(source.info.id));
    return { episode, rows: grid.length, files: [...pending.keys()] };
  }

  async #videos(
    source: SourceEpisode,
    grid: readonly GridRow[],
    sizes: Record<string, PictureSize>,
    fileOf: (key: string) => string,
  ): Promise<Record<string, EncodedVideo>> {
    const { fps, codec, onProgress } = this.#options;
    const { cameras } = source.info;
    let done = 0;
    const jobs = cameras.map(async (camera) => {
      const file = fileOf(pictureKey(camera));
      const video = await encodeVideo({
        camera,
        file,
        codec,
        fps,
        size: sizes[camera]!,
        captures: grid.map(({ row }) => row.frames[camera]!.captureNs),
        frames: source.frames(camera),
        onFrame: () => onProgress?.(++done, cameras.length * grid.length),
      });
      syncFile(file);
      const { timesS } = readVideoTrack(file);
      if (timesS.length !== grid.length || video.lumas.length !== grid.length)
        throw new TeleopError(
          'encoder-failed',
          `${file} has ${timesS.length} pictures for ${grid.length} rows`,
          {
            hint: 'Try the other --codec, or another version of ffmpeg.',
          },
        );
      return [camera, video] as const;
    });
    // Wait for all of them, so that none is still writing after the first has failed.
    const ended = await Promise.allSettled(jobs);
    const failed = ended.find((each) => each.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    return Object.fromEntries(ended.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])));
  }

  #joined(stats: Record<string, Stats>): Record<string, Stats> {
    const entries = Object.entries(stats).map(([key, own]) => {
      const earlier = this.#stats[key];
      return [key, earlier === undefined ? own : joinStats([earlier, own])] as const;
    });
    return Object.fromEntries(entries);
  }

  #nextInfo({ info }: SourceEpisode, features: Features, rows: number, tasks: number): DatasetInfo {
    const episodes = this.episodes + 1;
    return {
      codebase_version: CODEBASE_VERSION,
      robot_type: info.robot,
      total_episodes: episodes,
      total_frames: (this.#info?.total_frames ?? 0) + rows,
      total_tasks: tasks,
      chunks_size: CHUNK_FILES,
      data_files_size_in_mb: 100,
      video_files_size_in_mb: 200,
      fps: this.#options.fps,
      splits: { train: `0:${episodes}` },
      data_path: DATA_PATH,
      video_path: VIDEO_PATH,
      features,
      farhand: {
        version: this.#options.version,
        supervisor_states: SUPERVISOR_STATES,
        limited_by: LIMITED_BY,
        sources: ROW_SOURCES,
        ...(info.jointLimits && { joint_limits: info.jointLimits }),
        episodes: [...this.#notes(), { id: info.id, started_at: info.startedAt, label: info.label }],
      },
    };
  }

  /** One per episode; empty where another program has dropped them. */
  #notes(): OwnInfo['episodes'] {
    const notes = this.#info?.farhand?.episodes ?? [];
    if (notes.length === this.episodes) return notes;
    return Array.from({ length: this.episodes }, () => ({ id: '', started_at: '', label: null }));
  }
}

const dataBytes = (features: Features, columns: Record<string, Values>): Uint8Array =>
  parquetBytes(dataParquet(features, columns));

const evenSizes = (sizes: Record<string, PictureSize>): Record<string, PictureSize> =>
  Object.fromEntries(Object.entries(sizes).map(([camera, size]) => [camera, evenSize(size)]));
