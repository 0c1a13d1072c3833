import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { frameReceiverConfig } from '../../src/app/camera/channel-config.ts';
import type { CameraSeen } from '../../src/app/camera/watch.ts';
import { freeTcpPort } from '../../src/app/free-ports.ts';
import { loadRig } from '../../src/app/rig.ts';
import { expectWords, type Given, JSON_OPTION, numberOption, type Verb } from '../../src/cli/arguments.ts';
import type { TraceRecord } from '../../src/core/trace-record.ts';
import { createKey, writeKeyFile } from '../../src/wire/secure/key-file.ts';
import { print, SECONDS_OPTION, secondsOf } from '../bench.ts';
import { demoRun } from '../demo-run.ts';
import { environment, meterLoad } from '../environment.ts';
import { Progress } from '../progress.ts';
import { pictureCosts } from './picture-cost.ts';
import { camerasReport, camerasText, checksOf } from './report.ts';

const WARM_UP_S = 2;
/** Processes to start and to end. */
const AROUND_S = 4;
const CAMERA = 'source: test-pattern, fpsHz: 30, options: { grain: 46 }';

/** One of the two things compared: settings for the demo, and what runs beside it for as long. */
interface Half {
  overrides: readonly string[];
  beside: readonly ((overrides: readonly string[]) => Promise<Beside>)[];
}

/** Something on the operator's side: a receiver of frames, a recorder. */
interface Beside {
  close(): Promise<CameraSeen[]>;
}

export const camerasBench: Verb = {
  name: 'cameras',
  usage: '[--seconds S] [--rounds N] [--with "key=value …"] [--json] [key=value …]',
  about: 'The 100 Hz loop without and with two cameras, in turn. Exits 1 when the cameras are felt.',
  details: `Runs the two-process demo with robot.playout=none on a sealed link, in turn without cameras and with two of 30 Hz
and about 50 kB, encrypted, in the robot's process, and with a receiver of theirs. --with adds settings to the half with
cameras only, such as a recorder's. What one picture costs is measured first.`,
  options: {
    seconds: { ...SECONDS_OPTION, about: 'measured seconds of each run (default 10)' },
    rounds: { type: 'string', value: 'N', about: 'runs of either kind (default 3)' },
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
    const measured = await measure(seconds, rounds, given.overrides, extra);
    const report = camerasReport(env, seconds, costs, measured, load());
    const checks = checksOf(report);
    print(given, { ...report, checks }, camerasText(report, checks));
    return checks.every(({ ok }) => ok) ? 0 : 1;
  },
};

export interface Measured {
  /** Closed commands per run, without those of the warm-up. */
  without: TraceRecord[][];
  with: TraceRecord[][];
  seen: CameraSeen[];
}

async function measure(
  seconds: number,
  rounds: number,
  overrides: readonly string[],
  extra: readonly string[],
): Promise<Measured> {
  const folder = mkdtempSync(path.join(tmpdir(), 'farhand-bench-key-'));
  const keyFile = path.join(folder, 'bench.key');
  writeKeyFile(keyFile, { name: 'bench', key: createKey(), createdAt: new Date().toISOString() });
  const common = ['robot.playout=none', `link.keyFile=${keyFile}`, ...overrides];
  const halves = { without: { overrides: [], beside: [] }, with: await withCameras(extra) };
  const progress = new Progress(2 * rounds, 2 * rounds * (seconds + WARM_UP_S + AROUND_S));
  const measured: Measured = { without: [], with: [], seen: [] };
  try {
    for (let round = 0; round < rounds; round++)
      for (const half of ['without', 'with'] as const) {
        const took = seconds + WARM_UP_S + AROUND_S;
        const { records, seen } = await progress.during(`${half} cameras`, took, () =>
          runHalf(halves[half], common, seconds + WARM_UP_S),
        );
        measured[half].push(records);
        measured.seen.push(...seen);
      }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return measured;
}

async function withCameras(extra: readonly string[]): Promise<Half> {
  const port = await freeTcpPort('127.0.0.1', 24_753);
  const cameras = ['front', 'wrist'].map((name) => `cameras.list.${name}={ ${CAMERA} }`);
  return { overrides: [`cameras.port=${port}`, ...cameras, ...extra], beside: [receiver] };
}

/** The operator's side of the cameras. */
async function receiver(overrides: readonly string[]): Promise<Beside> {
  const { config } = loadRig('demo', overrides);
  const workerData = {
    receiver: frameReceiverConfig(config),
    staleAfterMs: config.cameras.staleAfterMs,
  };
  const worker = new Worker(new URL('./receiver-worker.js', import.meta.url), { workerData });
  return {
    close: () =>
      new Promise((resolve, reject) => {
        worker.once('message', resolve);
        worker.once('error', reject);
        worker.postMessage('close');
      }),
  };
}

async function runHalf(
  half: Half,
  common: readonly string[],
  durationS: number,
): Promise<{ records: TraceRecord[]; seen: CameraSeen[] }> {
  const overrides = [...common, ...half.overrides];
  const beside = await Promise.all(half.beside.map((open) => open(overrides)));
  try {
    const { records } = await demoRun({ overrides, durationS });
    const firstNs = Math.min(...records.map((record) => record.getStateNs));
    const kept = records.filter((record) => record.getStateNs > firstNs + WARM_UP_S * 1e9);
    return { records: kept, seen: (await Promise.all(beside.map((each) => each.close()))).flat() };
  } catch (error) {
    await Promise.all(beside.map((each) => each.close()));
    throw error;
  }
}
