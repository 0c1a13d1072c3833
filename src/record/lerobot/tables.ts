import type { Values } from './columns.ts';
import { type Feature, type Features, type FilePlace, videoKeysOf } from './layout.ts';
import { type Column, type ColumnType, parquetBytes } from './parquet.ts';
import { pictureShape, STAT_NAMES, type StatName, type Stats } from './stats.ts';

const PHYSICAL: Record<string, ColumnType> = {
  float32: 'FLOAT',
  float64: 'DOUBLE',
  int64: 'INT64',
  bool: 'BOOLEAN',
  uint8: 'UINT_8',
  int32: 'INT32',
  string: 'STRING',
};

/** Whether rows of this feature can be written. */
export const canWrite = ({ dtype, shape }: Feature): boolean =>
  dtype === 'video' || (PHYSICAL[dtype] !== undefined && shape.length === 1);

const integers = (value: unknown): unknown =>
  Array.isArray(value) ? value.map((each) => BigInt(each as number)) : BigInt(value as number);
const bigints = (values: readonly number[]): bigint[] => values.map(BigInt);

/** Columns in feature order. */
export function dataParquet(features: Features, columns: Record<string, Values>): Column[] {
  return Object.entries(features)
    .filter(([, { dtype }]) => dtype !== 'video')
    .map(([name, { dtype, shape }]) => {
      const values = columns[name]!;
      const isList = !(shape.length === 1 && shape[0] === 1);
      return {
        name,
        type: PHYSICAL[dtype]!,
        depth: isList ? 1 : 0,
        data: dtype === 'int64' ? values.map(integers) : [...values],
      };
    });
}

export interface EpisodeEntry {
  episode: number;
  /** Of its files. */
  place: FilePlace;
  firstIndex: number;
  rows: number;
  fps: number;
}

/** `meta/episodes/…parquet`: one row. */
export function episodeParquet(
  tasks: readonly string[],
  features: Features,
  stats: Record<string, Stats>,
  { episode, place, firstIndex, rows, fps }: EpisodeEntry,
): Uint8Array {
  const integer = (name: string, value: number): Column => ({
    name,
    type: 'INT64',
    depth: 0,
    data: [BigInt(value)],
  });
  const seconds = (name: string, value: number): Column => ({
    name,
    type: 'DOUBLE',
    depth: 0,
    data: [value],
  });
  const columns: Column[] = [
    integer('episode_index', episode),
    { name: 'tasks', type: 'STRING', depth: 1, data: [[...tasks]] },
    integer('length', rows),
    integer('data/chunk_index', place.chunk),
    integer('data/file_index', place.file),
    integer('dataset_from_index', firstIndex),
    integer('dataset_to_index', firstIndex + rows),
  ];
  for (const key of videoKeysOf(features))
    columns.push(
      integer(`videos/${key}/chunk_index`, place.chunk),
      integer(`videos/${key}/file_index`, place.file),
      seconds(`videos/${key}/from_timestamp`, 0),
      seconds(`videos/${key}/to_timestamp`, rows / fps),
    );
  for (const key of Object.keys(features))
    if (stats[key] !== undefined) columns.push(...statColumns(key, features, stats[key]));
  columns.push(
    integer('meta/episodes/chunk_index', place.chunk),
    integer('meta/episodes/file_index', place.file),
  );
  return parquetBytes(columns);
}

function statColumns(key: string, features: Features, stats: Stats): Column[] {
  const isPicture = features[key]?.dtype === 'video';
  return STAT_NAMES.map((name): Column => {
    const column = `stats/${key}/${name}`;
    if (name === 'count') return { name: column, type: 'INT64', depth: 1, data: [bigints(stats.count)] };
    return isPicture
      ? { name: column, type: 'DOUBLE', depth: 3, data: [pictureShape(stats[name])] }
      : { name: column, type: 'DOUBLE', depth: 1, data: [stats[name]] };
  });
}

/**
 * A pandas frame whose index is the task: without that metadata loaders return a number instead of a task.
 */
export function tasksParquet(tasks: readonly string[]): Uint8Array {
  const field = (name: string, pandasType: string, numpyType: string) => ({
    name,
    field_name: name,
    pandas_type: pandasType,
    numpy_type: numpyType,
    metadata: null,
  });
  const pandas = {
    index_columns: ['task'],
    column_indexes: [
      { ...field('', 'unicode', 'object'), name: null, field_name: null, metadata: { encoding: 'UTF-8' } },
    ],
    columns: [field('task_index', 'int64', 'int64'), field('task', 'unicode', 'object')],
    creator: { library: 'farhand', version: '0' },
    pandas_version: '2.2.0',
  };
  return parquetBytes(
    [
      { name: 'task_index', type: 'INT64', depth: 0, data: tasks.map((_, i) => BigInt(i)) },
      { name: 'task', type: 'STRING', depth: 0, data: [...tasks] },
    ],
    { pandas: JSON.stringify(pandas) },
  );
}

/** `meta/stats.json`. */
export function statsJson(stats: Record<string, Stats>, features: Features): string {
  const reported = Object.entries(stats).map(([key, own]) => {
    const isPicture = features[key]?.dtype === 'video';
    const names = STAT_NAMES.map((name) => [
      name,
      isPicture && name !== 'count' ? pictureShape(own[name]) : own[name],
    ]);
    return [key, Object.fromEntries(names)];
  });
  return `${JSON.stringify(Object.fromEntries(reported), null, 4)}\n`;
}

export function statsOfJson(text: string): Record<string, Stats> {
  const read = JSON.parse(text) as Record<string, Record<StatName, unknown[]>>;
  return Object.fromEntries(
    Object.entries(read).map(([key, own]) => [
      key,
      Object.fromEntries(STAT_NAMES.map((name) => [name, own[name].flat(2).map(Number)])) as unknown as Stats,
    ]),
  );
}
