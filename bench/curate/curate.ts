import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expectWords, type Given, JSON_OPTION, numberOption, type Verb } from '../../src/cli/arguments.ts';
import { EpisodeLibrary } from '../../src/console/episode-library.ts';
import { LeRobotWriter } from '../../src/record/lerobot/dataset-writer.ts';
import { scoreDataset } from '../../src/record/lerobot/score.ts';
import { QualityMeter } from '../../src/record/quality.ts';
import { emptyInfo, received, rowOf, START_NS, startOf } from '../../src/record/test-episode.ts';
import { EPISODE_ENDING, EpisodeWriter } from '../../src/record/writer.ts';
import { print } from '../bench.ts';
import { environment, environmentText, loadText, meterLoad } from '../environment.ts';
import { Progress } from '../progress.ts';

const RATE_HZ = 30;
const SECONDS = 10;
const OPEN_S = 2;
const SCORE_S = 10;

export const curateBench: Verb = {
  name: 'curate',
  usage: '[--episodes N]',
  about: `Opens a folder of 1,000 recordings as the Record page does (requirement: ${OPEN_S} s) and scores a dataset of 1,000 episodes (${SCORE_S} s).`,
  options: {
    episodes: { type: 'string', value: 'N', about: 'episodes (default: 1000)' },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(curateBench, given, 0, 0);
    const count = numberOption(given, 'episodes', 8, 10_000) ?? 1000;
    const dir = mkdtempSync(path.join(tmpdir(), 'farhand-curate-'));
    try {
      return await measure(given, dir, count);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
};

const rowsOf = (n: number) =>
  Array.from({ length: SECONDS * RATE_HZ }, (_, i) =>
    rowOf(i + n, 6, new Map(), START_NS + Math.round((i * 1e9) / RATE_HZ)),
  ).map((row, i) => ({ ...row, index: i }));

/** A recording with one small picture per second: opening must not depend on its size. */
function record(dir: string, n: number): void {
  const info = { ...emptyInfo(`episode-${String(n).padStart(5, '0')}`, 6, ['front']), rateHz: RATE_HZ };
  const writer = new EpisodeWriter(path.join(dir, `${info.id}${EPISODE_ENDING}`), startOf(info));
  const meter = new QualityMeter(RATE_HZ);
  for (const row of rowsOf(n)) {
    const sampledNs = START_NS + row.timeNs;
    const frame = received('front', Math.floor(row.index / RATE_HZ), n);
    const seen = { captureNs: frame.captureNs, ageNs: 10e6, stale: false };
    const whole = { ...row, frames: { front: seen } };
    writer.row(whole, sampledNs, new Map([['front', frame]]));
    meter.row(whole);
  }
  const quality = { ...meter.result(0), refusedBy: [] };
  writer.close({ ...info, rows: SECONDS * RATE_HZ, durationS: SECONDS, complete: true, quality });
}

async function prepare(dir: string, dataset: string, count: number): Promise<void> {
  const progress = new Progress(2, 0.08 * count);
  await progress.during(`writing ${count} recordings`, 0.02 * count, async () => {
    for (let n = 0; n < count; n++) record(dir, n);
  });
  await progress.during(`writing a dataset of ${count} episodes`, 0.06 * count, async () => {
    const writer = await LeRobotWriter.open(dataset, {
      ...{ fps: RATE_HZ, codec: 'h264', maxGapS: 1, version: '0.0.0' },
    });
    for (let n = 0; n < count; n++) {
      const info = { ...emptyInfo(`episode-${n}`, 6, []), rateHz: RATE_HZ, rows: SECONDS * RATE_HZ };
      await writer.add({ info, rows: rowsOf(n), frames: async function* () {} });
    }
    writer.close();
  });
}

async function measure(given: Given, dir: string, count: number): Promise<number> {
  const dataset = path.join(dir, 'dataset');
  await prepare(dir, dataset, count);
  const load = meterLoad();
  const openS = await timed(async () => {
    const library = new EpisodeLibrary(dir);
    const { episodes } = await library.list();
    library.close();
    return episodes.length === count;
  });
  const scoreS = await timed(async () => (await scoreDataset(dataset)).length === count);
  const passed = openS < OPEN_S && scoreS < SCORE_S;
  const machine = environment();
  print(
    given,
    { episodes: count, openS, scoreS, passed, load: load(), machine },
    [
      environmentText(machine),
      `${count} recordings of ${SECONDS} s listed with figures and outliers: ${openS.toFixed(2)} s (requirement: ${OPEN_S} s)`,
      `${count} episodes of a dataset scored from their rows: ${scoreS.toFixed(2)} s (requirement: ${SCORE_S} s)`,
      loadText(load()),
      passed ? 'passed' : 'FAILED',
    ].join('\n'),
  );
  return passed ? 0 : 1;
}

async function timed(work: () => Promise<boolean>): Promise<number> {
  const startMs = performance.now();
  if (!(await work())) throw new Error('not every episode was found');
  return (performance.now() - startMs) / 1000;
}
