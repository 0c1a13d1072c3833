import path from 'node:path';
import { filesBelow } from './dataset-folder.ts';
import { RECORDING_ID } from './layout.ts';
import { openParquet } from './parquet.ts';

/** The recordings that a dataset's rows come from, by number. */
export async function recordingNumbers(dir: string): Promise<Set<number>> {
  const found = new Set<number>();
  for (const name of filesBelow(path.join(dir, 'data')).filter((each) => each.endsWith('.parquet'))) {
    const file = await openParquet(path.join(dir, 'data', name));
    for (const row of await file.read(0, file.rows, [RECORDING_ID])) found.add(Number(row[RECORDING_ID]));
  }
  return found;
}
