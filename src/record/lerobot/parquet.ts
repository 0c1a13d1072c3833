import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';
import {
  type AsyncBuffer,
  asyncBufferFromFile,
  type Compressors,
  parquetMetadataAsync,
  parquetReadObjects,
} from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';

/** Physical types we write; `depth` is the number of lists around a value. */
export type ColumnType = 'FLOAT' | 'DOUBLE' | 'INT64' | 'BOOLEAN' | 'STRING' | 'UINT_8' | 'INT32';

export interface Column {
  name: string;
  type: ColumnType;
  depth: number;
  /** Row by row; integers as bigint. */
  data: unknown[];
}

type SchemaElement = NonNullable<Parameters<typeof parquetWriteBuffer>[0]['schema']>[number];

function schemaOf({ name, type, depth }: Column): SchemaElement[] {
  const leaf: SchemaElement =
    type === 'STRING'
      ? { name, type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' }
      : type === 'UINT_8'
        ? { name, type: 'INT32', converted_type: 'UINT_8', repetition_type: 'OPTIONAL' }
        : { name, type, repetition_type: 'OPTIONAL' };
  if (depth === 0) return [leaf];
  const inner = schemaOf({ name: 'element', type, depth: depth - 1, data: [] });
  return [
    { name, repetition_type: 'OPTIONAL', num_children: 1, converted_type: 'LIST' },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    ...inner,
  ];
}

/** One row group, SNAPPY. Returns the bytes of a complete file. */
export function parquetBytes(columns: readonly Column[], footer: Record<string, string> = {}): Uint8Array {
  const rows = columns[0]?.data.length ?? 0;
  const bytes = parquetWriteBuffer({
    columnData: columns.map(({ name, data }) => ({ name, data })),
    schema: [{ name: 'root', num_children: columns.length }, ...columns.flatMap(schemaOf)],
    rowGroupSize: Math.max(1, rows),
    kvMetadata: Object.entries(footer).map(([key, value]) => ({ key, value })),
  });
  return new Uint8Array(bytes);
}

/** The complete file is on disk when this returns. */
export function writeSynced(file: string, bytes: Uint8Array | string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  const handle = openSync(file, 'w');
  try {
    const data = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
    for (let done = 0; done < data.length; ) done += writeSync(handle, data, done);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Writes what another process has written to disk. */
export function syncFile(file: string): void {
  const handle = openSync(file, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

export interface ParquetFile {
  columns: string[];
  /** The type of each column's innermost values: physical, then the annotation if there is one. */
  types: Record<string, string>;
  rows: number;
  footer: Record<string, string>;
  /** Rows from `start` up to, but not including, `end`; only some columns if they are given. */
  read(start: number, end: number, columns?: string[]): Promise<Record<string, unknown>[]>;
}

type Unpack = (bytes: Uint8Array) => Uint8Array;

/** Beside Snappy, which the format's own writers use. Zstandard needs Node 22.15. */
const COMPRESSORS: Compressors = {
  GZIP: (bytes) => zlib.gunzipSync(bytes),
  BROTLI: (bytes) => zlib.brotliDecompressSync(bytes),
  ...('zstdDecompressSync' in zlib && { ZSTD: zlib.zstdDecompressSync as Unpack }),
};

/** Files up to this size are read at once: opening one for each of its columns takes longer. */
const WHOLE_BYTES = 16 << 20;

async function bufferOf(file: string): Promise<AsyncBuffer> {
  if (statSync(file).size > WHOLE_BYTES) return asyncBufferFromFile(file);
  const bytes = readFileSync(file);
  const { buffer, byteOffset, byteLength } = Uint8Array.from(bytes);
  return {
    byteLength,
    slice: (from, to) => buffer.slice(byteOffset + from, byteOffset + (to ?? byteLength)),
  };
}

export async function openParquet(file: string): Promise<ParquetFile> {
  const buffer = await bufferOf(file);
  const metadata = await parquetMetadataAsync(buffer);
  const columns: string[] = [];
  const types: Record<string, string> = {};
  // The schema is a tree in depth-first order; its first level holds the columns.
  for (let at = 1; at < metadata.schema.length; ) {
    const { name } = metadata.schema[at]!;
    columns.push(name);
    at = endOfSubtree(metadata.schema, at);
    const { type, converted_type: annotation } = metadata.schema[at - 1]!;
    types[name] = annotation === undefined ? String(type) : `${type} ${annotation}`;
  }
  return {
    columns,
    types,
    rows: Number(metadata.num_rows),
    footer: Object.fromEntries(
      (metadata.key_value_metadata ?? []).map(({ key, value }) => [key, value ?? '']),
    ),
    read: (rowStart, rowEnd, only) =>
      parquetReadObjects({
        file: buffer,
        metadata,
        rowStart,
        rowEnd,
        compressors: COMPRESSORS,
        ...(only && { columns: only }),
      }) as Promise<Record<string, unknown>[]>,
  };
}

function endOfSubtree(schema: readonly { num_children?: number | undefined }[], at: number): number {
  let open = 1;
  let next = at;
  while (open > 0 && next < schema.length) {
    open += (schema[next]!.num_children ?? 0) - 1;
    next++;
  }
  return next;
}

export async function readAll(file: string): Promise<Record<string, unknown>[]> {
  const opened = await openParquet(file);
  return opened.read(0, opened.rows);
}
