import { existsSync } from 'node:fs';
import path from 'node:path';
import { MotionCheck } from './check-motion.ts';
import type { FoundStats } from './check-stats.ts';
import type { EpisodeMeta } from './episode-meta.ts';
import { type DatasetInfo, type Feature, LUMA_PREFIX } from './layout.ts';
import { Moments } from './moments.ts';
import { openParquet, type ParquetFile } from './parquet.ts';
import type { Problems } from './problems.ts';
import { quantileRanges } from './stats.ts';
import { isList } from './values.ts';

const ROWS_AT_ONCE = 10_000;
/** How each dtype is stored; other types are not checked. */
const STORED_AS: Record<string, readonly string[]> = {
  float32: ['FLOAT'],
  float64: ['DOUBLE'],
  int64: ['INT64', 'INT64 INT_64'],
  int32: ['INT32', 'INT32 INT_32'],
  uint8: ['INT32 UINT_8'],
  bool: ['BOOLEAN'],
};
/** Loaders accept a picture this far from the requested time; rows stay well within it. */
const TIME_TOLERANCE_S = 5e-5;

interface RowContext {
  info: DatasetInfo;
  byEpisode: ReadonlyMap<number, EpisodeMeta>;
  tasks: readonly string[];
  problems: Problems;
  seen: Map<number, number>;
  found: Map<number, Map<string, Moments>>;
  motion: MotionCheck;
  lumas: LumaTable;
  /** Values of the episode that is being read, for its quantiles. */
  recent: { episode: number; values: Map<string, unknown[]> };
  /** Of the next row in all files in order; NaN after a file that could not be read. */
  position: number;
}

/** What other checks need to know about the rows. */
export interface CheckedData {
  found: FoundStats;
  lumas: LumaTable;
}

/** The brightness of each recorded picture in 4 × 4 cells: by feature, by episode, row by row. */
export type LumaTable = Map<string, Map<number, Uint8Array[]>>;

export async function checkData(
  dir: string,
  info: DatasetInfo,
  episodes: readonly EpisodeMeta[],
  tasks: readonly string[],
  problems: Problems,
): Promise<CheckedData> {
  const byEpisode = new Map(episodes.map((meta) => [meta.episode, meta]));
  const [seen, found, lumas] = [new Map(), new Map(), new Map()];
  const motion = new MotionCheck(info, problems);
  const recent = { episode: -1, values: new Map() };
  const context: RowContext = {
    ...{ info, byEpisode, tasks, problems, seen, found, motion, lumas, recent, position: 0 },
  };
  for (const file of [...new Set(episodes.map(({ dataFile }) => dataFile))].sort()) {
    if (!existsSync(path.join(dir, file))) {
      problems.add('file-missing', file, null, 'loaders will look for it on the Hub');
      context.position = Number.NaN;
      continue;
    }
    try {
      await checkFile(context, file, await openParquet(path.join(dir, file)));
    } catch (error) {
      problems.add('file-unreadable', file, null, (error as Error).message);
      context.position = Number.NaN;
    }
  }
  for (const { file, row, episode, length, dataFile } of episodes) {
    const rows = context.seen.get(episode) ?? 0;
    if (rows !== length && existsSync(path.join(dir, dataFile)))
      problems.add(
        'episode-range',
        file,
        row,
        `episode ${episode} has ${rows} rows in ${dataFile}, but its length is ${length}`,
      );
  }
  finishQuantiles(context);
  motion.finish();
  return { found, lumas };
}

async function checkFile(context: RowContext, file: string, parquet: ParquetFile): Promise<void> {
  const { info, problems } = context;
  const stored = Object.entries(info.features).filter(([, { dtype }]) => dtype !== 'video');
  const declared = new Set(stored.map(([key]) => key));
  for (const name of parquet.columns)
    if (!declared.has(name))
      problems.add('columns', file, null, `column ${name} is not declared in info.json`);
  const present = stored.filter(([key]) => {
    if (parquet.columns.includes(key)) {
      checkType(problems, file, key, info.features[key]!, parquet.types[key]!);
      return true;
    }
    problems.add('columns', file, null, `column ${key} is declared in info.json but missing here`);
    return false;
  });
  for (let start = 0; start < parquet.rows; start += ROWS_AT_ONCE) {
    const rows = await parquet.read(start, Math.min(parquet.rows, start + ROWS_AT_ONCE));
    rows.forEach((row, i) => {
      for (const [key, feature] of present) checkValue(problems, file, start + i, key, feature, row[key]);
      checkRow(context, file, start + i, row);
      collect(context, present, file, start + i, row);
    });
  }
}

function checkType(problems: Problems, file: string, key: string, { dtype }: Feature, stored: string): void {
  const valid = STORED_AS[dtype];
  if (valid !== undefined && !valid.includes(stored))
    problems.add('dtype', file, null, `${key} is stored as ${stored}, but ${dtype} is declared`);
}

/** Loaders normalise with these. Others are described for people. */
const isNormalised = (key: string): boolean => key === 'action' || key.startsWith('observation.');

