import { statSync } from 'node:fs';
import path from 'node:path';
import { filesBelow, moveAll } from './dataset-folder.ts';
import { DIGEST_FILE, digestsJson, readDigests } from './digests.ts';
import { EPISODES_PATH, pathOf, placeOf } from './layout.ts';
import { type Column, type ColumnType, parquetBytes, readAll, writeSynced } from './parquet.ts';

/** LeRobot starts another file then. */
const MOST_BYTES = 100 << 20;
const FOLDER = 'meta/episodes';

/**
 * Joins the descriptions of all episodes in one file, as LeRobot writes them: its merge of several numbers them
 * wrongly, and one is faster to open than a thousand. Crash-safe; the caller holds the dataset's lock. Files that
 * another program has given columns of its own stay as they are.
 */
export async function joinEpisodeFiles(dir: string): Promise<void> {
  const names = filesBelow(path.join(dir, FOLDER))
    .filter((name) => name.endsWith('.parquet'))
    .sort()
    .map((name) => `${FOLDER}/${name}`);
  const bytes = names.reduce((sum, name) => sum + statSync(path.join(dir, name)).size, 0);
  if (names.length < 2 || bytes > MOST_BYTES) return;
  const rows: Record<string, unknown>[] = [];
  for (const name of names) rows.push(...(await readAll(path.join(dir, name))));
  const columns = columnsOf(rows);
  if (columns === null) return;
  const target = pathOf(EPISODES_PATH, placeOf(0));
  const file = `${path.join(dir, target)}.tmp`;
  writeSynced(file, parquetBytes(columns));
  const removed = names.filter((name) => name !== target);
  const digests = readDigests(dir);
  if (digests === null) return moveAll(dir, [target], removed);
  for (const name of removed) delete digests.files[name];
  const written = new Map([[target, file]]);
  const edition = Object.keys(digests.edition).map((name) => [name, path.join(dir, name)] as const);
  writeSynced(path.join(dir, `${DIGEST_FILE}.tmp`), digestsJson(digests, new Map([...written, ...edition])));
  moveAll(dir, [target, DIGEST_FILE], removed);
}

/** Null if a column is not one of the format, or not in every row. */
function columnsOf(rows: readonly Record<string, unknown>[]): Column[] | null {
  const names = Object.keys(rows[0] ?? {});
  const columns: Column[] = [];
  for (const name of names) {
    const values = rows.map((row) => row[name]);
    const type = typeOf(name);
    if (type === null || values.some((value) => value === undefined || value === null)) return null;
    const own = name.startsWith(`${FOLDER}/`) ? values.map(() => 0n) : values;
    const data = type === 'INT64' ? own.map(integers) : own.map(plain);
    columns.push({ name, type, depth: depthOf(data[0]), data });
  }
  const isSame = rows.every((row) => Object.keys(row).length === names.length);
  return names.length > 0 && isSame ? columns : null;
}

function typeOf(name: string): ColumnType | null {
  if (name === 'tasks') return 'STRING';
  if (/^stats\/.+\/count$/.test(name) || /(_index|^length)$/.test(name)) return 'INT64';
  return /^stats\/.+\/(min|max|mean|std|q\d\d)$/.test(name) || /^videos\/.+_timestamp$/.test(name)
    ? 'DOUBLE'
    : null;
}

const isArray = (value: unknown): value is ArrayLike<unknown> =>
  Array.isArray(value) || ArrayBuffer.isView(value);
const plain = (value: unknown): unknown => (isArray(value) ? Array.from(value, plain) : value);
const integers = (value: unknown): unknown =>
  isArray(value) ? Array.from(value, integers) : BigInt(value as number);
const depthOf = (value: unknown): number => (Array.isArray(value) ? 1 + depthOf(value[0]) : 0);
