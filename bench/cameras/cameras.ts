import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expectWords, type Given, JSON_OPTION, numberOption, type Verb } from '../../src/cli/arguments.ts';
import type { TraceRecord } from '../../src/messages/trace-record.ts';
import { createKey, writeKeyFile } from '../../src/wire/secure/key-file.ts';
import { freeTcpPort } from '../../src/wire/transports/free-ports.ts';
import { print, SECONDS_OPTION, secondsOf } from '../bench.ts';
import { demoRun } from '../demo-run.ts';
import { environment, meterLoad } from '../environment.ts';
import { Progress } from '../progress.ts';
import { pictureCosts } from './picture-cost.ts';
import { readRecorded } from './recorded.ts';
import type { Measured } from './report.ts';
import { camerasReport, camerasText, checksOf } from './report.ts';

const WARM_UP_S = 2;
/** Time to start and end the processes. */
const AROUND_S = 4;
const TEST_PATTERN = 'source: test-pattern, fpsHz: 30, options: { grain: 46 }';
const WORLD_CAMERA = 'source: world, widthPx: 320, heightPx: 240, fpsHz: 30';
/** In both halves: what the cameras cost, not the physics. */
const WORLD = ['robot.driver=world', 'robot.options.task=sort', 'robot.groundZM=null'];

export const camerasBench: Verb = {
  name: 'cameras',
  usage: '[--seconds S] [--rounds N] [--world] [--with "key=value …"] [--json] [key=value …]',
  about:
    'The 100 Hz loop with and without two cameras and the recorder, alternating. Exits 1 if they add latency.',
  details: `Runs the two-process demo with robot.playout=none on an encrypted link, alternating between no cameras and two,
30 Hz and about 50 kB each, encrypted, in the robot process and recorded by the operator. --with adds settings to the
half with cameras only. With --world both halves simulate the world, and its cameras front and wrist draw it at 320 × 240.
First measures the cost of one picture.`,
  options: {
    seconds: { ...SECONDS_OPTION, about: 'seconds to measure in each run (default: 10)' },
    rounds: { type: 'string', value: 'N', about: 'runs of each half (default: 3)' },
    world: { type: 'boolean', about: 'the simulated world and its two cameras instead of test patterns' },
    with: { type: 'string', value: 'TEXT', about: 'settings for the half with cameras only' },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(camerasBench, given, 0, 0);
    const seconds = secondsOf(given, 10);
    const rounds = numberOption(given, 'rounds', 1, 100) ?? 3;
    const env = environment();
    const costs = await pictureCosts();
    const extra = String(given.values['with'] ?? '')
      .split(' ')
      .filter(Boolean);
    const load = meterLoad();
    const isWorld = given.values['world'] === true;
    const common = [...(isWorld ? WORLD : []), ...given.overrides];
    const measured = await measure(seconds, rounds, common, [...camerasOf(isWorld), ...extra]);
    const report = camerasReport(env, seconds, costs, measured, load());
    const checks = checksOf(report);
    print(given, { ...report, checks }, camerasText(report, checks));
    return checks.every(({ ok }) => ok) ? 0 : 1;
  },
};

async function measure(
  seconds: number,
  rounds: number,
  overrides: readonly string[],
  extra: readonly string[],
): Promise<Measured> {
  const folder = mkdtempSync(path.join(tmpdir(), 'farhand-bench-cameras-'));
  const keyFile = path.join(folder, 'bench.key');
  writeKeyFile(keyFile, { name: 'bench', key: createKey(), createdAt: new Date().toISOString() });
  const common = ['robot.playout=none', `link.keyFile=${keyFile}`, ...overrides];
  const filming = await withCameras(extra);
  const took = seconds + WARM_UP_S + AROUND_S;
  const progress = new Progress(2 * rounds, 2 * rounds * took);
  const measured: Measured = { without: [], with: [], recorded: [] };
  try {
    for (let round = 0; round < rounds; round++) {
      const plain = () => run(common, seconds);
      measured.without.push(await progress.during('without cameras', took, plain));
      const dir = path.join(folder, `round-${round}`);
      const filmed = () => run([...common, ...filming, `record.dir=${dir}`], seconds);
      measured.with.push(await progress.during('with cameras and recorder', took, filmed));
      measured.recorded.push(await readRecorded(dir));
      rmSync(dir, { recursive: true, force: true });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return measured;
}

const camerasOf = (isWorld: boolean): string[] =>
  ['front', 'wrist'].map(
    (name) =>
      `cameras.list.${name}={ ${isWorld ? `${WORLD_CAMERA}, options: { mount: ${name} }` : TEST_PATTERN} }`,
  );

async function withCameras(settings: readonly string[]): Promise<string[]> {
  const port = await freeTcpPort('127.0.0.1', 24_753);
  return [`cameras.port=${port}`, 'record.start=engage', 'record.task=bench', ...settings];
}

/** Commands of one run after its warm-up. */
async function run(overrides: readonly string[], seconds: number): Promise<TraceRecord[]> {
  const { records } = await demoRun({ overrides, durationS: seconds + WARM_UP_S });
  const firstNs = Math.min(...records.map((record) => record.sampledNs));
  return records.filter((record) => record.sampledNs > firstNs + WARM_UP_S * 1e9);
}
