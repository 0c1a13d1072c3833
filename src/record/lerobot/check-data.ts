import { existsSync } from 'node:fs';
import path from 'node:path';
import type { EpisodeMeta } from './episode-meta.ts';
import type { DatasetInfo, Feature } from './layout.ts';
import { openParquet, type ParquetFile } from './parquet.ts';
import type { Problems } from './problems.ts';

const ROWS_AT_ONCE = 10_000;
/** Loaders accept a picture this far from the requested time; rows stay well within it. */
const TIME_TOLERANCE_S = 5e-5;

interface RowContext {
  info: DatasetInfo;
  byEpisode: ReadonlyMap<number, EpisodeMeta>;
  tasks: readonly string[];
  problems: Problems;
  seen: Map<number, number>;
}

export async function checkData(
  dir: string,
  info: DatasetInfo,
  episodes: readonly EpisodeMeta[],
  tasks: readonly string[],
  problems: Problems,
): Promise<void> {
  const byEpisode = new Map(episodes.map((meta) => [meta.episode, meta]));
  const context: RowContext = { info, byEpisode, tasks, problems, seen: new Map() };
  for (const file of [...new Set(episodes.map(({ dataFile }) => dataFile))].sort()) {
    if (!existsSync(path.join(dir, file))) {
      problems.add('file-missing', file, null, 'loaders will look for it on the Hub');
      continue;
    }
    try {
      await checkFile(context, file, await openParquet(path.join(dir, file)));
    } catch (error) {
      problems.add('file-unreadable', file, null, (error as Error).message);
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
}

async function checkFile(context: RowContext, file: string, parquet: ParquetFile): Promise<void> {
  const { info, problems } = context;
  const stored = Object.entries(info.features).filter(([, { dtype }]) => dtype !== 'video');
  const declared = new Set(stored.map(([key]) => key));
  for (const name of parquet.columns)
    if (!declared.has(name))
      problems.add('columns', file, null, `column ${name} is not declared in info.json`);
  const present = stored.filter(([key]) => {
    if (parquet.columns.includes(key)) return true;
    problems.add('columns', file, null, `column ${key} is declared in info.json but missing here`);
    return false;
  });
  for (let start = 0; start < parquet.rows; start += ROWS_AT_ONCE) {
    const rows = await parquet.read(start, Math.min(parquet.rows, start + ROWS_AT_ONCE));
    rows.forEach((row, i) => {
      for (const [key, feature] of present) checkValue(problems, file, start + i, key, feature, row[key]);
      checkRow(context, file, start + i, row);
    });
  }
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

const isList = (value: unknown): value is ArrayLike<unknown> =>
  Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));

function checkRow(context: RowContext, file: string, at: number, row: Record<string, unknown>): void {
  const { info, byEpisode, tasks, problems, seen } = context;
  const [episode, frame, index, task] = ['episode_index', 'frame_index', 'index', 'task_index'].map((key) =>
    Number(row[key]),
  ) as [number, number, number, number];
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
  const name = tasks[task];
  if (name === undefined) problems.add('task', file, at, `task_index ${task} is missing from tasks.parquet`);
  else if (!meta.tasks.includes(name))
    problems.add('task', file, at, `task "${name}" is not listed by episode ${episode}`);
}
