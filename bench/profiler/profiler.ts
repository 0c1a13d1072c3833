import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { runDemo } from '../../src/app/demo.ts';
import { expectWords, JSON_OPTION, type Verb } from '../../src/cli/arguments.ts';
import { monotonicClock } from '../../src/core/clock.ts';
import { OUTCOMES } from '../../src/core/trace-record.ts';
import { differenceInterval, pooledQuantile } from '../../src/trace/bootstrap.ts';
import { readTraceParts } from '../../src/trace/read-file.ts';
import { oneWayNs } from '../../src/trace/segments.ts';
import { print, SECONDS_OPTION, secondsOf } from '../bench.ts';
import { environment, environmentText, loadText, meterLoad } from '../environment.ts';
import { VerbProcess } from '../estop/verb-process.ts';
import { interrupted } from '../interrupt.ts';
import { Progress } from '../progress.ts';
import { seeded } from '../report/long-trace.ts';
import { checkText } from '../text-table.ts';

const WINDOW_S = 2;
/** After a switch, while the process catches up or falls asleep. */
const GUARD_NS = 0.4e9;
const MAX_RATIO = 1.05;
const SETTLE_MS = 3000;

interface Slice {
  withProfiler: boolean;
  fromNs: number;
  toNs: number;
}

export const profilerBench: Verb = {
  name: 'profiler',
  usage: '[--seconds S] [--json]',
  about: 'One-way latency of the demo with and without the profiler beside it, in turn within one run.',
  details: `The profiler process and a page that listens to it are stopped and continued every two seconds (off on on
off), so that both halves see the same machine. Exits 1 when p99 with it is above 1.05 times p99 without, for certain.`,
  options: { seconds: SECONDS_OPTION, json: JSON_OPTION },
  async run(given) {
    expectWords(profilerBench, given, 0, 0);
    const seconds = secondsOf(given, 60);
    const env = environment();
    const load = meterLoad();
    const { withIt, without } = await new Progress(1, seconds + 8).during('profiler', seconds, () =>
      measure(seconds),
    );
    const seen = load();
    const figures = [0.5, 0.99].map((q) => figureOf(withIt, without, q));
    const p99 = figures[1]!;
    const check = {
      what: `p99 with the profiler within ${MAX_RATIO} × without`,
      ok: p99.low <= (MAX_RATIO - 1) * p99.withoutMs,
      found: `${p99.ratio.toFixed(3)} (difference ${p99.low.toFixed(3)} … ${p99.high.toFixed(3)} ms)`,
    };
    const rows = figures.map(
      ({ q, withMs, withoutMs, ratio, low, high }) =>
        `p${100 * q}  with ${withMs.toFixed(3)}  without ${withoutMs.toFixed(3)} ms  ratio ${ratio.toFixed(3)}  difference 95 % ${low.toFixed(3)} … ${high.toFixed(3)} ms`,
    );
    const text = [environmentText(env), loadText(seen), '', ...rows, '', checkText(check)].join('\n');
    print(given, { bench: 'profiler', environment: env, load: seen, seconds, figures, check }, text);
    return check.ok ? 0 : 1;
  },
};

async function measure(seconds: number): Promise<{ withIt: Float64Array[]; without: Float64Array[] }> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'farhand-bench-'));
  const slices: Slice[] = [];
  try {
    const { tracePath } = await runDemo({
      rig: 'demo',
      overrides: ['robot.playout=none', `trace.dir=${dir}`],
      headless: true,
      durationS: null,
      stop: Promise.race([interrupted, sleep(SETTLE_MS).then(() => alternate(dir, seconds, slices))]),
      say: () => {},
      onUrl: () => {},
    });
    const values = slices.map(() => [] as number[]);
    await readTraceParts(tracePath, (record) => {
      const outcome = OUTCOMES[record.outcome];
      const at = slices.findIndex(
        ({ fromNs, toNs }) => record.getStateNs >= fromNs && record.getStateNs < toNs,
      );
      if (at >= 0 && (outcome === 'applied' || outcome === 'late')) values[at]!.push(oneWayNs(record) / 1e6);
    });
    const pick = (withProfiler: boolean) =>
      values
        .filter((_, i) => slices[i]!.withProfiler === withProfiler)
        .map((slice) => Float64Array.from(slice));
    return { withIt: pick(true), without: pick(false) };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Off on on off: a drift of the machine falls on both alike. */
async function alternate(dir: string, seconds: number, slices: Slice[]): Promise<void> {
  const profiler = new VerbProcess(['profile', dir, '--port', '0']);
  const line = await profiler.waitFor(/ws:\/\/localhost/);
  const page = new WebSocket(/ws:\S+/.exec(line)![0]);
  page.on('error', () => {});
  try {
    for (let i = 0; i < seconds / WINDOW_S; i++) {
      const withProfiler = i % 4 === 1 || i % 4 === 2;
      profiler.child.kill(withProfiler ? 'SIGCONT' : 'SIGSTOP');
      const fromNs = monotonicClock.nowNs() + GUARD_NS;
      await sleep(WINDOW_S * 1000);
      slices.push({ withProfiler, fromNs, toNs: monotonicClock.nowNs() });
    }
  } finally {
    profiler.child.kill('SIGCONT');
    page.terminate();
    await profiler.end();
  }
}

function figureOf(withIt: readonly Float64Array[], without: readonly Float64Array[], q: number) {
  const { low, high } = differenceInterval(withIt, without, q, seeded(1));
  const [withMs, withoutMs] = [pooledQuantile(withIt, q), pooledQuantile(without, q)];
  return { q, withMs, withoutMs, ratio: withMs / withoutMs, low, high };
}