/** An episode's rows are consecutive: its values are kept until the next one begins. */
function finishQuantiles({ found, recent }: RowContext): void {
  for (const [key, values] of recent.values) {
    const moments = found.get(recent.episode)?.get(key);
    if (moments?.count === values.length) moments.ranges = quantileRanges(values, moments.mean.length);
  }
  recent.values.clear();
}

function collect(
  context: RowContext,
  present: readonly [string, Feature][],
  file: string,
  at: number,
  row: Record<string, unknown>,
): void {
  const { found, motion, lumas, recent } = context;
  const episode = Number(row['episode_index']);
  if (episode !== recent.episode) finishQuantiles(context);
  recent.episode = episode;
  const own = found.get(episode) ?? new Map<string, Moments>();
  found.set(episode, own);
  for (const [key, { dtype, shape }] of present) {
    if (dtype === 'string' || dtype === 'image' || shape.length > 1) continue;
    const moments = own.get(key) ?? new Moments(shape[0]!);
    own.set(key, moments);
    moments.add(row[key]);
    if (isNormalised(key)) {
      const values = recent.values.get(key) ?? [];
      recent.values.set(key, values);
      values.push(row[key]);
    }
    if (!key.startsWith(LUMA_PREFIX) || !isList(row[key])) continue;
    const name = key.slice(LUMA_PREFIX.length);
    const ofCamera = lumas.get(name) ?? new Map<number, Uint8Array[]>();
    const list = ofCamera.get(episode) ?? [];
    list.push(Uint8Array.from(row[key] as ArrayLike<number>));
    lumas.set(name, ofCamera.set(episode, list));
  }
  motion.row(file, at, episode, row);
}

function checkValue(
  problems: Problems,
  file: string,
  row: number,
  key: string,
  { dtype, shape }: Feature,
  value: unknown,
): void {
  if (value === null || value === undefined) {
    problems.add('finite', file, row, `${key} is missing`);
    return;
  }
  if (dtype === 'string' || dtype === 'image') return;
  if (shape.length === 1 && shape[0] === 1 && !isList(value)) {
    if (!Number.isFinite(Number(value))) problems.add('finite', file, row, `${key} is ${String(value)}`);
    return;
  }
  if (!isList(value) || value.length !== shape[0]) {
    problems.add(
      'vector-length',
      file,
      row,
      `${key} has ${isList(value) ? value.length : 'no'} values, but ${shape[0]} are declared`,
    );
    return;
  }
  if (shape.length > 1) return;
  for (let i = 0; i < value.length; i++)
    if (value[i] === null || !Number.isFinite(Number(value[i]))) {
      problems.add('finite', file, row, `${key}[${i}] is ${String(value[i])}`);
      return;
    }
}

function checkRow(context: RowContext, file: string, at: number, row: Record<string, unknown>): void {
  const { info, byEpisode, tasks, problems, seen } = context;
  const [episode, frame, index, task] = ['episode_index', 'frame_index', 'index', 'task_index'].map((key) =>
    Number(row[key]),
  ) as [number, number, number, number];
  const position = context.position++;
  const meta = byEpisode.get(episode);
  if (meta === undefined || meta.dataFile !== file) {
    problems.add(
      'episode-index',
      file,
      at,
      `episode ${episode} ${meta === undefined ? 'is not described' : `belongs in ${meta.dataFile}`}`,
    );
    return;
  }
  const due = seen.get(episode) ?? 0;
  seen.set(episode, due + 1);
  if (frame !== due) problems.add('frame-index', file, at, `frame_index is ${frame}, expected ${due}`);
  if (index !== meta.fromIndex + due)
    problems.add('index', file, at, `index is ${index}, expected ${meta.fromIndex + due}`);
  else if (Math.abs(index - position) > 0) {
    const message = `index is ${index}, but loaders look for it as row ${index} of all files in order, and this is row ${position}`;
    problems.add('index', file, at, message);
    context.position = index + 1;
  }
  const expectedS = due / info.fps;
  const timestamp = Number(row['timestamp']);
  // A 32-bit float has a 24-bit mantissa: hours into an episode its resolution exceeds the tolerance.
  const toleranceS = Math.max(TIME_TOLERANCE_S, expectedS * 2 ** -23);
  if (!(Math.abs(timestamp - expectedS) <= toleranceS))
    problems.add(
      'timestamp',
      file,
      at,
      `timestamp is ${timestamp} s, but frame ${due} at ${info.fps} fps is at ${expectedS.toFixed(6)} s`,
    );
  if (typeof row['next.done'] === 'boolean' && row['next.done'] !== (due === meta.length - 1))
    problems.add('done', file, at, `next.done is ${row['next.done']} in row ${due} of ${meta.length}`);
  const name = tasks[task];
  if (name === undefined) problems.add('task', file, at, `task_index ${task} is missing from tasks.parquet`);
  else if (!meta.tasks.includes(name))
    problems.add('task', file, at, `task "${name}" is not listed by episode ${episode}`);
}
