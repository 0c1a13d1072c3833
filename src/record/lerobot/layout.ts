import type { EpisodeInfo, EpisodeRow, JointLimits } from '../../messages/recording.ts';

/**
 * One feature of a LeRobot dataset as declared in `meta/info.json`. Shape [1] is a plain column, [N] a list.
 */
export interface Feature {
  dtype: string;
  shape: number[];
  names: string[] | null;
  info?: Record<string, unknown>;
}

/** Some writers declare pictures with the channels first; the names say so. */
export function pictureSize({ shape, names }: Feature): { widthPx: number; heightPx: number } {
  const at = (name: string, usual: number): number => {
    const found = Array.isArray(names) ? names.indexOf(name) : -1;
    return shape[found < 0 ? usual : found] ?? 0;
  };
  return { widthPx: at('width', 1), heightPx: at('height', 0) };
}

export type Features = Record<string, Feature>;

/** `meta/info.json` of LeRobotDataset v3.0. */
export interface DatasetInfo {
  codebase_version: string;
  robot_type: string | null;
  total_episodes: number;
  total_frames: number;
  total_tasks: number;
  chunks_size: number;
  data_files_size_in_mb: number;
  video_files_size_in_mb: number;
  fps: number;
  splits: Record<string, string>;
  data_path: string;
  video_path: string;
  features: Features;
  /** Ours; loaders ignore it. Marks a dataset that we may add to. */
  farhand?: OwnInfo;
}

export interface OwnInfo {
  version: string;
  /** Meaning of the numbers in `recording.supervisor` and `recording.limited_by`. */
  supervisor_states: readonly string[];
  limited_by: readonly string[];
  /** Who drove: meaning of `recording.source`. */
  sources?: readonly string[];
  /** Of `observation.state` and `action`; absent if the recordings do not have them. */
  joint_limits?: JointLimits;
  /** The recording each episode came from; empty fields if another program has edited the dataset. */
  episodes: { id: string; started_at: string; label: string | null }[];
}

/** A recording to export: joined rows, and the pictures of each camera in the order the rows use them. */
export interface SourceEpisode {
  info: EpisodeInfo;
  rows: readonly EpisodeRow[];
  frames(camera: string): AsyncIterable<SourceFrame>;
}

export interface SourceFrame {
  captureNs: number;
  bytes: Uint8Array;
}

export const CODEBASE_VERSION = 'v3.0';
export const CHUNK_FILES = 1000;
export const INFO_FILE = 'meta/info.json';
export const STATS_FILE = 'meta/stats.json';
export const TASKS_FILE = 'meta/tasks.parquet';
export const EPISODES_PATH = 'meta/episodes/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet';
export const DATA_PATH = 'data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet';
export const VIDEO_PATH = 'videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4';

export interface FilePlace {
  chunk: number;
  file: number;
}

/** Location of an episode's files when each episode has separate files. */
export const placeOf = (episode: number): FilePlace => ({
  chunk: Math.floor(episode / CHUNK_FILES),
  file: episode % CHUNK_FILES,
});

/** A file name from a pattern of `info.json`. */
export function pathOf(pattern: string, { chunk, file }: FilePlace, videoKey = ''): string {
  const padded = (value: number, width: string | undefined) =>
    String(value).padStart(Number(width ?? 0), '0');
  return pattern
    .replace('{video_key}', videoKey)
    .replace(/\{chunk_index(?::0?(\d+)d)?\}/, (_, width?: string) => padded(chunk, width))
    .replace(/\{file_index(?::0?(\d+)d)?\}/, (_, width?: string) => padded(file, width));
}

export const videoKeysOf = (features: Features): string[] =>
  Object.keys(features).filter((key) => features[key]?.dtype === 'video');

/**
 * Features that describe the recording. Outside `observation.`: everything there becomes an input of a policy.
 */
const RECORDING_PREFIX = 'recording.';
/** The brightness of a camera's picture in 4 × 4 cells, row by row from the top left, as it was recorded. */
export const LUMA_PREFIX = `${RECORDING_PREFIX}luma.`;
export const LUMA_CELLS = 4;
/** Which recording a row comes from, as a number: survives other programs' edits. */
export const RECORDING_ID = `${RECORDING_PREFIX}id`;

export const pictureKey = (camera: string): string => `observation.images.${camera}`;
