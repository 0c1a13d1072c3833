import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type DatasetInfo, INFO_FILE, STATS_FILE, TASKS_FILE } from './layout.ts';
import { openParquet } from './parquet.ts';
import type { Problems } from './problems.ts';
import { STAT_NAMES } from './stats.ts';

/** The tasks, by task_index. */
export async function checkTasks(dir: string, info: DatasetInfo, problems: Problems): Promise<string[]> {
  const file = path.join(dir, TASKS_FILE);
  if (!existsSync(file)) {
    problems.add('file-missing', TASKS_FILE, null, 'loaders will look for it on the Hub');
    return [];
  }
  try {
    const parquet = await openParquet(file);
    const rows = await parquet.read(0, parquet.rows);
    const index = indexColumn(parquet.footer['pandas']);
    if (index === null)
      problems.add(
        'tasks-index',
        TASKS_FILE,
        null,
        'its footer does not declare the task as the index: loaders will return numbers instead of tasks',
      );
    if (info.total_tasks !== rows.length)
      problems.add(
        'totals',
        INFO_FILE,
        null,
        `total_tasks is ${JSON.stringify(info.total_tasks)}, but ${TASKS_FILE} has ${rows.length}`,
      );
    return rows.map((row, i) => {
      if (Number(row['task_index']) !== i)
        problems.add('task', TASKS_FILE, i, `task_index is ${String(row['task_index'])}, expected ${i}`);
      return String(row['task'] ?? row['__index_level_0__'] ?? row[index ?? ''] ?? '');
    });
  } catch (error) {
    problems.add('file-unreadable', TASKS_FILE, null, (error as Error).message);
    return [];
  }
}

/** The column pandas uses as index; null if none. */
function indexColumn(pandas: string | undefined): string | null {
  try {
    const { index_columns: columns } = JSON.parse(pandas ?? '{}') as { index_columns?: unknown[] };
    return typeof columns?.[0] === 'string' ? columns[0] : null;
  } catch {
    return null;
  }
}

export function checkStats(dir: string, { features }: DatasetInfo, problems: Problems): void {
  const file = path.join(dir, STATS_FILE);
  if (!existsSync(file)) {
    problems.add('stats', STATS_FILE, null, 'missing: policies cannot normalise their inputs');
    return;
  }
  let stats: Record<string, Record<string, unknown>>;
  try {
    stats = JSON.parse(readFileSync(file, 'utf8')) as typeof stats;
  } catch (error) {
    problems.add('file-unreadable', STATS_FILE, null, (error as Error).message);
    return;
  }
  for (const [key, { dtype, shape }] of Object.entries(features)) {
    if (dtype === 'string') continue;
    const own = stats[key];
    if (own === undefined) {
      problems.add('stats', STATS_FILE, null, `${key} has no statistics`);
      continue;
    }
    const isPicture = dtype === 'video' || dtype === 'image';
    const count = isPicture ? 3 : shape.reduce((product, n) => product * n, 1);
    for (const name of STAT_NAMES) checkStat(problems, key, name, own[name], count, isPicture);
  }
}

/** Quantiles were added later: a dataset without them is valid. */
const OPTIONAL = /^q\d\d$/;

function checkStat(
  problems: Problems,
  key: string,
  name: string,
  value: unknown,
  count: number,
  isPicture: boolean,
): void {
  const problem = (message: string) => problems.add('stats', STATS_FILE, null, `${key}.${name} ${message}`);
  if (value === undefined) {
    if (!OPTIONAL.test(name)) problem('is missing');
    return;
  }
  const flat = (Array.isArray(value) ? value.flat(Number.POSITIVE_INFINITY) : [value]) as unknown[];
  const due = name === 'count' ? 1 : count;
  const isGrey = isPicture && flat.length === 1;
  if (flat.length !== due && !isGrey) problem(`has ${flat.length} values, not ${due}`);
  else if (!flat.every((each) => typeof each === 'number' && Number.isFinite(each))) problem('is not finite');
  else if (isPicture && name !== 'count' && depthOf(value) !== 3)
    problem('does not have the shape (3, 1, 1)');
}

const depthOf = (value: unknown): number => (Array.isArray(value) ? 1 + depthOf(value[0]) : 0);
