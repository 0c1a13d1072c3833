import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { expectWords, type Given, JSON_OPTION, type Verb } from '../../src/cli/arguments.ts';
import { type Percentiles, percentiles } from '../../src/core/statistics/percentiles.ts';
import { percentilesMs } from '../../src/trace/milliseconds.ts';
import { print, SECONDS_OPTION, secondsOf } from '../bench.ts';
import { environment, environmentText, loadText, meterLoad } from '../environment.ts';
import { interruption } from '../interrupt.ts';
import { type Check, checkText, percentileTable } from '../text-table.ts';
import { AWAKE, CALLED, DUE, END, HANDED, ON_BUS, PERIOD_NS, type PiperBenchData, STAMPS } from './shared.ts';

const MOST_LATE_MS = 1;
const WARM_UP_S = 1;
const DEFAULT_SECONDS = 30;

interface DriverDone {
  wrong: string[];
  received: number;
  dropped: number;
  errors: number;
  load: number;
  oldestFeedbackNs: number;
}

export const piperBench: Verb = {
  name: 'piper',
  usage: '[--seconds S] [--json]',
  about: 'The Piper driver’s 200 Hz loop on the simulated arm: how late its frames are on the bus.',
  details: `Three threads: a control thread that ticks at 200 Hz, the driver's thread that it wakes, and the arm on a
pseudo-terminal, which sends 3,040 feedback frames a second and stamps every command as it arrives.
Requirement: 99 of 100 cycles are on the bus within ${MOST_LATE_MS} ms of their due time. A cycle whose thread wakes so late
that the next is due is overtaken by it and counts as late.`,
  options: { seconds: SECONDS_OPTION, json: JSON_OPTION },
  async run(given: Given) {
    expectWords(piperBench, given, 0, 0);
    const seconds = secondsOf(given, DEFAULT_SECONDS);
    const env = environment();
    const meter = meterLoad();
    const { stamps, done } = await measure(seconds);
    const load = meter();
    const rows = rowsOf(stamps);
    const checks = checksOf(rows, done, seconds);
    const text = [
      environmentText(env),
      percentileTable('ms', [
        { label: 'due → control thread awake', percentiles: rows.awake },
        { label: 'awake → driver called', percentiles: rows.called },
        { label: 'driver called → handed to the kernel', percentiles: rows.handed },
        { label: 'handed → on the bus', percentiles: rows.delivered },
        { label: 'due → on the bus', percentiles: rows.late, count: rows.cycles },
        { label: 'period on the bus − 5 ms', percentiles: rows.period },
      ]),
      `feedback: ${done.received} frames, oldest at a read ${(done.oldestFeedbackNs / 1e6).toFixed(1)} ms; bus load up to ${(100 * done.load).toFixed(0)} %; ${loadText(load)}`,
      ...checks.map(checkText),
    ].join('\n');
    print(given, { environment: env, seconds, machine: load, ...rows, ...done, checks }, text);
    return checks.every(({ ok }) => ok) ? 0 : 1;
  },
};

async function measure(seconds: number): Promise<{ stamps: Float64Array; done: DriverDone }> {
  const cycles = Math.round((seconds + WARM_UP_S) * (1e9 / PERIOD_NS));
  const folder = mkdtempSync(path.join(tmpdir(), 'farhand-bench-'));
  const workerData: PiperBenchData = {
    link: path.join(folder, 'slcan'),
    cycles,
    warmUpCycles: Math.round((WARM_UP_S * 1e9) / PERIOD_NS),
    flags: new SharedArrayBuffer(8),
    stamps: new SharedArrayBuffer(cycles * STAMPS * 8),
  };
  const start = (name: string) => new Worker(new URL(`./${name}-worker.js`, import.meta.url), { workerData });
  const bus = start('bus');
  try {
    await messageOf(bus);
    const driver = start('driver');
    const opened = (await messageOf(driver)) as { enabled: boolean; fault: string };
    if (!opened.enabled) throw new Error(`the arm was not enabled: ${opened.fault}`);
    start('ticker');
    const done = (await messageOf(driver)) as DriverDone;
    const stamps = new Float64Array(workerData.stamps).subarray(workerData.warmUpCycles * STAMPS);
    return { stamps, done };
  } finally {
    Atomics.store(new Int32Array(workerData.flags), END, 1);
    rmSync(folder, { recursive: true, force: true });
  }
}

function messageOf(worker: Worker): Promise<unknown> {
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    interruption.addEventListener('abort', () => reject(new Error('interrupted')));
  });
}

function rowsOf(stamps: Float64Array) {
  const cycles = stamps.length / STAMPS;
  const at = (cycle: number, stamp: number) => stamps[cycle * STAMPS + stamp]! || Number.NaN;
  const between = (from: number, to: number): Percentiles | null =>
    percentilesMs(percentiles(Float64Array.from({ length: cycles }, (_, i) => at(i, to) - at(i, from))));
  const periods = Float64Array.from({ length: cycles - 1 }, (_, i) =>
    Math.abs(at(i + 1, ON_BUS) - at(i, ON_BUS) - PERIOD_NS),
  );
  let missing = 0;
  let late = 0;
  for (let i = 0; i < cycles; i++) {
    if (Number.isNaN(at(i, ON_BUS))) missing++;
    else if (at(i, ON_BUS) - at(i, DUE) > MOST_LATE_MS * 1e6) late++;
  }
  return {
    cycles,
    missing,
    lateCycles: late,
    awake: between(DUE, AWAKE),
    called: between(AWAKE, CALLED),
    handed: between(CALLED, HANDED),
    delivered: between(HANDED, ON_BUS),
    late: between(DUE, ON_BUS),
    period: percentilesMs(percentiles(periods)),
  };
}

function checksOf(rows: ReturnType<typeof rowsOf>, done: DriverDone, seconds: number): Check[] {
  const { cycles, lateCycles, missing, late } = rows;
  const share = (lateCycles + missing) / cycles;
  const perS = done.received / (seconds + WARM_UP_S);
  return [
    {
      what: `99 of 100 cycles on the bus within ${MOST_LATE_MS} ms`,
      ok: share <= 0.01,
      found: `${(100 * (1 - share)).toFixed(2)} of 100, p99 ${late?.p99 ?? '–'} ms (${lateCycles} late, ${missing} overtaken by the next)`,
    },
    { what: 'feedback flood', ok: perS > 2900, found: `${Math.round(perS)} frames/s` },
    {
      what: 'driver content',
      ok: done.wrong.length === 0 && done.dropped === 0 && done.errors === 0,
      found: done.wrong.join('; ') || `${done.dropped} dropped, ${done.errors} errors`,
    },
  ];
}
