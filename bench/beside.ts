import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runDemo } from '../src/app/run-demo.ts';
import { monotonicClock } from '../src/core/time/clock.ts';
import { OUTCOMES, type TraceRecord } from '../src/messages/trace-record.ts';
import { differenceInterval, pooledQuantile } from '../src/trace/bootstrap.ts';
import { readTraceParts } from '../src/trace/read-file.ts';
import { oneWayNs } from '../src/trace/segments.ts';
import { environment, environmentText, loadText, meterLoad } from './environment.ts';
import type { VerbProcess } from './estop/verb-process.ts';
import { interrupted } from './interrupt.ts';
import { Progress } from './progress.ts';
import { seeded } from './report/long-trace.ts';
import { checkText } from './text-table.ts';

const SETTLE_MS = 3000;

const robotNs = (record: TraceRecord): number =>
  Math.round(record.appliedNs) -
  Math.round(Number.isNaN(record.kernelNs) ? record.receiveNs : record.kernelNs);

/** Times of a command: one-way, and in the robot's loop, from its arrival at the socket to the return of the driver. */
const SPANS = { 'one-way': oneWayNs, 'robot loop': robotNs } as const;
type Slices = { withIt: Float64Array[]; without: Float64Array[] };

/** A process that runs beside the demo, with its client. */
export interface Companion {
  process: VerbProcess;
  close(): void;
}

export interface BesideOptions {
  /** For example `the profiler`. */
  what: string;
  seconds: number;
  /** Length of each turn, and how much of its start is skipped while the process wakes up or its effect fades. */
  turnS: number;
  guardS: number;
  maxRatio: number;
  /** The time that is judged; the other is reported too. */
  judged: keyof typeof SPANS;
  overrides: readonly string[];
  /** `dir`: where the demo writes its trace. */
  start(dir: string): Promise<Companion>;
}

interface Slice {
  withIt: boolean;
  fromNs: number;
  toNs: number;
}

/**
 * Latency of the headless demo with and without another process, alternating within one run, so that both halves see
 * the same conditions. The check fails if p99 with it is significantly above `maxRatio` times p99 without.
 */
export async function compareBeside(options: BesideOptions) {
  const { what, seconds, maxRatio, judged } = options;
  const env = environment();
  const load = meterLoad();
  const slices = await new Progress(1, seconds + 8).during(what, seconds, () => measure(options));
  const seen = load();
  const figures = slices.flatMap(({ span, withIt, without }) =>
    [0.5, 0.99].map((q) => ({ span, ...figureOf(withIt, without, q) })),
  );
  const p99 = figures.find(({ span, q }) => span === judged && q === 0.99)!;
  const check = {
    what: `p99 of the ${judged} with ${what} within ${maxRatio} × without`,
    ok: p99.low <= (maxRatio - 1) * p99.withoutMs,
    found: `${p99.ratio.toFixed(3)} (difference ${p99.low.toFixed(3)} … ${p99.high.toFixed(3)} ms)`,
  };
  const rows = figures.map(
    ({ span, q, withMs, withoutMs, ratio, low, high }) =>
      `${span.padEnd(10)}  p${100 * q}  with ${withMs.toFixed(3)}  without ${withoutMs.toFixed(3)} ms  ratio ${ratio.toFixed(3)}  difference 95 % ${low.toFixed(3)} … ${high.toFixed(3)} ms`,
  );
  const text = [environmentText(env), loadText(seen), '', ...rows, '', checkText(check)].join('\n');
  return { ok: check.ok, text, json: { environment: env, load: seen, seconds, figures, check } };
}

async function measure(options: BesideOptions): Promise<({ span: string } & Slices)[]> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'farhand-bench-'));
  const slices: Slice[] = [];
  try {
    const { tracePath } = await runDemo({
      rig: 'demo',
      overrides: ['robot.playout=none', `trace.dir=${dir}`, ...options.overrides],
      headless: true,
      durationS: null,
      stop: Promise.race([interrupted, sleep(SETTLE_MS).then(() => alternate(options, dir, slices))]),
      say: () => {},
      onUrl: () => {},
    });
    const kept: TraceRecord[][] = slices.map(() => []);
    await readTraceParts(tracePath, (record) => {
      const outcome = OUTCOMES[record.outcome];
      const at = slices.findIndex(
        ({ fromNs, toNs }) => record.sampledNs >= fromNs && record.sampledNs < toNs,
      );
      if (at >= 0 && (outcome === 'applied' || outcome === 'late')) kept[at]!.push({ ...record });
    });
    return Object.entries(SPANS).map(([span, ns]) => {
      const pick = (withIt: boolean) =>
        kept
          .filter((_, i) => slices[i]!.withIt === withIt)
          .map((records) => Float64Array.from(records, (record) => ns(record) / 1e6));
      return { span, withIt: pick(true), without: pick(false) };
    });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Off, on, on, off: drift of the machine affects both halves equally. */
async function alternate(options: BesideOptions, dir: string, slices: Slice[]): Promise<void> {
  const { seconds, turnS, guardS } = options;
  const companion = await options.start(dir);
  const { child } = companion.process;
  try {
    for (let i = 0; i < seconds / turnS; i++) {
      const withIt = i % 4 === 1 || i % 4 === 2;
      child.kill(withIt ? 'SIGCONT' : 'SIGSTOP');
      const fromNs = monotonicClock.nowNs() + guardS * 1e9;
      await sleep(turnS * 1000);
      slices.push({ withIt, fromNs, toNs: monotonicClock.nowNs() });
    }
  } finally {
    child.kill('SIGCONT');
    companion.close();
    await companion.process.end();
  }
}

function figureOf(withIt: readonly Float64Array[], without: readonly Float64Array[], q: number) {
  const { low, high } = differenceInterval(withIt, without, q, seeded(1));
  const [withMs, withoutMs] = [pooledQuantile(withIt, q), pooledQuantile(without, q)];
  return { q, withMs, withoutMs, ratio: withMs / withoutMs, low, high };
}
