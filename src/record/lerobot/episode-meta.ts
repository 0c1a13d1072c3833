/** A row of `meta/episodes`, from any writer. */
export interface EpisodeMeta {
  /** The file and row this entry was read from. */
  file: string;
  row: number;
  episode: number;
  tasks: string[];
  length: number;
  fromIndex: number;
  toIndex: number;
  dataFile: string;
  videos: Record<string, { file: string; fromS: number; toS: number }>;
  /** By feature, then by name; as stored. */
  stats: Record<string, Record<string, unknown>>;
}
