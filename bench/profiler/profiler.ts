import { WebSocket } from 'ws';
import { expectWords, JSON_OPTION, type Verb } from '../../src/cli/arguments.ts';
import { print, SECONDS_OPTION, secondsOf } from '../bench.ts';
import { type Companion, compareBeside } from '../beside.ts';
import { VerbProcess } from '../estop/verb-process.ts';

export const profilerBench: Verb = {
  name: 'profiler',
  usage: '[--seconds S] [--json]',
  about: 'One-way latency of the demo with and without the profiler, alternating within one run.',
  details: `The profiler process and a page connected to it are stopped and continued every two seconds (off, on, on, off),
so that both halves see the same conditions. Exits 1 if p99 with it is significantly above 1.05 times p99 without.`,
  options: { seconds: SECONDS_OPTION, json: JSON_OPTION },
  async run(given) {
    expectWords(profilerBench, given, 0, 0);
    const { ok, text, json } = await compareBeside({
      what: 'the profiler',
      seconds: secondsOf(given, 60),
      turnS: 2,
      guardS: 0.4,
      maxRatio: 1.05,
      judged: 'one-way',
      overrides: [],
      start,
    });
    print(given, { bench: 'profiler', ...json }, text);
    return ok ? 0 : 1;
  },
};

async function start(dir: string): Promise<Companion> {
  const profiler = new VerbProcess(['profile', dir, '--port', '0']);
  const line = await profiler.waitFor(/ws:\/\/localhost/);
  const page = new WebSocket(/ws:\S+/.exec(line)![0]);
  page.on('error', () => {});
  return { process: profiler, close: () => page.terminate() };
}
