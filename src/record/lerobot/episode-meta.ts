/** A row of `meta/episodes`, whoever wrote it. */
export interface EpisodeMeta {
  /** Where it stands itself. */
  file: string;
  row: number;
  episode: number;
  tasks: string[];
  length: number;
  fromIndex: number;
  toIndex: number;
  dataFile: string;
  videos: Record<string, { file: string; fromS: number; toS: number }>;
}
