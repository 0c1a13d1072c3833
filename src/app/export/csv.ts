import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { TeleopError } from '../../core/errors.ts';
import { csvHeader, csvLine, csvRow } from '../../record/csv/csv.ts';
import { type EpisodeSource, openSource } from './sources.ts';

export interface CsvFile {
  id: string;
  file: string;
  rows: number;
  pictures: number;
}

/** `<id>.csv` with every row as it was recorded; with `pictures` also `<id>/<camera>/<capture>.jpg`. */
export async function exportCsv(dir: string, source: EpisodeSource, pictures: boolean): Promise<CsvFile> {
  const { info, rows, frames } = await openSource(source);
  const file = path.join(dir, `${info.id}.csv`);
  try {
    mkdirSync(dir, { recursive: true });
    const lines = [csvHeader(info), ...rows.map((row) => csvRow(info, row))].map(csvLine);
    writeFileSync(`${file}.tmp`, lines.join(''));
    let count = 0;
    for (const camera of pictures ? info.cameras : []) {
      const folder = path.join(dir, info.id, camera);
      mkdirSync(folder, { recursive: true });
      for await (const { captureNs, bytes } of frames(camera)) {
        writeFileSync(path.join(folder, `${captureNs}.jpg`), bytes);
        count++;
      }
    }
    renameSync(`${file}.tmp`, file);
    return { id: info.id, file, rows: rows.length, pictures: count };
  } catch (cause) {
    if (cause instanceof TeleopError) throw cause;
    throw new TeleopError('file-unwritable', `${file} cannot be written: ${(cause as Error).message}`, {
      hint: 'Free space on the disk, or choose a folder this user may write to.',
      cause,
    });
  }
}
