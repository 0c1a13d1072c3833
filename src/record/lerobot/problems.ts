/**
 * The rules of a LeRobot v3.0 dataset. Loaders fail on some violations and silently return wrong data on
 * others.
 */
const RULES = {
  'file-missing': 'every file named in the metadata exists',
  'file-unreadable': 'every file is readable',
  'file-stray': 'the metadata names every file that loaders find',
  version: 'codebase_version is v3.0',
  info: 'info.json has the fields loaders need',
  totals: 'totals in info.json match the files',
  columns: 'the columns of the data are exactly the declared features',
  'vector-length': 'every vector has the declared length',
  finite: 'no value is missing, NaN or infinite',
  index: 'index numbers all rows without a gap',
  'frame-index': 'frame_index numbers the rows of an episode from 0',
  'episode-index': 'rows belong to the episode given in the metadata',
  timestamp: 'timestamp is frame_index / fps',
  task: 'task_index refers to a task that the episode lists',
  'tasks-index': 'tasks.parquet is a pandas frame whose index is the task',
  'episode-range': 'length and index range of an episode agree with each other and with the data',
  'episode-file': 'the description of an episode names its own file',
  'video-frames': 'a video has one picture per row',
  'video-rate': 'pictures of a video are shown at exactly frame / fps',
  'video-timescale': 'the time unit of a video divides a frame evenly',
  'video-size': 'a video has the declared size',
  'video-range': 'an episode’s range in a video matches its pictures',
  'video-start': 'the first picture of a video is shown at 0 s',
  'video-edit': 'an edit list neither hides nor repeats pictures',
  'video-data': 'every encoded picture lies inside the file',
  'video-codec': 'codec, pixel format, rate and sound of a video are the declared ones',
  'video-decode': 'every picture can be decoded',
  'video-black': 'a camera shows something',
  'video-frozen': 'pictures change while the robot moves',
  'video-duplicate': 'two cameras show different pictures',
  picture: 'a picture is the one that was recorded with its row',
  dtype: 'columns are stored in the declared type',
  done: 'next.done marks the last row of an episode and no other',
  limits: 'values lie inside the robot’s limits',
  jump: 'values do not leap between two rows',
  stats: 'statistics cover every feature, have the right shape and are those of the data',
  digest: 'files written by Farhand are unchanged',
} as const;

export type Rule = keyof typeof RULES;

export interface Problem {
  rule: Rule;
  file: string;
  /** In that file, from 0; null: the whole file. */
  row: number | null;
  message: string;
}

/** Listed per rule and file; the rest is only counted. */
const MAX_REPORTED = 5;

/** Collects violations; a rule that every row violates is listed a few times and then only counted. */
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

  /** Violations beyond the listed ones. */
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
