import { episodeFile, listEpisodes } from '../../src/record/episodes.ts';
import { frames, readEpisode } from '../../src/record/reader.ts';

/** Recorded frames of one camera in one run. */
export interface RecordedCamera {
  camera: string;
  frames: number;
  kilobytes: number[];
  /** From capture to the first row that has the picture. */
  agesMs: number[];
}

/** Recording of a run with cameras. */
export interface Recorded {
  rows: number;
  skippedRows: number;
  cameras: RecordedCamera[];
}

export async function readRecorded(dir: string): Promise<Recorded> {
  const recorded: Recorded = { rows: 0, skippedRows: 0, cameras: [] };
  for (const { id } of await listEpisodes(dir)) {
    const file = episodeFile(dir, id);
    const { info, rows } = await readEpisode(file);
    recorded.rows += info.rows;
    recorded.skippedRows += info.skippedRows;
    for (const camera of info.cameras) {
      const kilobytes: number[] = [];
      for await (const { bytes } of frames(file, camera)) kilobytes.push(bytes.length / 1000);
      const agesNs = new Map<number, number>();
      for (const row of rows) {
        const frame = row.frames[camera];
        if (frame && !agesNs.has(frame.captureNs)) agesNs.set(frame.captureNs, frame.ageNs);
      }
      const agesMs = [...agesNs.values()].map((ns) => ns / 1e6);
      recorded.cameras.push({ camera, frames: kilobytes.length, kilobytes, agesMs });
    }
  }
  return recorded;
}
