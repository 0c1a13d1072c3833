import { readFileSync } from 'node:fs';
import path from 'node:path';
import { TeleopError } from '../../core/errors.ts';
import { type DatasetInfo, INFO_FILE } from './layout.ts';

/** Rows per second of a dataset. */
export function datasetFps(dir: string): number {
  const file = path.join(dir, INFO_FILE);
  try {
    const { fps } = JSON.parse(readFileSync(file, 'utf8')) as DatasetInfo;
    if (Number.isFinite(fps) && fps > 0) return fps;
  } catch {
    // Reported below.
  }
  throw new TeleopError('bad-dataset', `${file} has no rate`, {
    hint: 'Give the folder of a LeRobot v3 dataset, the one that contains meta/info.json.',
  });
}
