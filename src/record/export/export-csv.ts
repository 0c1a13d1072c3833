import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { unwritable, writeWhole } from '../../files/write-whole.ts';
import { csvHeader, csvLine, csvRow } from '../csv/csv.ts';
import type { RecordedPicture } from '../pictures.ts';
import { frames, readJson, soundIn } from '../reader.ts';
import { type EpisodeSource, openSource } from './sources.ts';
import { wavOf } from './wav.ts';

export interface CsvFile {
  id: string;
  file: string;
  rows: number;
  pictures: number;
  /** Seconds of sound. */
  soundS: number;
}

/**
 * Writes `<id>.csv` with every recorded row; with `pictures` also `<id>/<camera>/<capture>.jpg`, distances as
 * `<id>/<camera>.depth/<capture>.png`, and `<id>.wav` from the first row on.
 */
export async function exportCsv(dir: string, source: EpisodeSource, pictures: boolean): Promise<CsvFile> {
  const { info, rows } = await openSource(source);
  const file = path.join(dir, `${info.id}.csv`);
  try {
    mkdirSync(dir, { recursive: true });
    const lines = [csvHeader(info), ...rows.map((row) => csvRow(info, row))].map(csvLine);
    const folder = path.join(dir, info.id);
    let count = 0;
    for (const camera of pictures ? info.cameras : [])
      count += await writePictures(path.join(folder, camera), 'jpg', frames(source.file, camera));
    for (const camera of pictures ? (info.depthCameras ?? []) : []) {
      const distances = frames(source.file, camera, 'depth');
      count += await writePictures(path.join(folder, `${camera}.depth`), 'png', distances);
    }
    const soundS = pictures ? await writeSound(path.join(dir, `${info.id}.wav`), source.file) : 0;
    writeWhole(file, lines.join(''));
    return { id: info.id, file, rows: rows.length, pictures: count, soundS };
  } catch (cause) {
    throw unwritable(file, cause);
  }
}

async function writePictures(
  folder: string,
  ending: string,
  pictures: AsyncIterable<RecordedPicture>,
): Promise<number> {
  mkdirSync(folder, { recursive: true });
  let count = 0;
  for await (const { captureNs, bytes } of pictures) {
    writeFileSync(path.join(folder, `${captureNs}.${ending}`), bytes);
    count++;
  }
  return count;
}

async function writeSound(file: string, recording: string): Promise<number> {
  const [first] = await readJson(recording, 'row');
  const sound = first && (await wavOf(soundIn(recording), first.timeNs));
  if (sound) writeWhole(file, sound.bytes);
  return sound?.durationS ?? 0;
}
