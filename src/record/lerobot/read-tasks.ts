import { openParquet } from './parquet.ts';

export interface Tasks {
  /** In file order. */
  names: string[];
  /** `task_index` of each. */
  indices: number[];
  /** The column that pandas uses as the index; null: none, and loaders return numbers. */
  index: string | null;
}

/** `meta/tasks.parquet` of any writer. */
export async function readTasks(file: string): Promise<Tasks> {
  const parquet = await openParquet(file);
  const rows = await parquet.read(0, parquet.rows);
  const index = indexColumn(parquet.footer['pandas']);
  return {
    names: rows.map((row) => String(row['task'] ?? row['__index_level_0__'] ?? row[index ?? ''] ?? '')),
    indices: rows.map((row) => Number(row['task_index'])),
    index,
  };
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
