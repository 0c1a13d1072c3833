/** The rules of a LeRobot v3.0 dataset. Loaders break on some, and give wrong data in silence on others. */
const RULES = {
  'file-missing': 'a file that the metadata name exists',
  'file-unreadable': 'every file can be read to its end',
  'file-stray': 'loaders find no file that the metadata do not name',
  version: 'codebase_version is v3.0',
  info: 'info.json has what loaders need',
  totals: 'totals in info.json are those of the files',
  columns: 'the columns of the data are exactly the declared features',
  'vector-length': 'every vector has the declared length',
  finite: 'no value is missing, NaN or infinite',
  index: 'index counts all rows without a gap',
  'frame-index': 'frame_index counts the rows of an episode from 0',
  'episode-index': 'rows belong to the episode that the metadata say',
  timestamp: 'timestamp is frame_index / fps',
  task: 'task_index names a task, and the episode lists it',
  'tasks-index': 'tasks.parquet is a pandas frame whose index is the task',
  'episode-range': 'length and index range of an episode agree with each other and with the data',
  'video-frames': 'a video has one picture per row',
  'video-rate': 'pictures of a video are shown at exactly frame / fps',
  'video-timescale': 'the unit of time of a video divides a frame evenly',
  'video-size': 'a video has the declared size',
  'video-range': 'an episode’s place in a video is where its pictures are',
  stats: 'statistics have every feature, in the right shape, and are finite',
} as const;

export type Rule = keyof typeof RULES;

export interface Problem {
  rule: Rule;
  file: string;
  /** In that file, from 0; null: all of it. */
  row: number | null;
  message: string;
}

/** Of one rule in one file; the rest is counted. */
const MAX_REPORTED = 5;

/** Collects what is broken; a rule that every row breaks is told a few times and then counted. */
export class Problems {
  readonly list: Problem[] = [];
  readonly #counts = new Map<string, number>();

  add(rule: Rule, file: string, row: number | null, message: string): void {
    const key = `${rule}\n${file}`;
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    if (count <= MAX_REPORTED) this.list.push({ rule, file, row, message });
  }

  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** How many more of the same there are than are listed. */
  get unreported(): { rule: Rule; file: string; count: number }[] {
    return [...this.#counts]
      .filter(([, count]) => count > MAX_REPORTED)
      .map(([key, count]) => {
        const [rule = '', file = ''] = key.split('\n');
        return { rule: rule as Rule, file, count: count - MAX_REPORTED };
      });
  }
}

export const problemText = ({ rule, file, row, message }: Problem): string =>
  `${rule}: ${file}${row === null ? '' : `, row ${row}`}: ${message}`;
