import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { unwritable, writeWhole } from '../../files/write-whole.ts';
import { csvHeader, csvLine, csvRow } from '../csv/csv.ts';
import { type EpisodeSource, openSource } from './sources.ts';

export interface CsvFile {
  id: string;
  file: string;
  rows: number;
  pictures: number;
}

/** Writes `<id>.csv` with every recorded row; with `pictures` also `<id>/<camera>/<capture>.jpg`. */
export async function exportCsv(dir: string, source: EpisodeSource, pictures: boolean): Promise<CsvFile> {
  const { info, rows, frames } = await openSource(source);
  const file = path.join(dir, `${info.id}.csv`);
  try {
    mkdirSync(dir, { recursive: true });
    const lines = [csvHeader(info), ...rows.map((row) => csvRow(info, row))].map(csvLine);
    let count = 0;
    for (const camera of pictures ? info.cameras : []) {
      const folder = path.join(dir, info.id, camera);
      mkdirSync(folder, { recursive: true });
      for await (const { captureNs, bytes } of frames(camera)) {
        writeFileSync(path.join(folder, `${captureNs}.jpg`), bytes);
        count++;
      }
    }
    writeWhole(file, lines.join(''));
    return { id: info.id, file, rows: rows.length, pictures: count };
  } catch (cause) {
    throw unwritable(file, cause);
  }
}
