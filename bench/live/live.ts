import { expectWords, type Given, JSON_OPTION, numberOption, type Verb } from '../../src/cli/arguments.ts';
import type { Score } from '../../src/robot/playout/replay/score.ts';
import { print } from '../bench.ts';
import { environment, environmentText } from '../environment.ts';
import { type Check, checkText } from '../text-table.ts';
import { type LiveRun, liveRun } from './run.ts';

const TRACE = 'wifi_tuned';
const MOST_APART_MS = 2;
const MOST_LINK_ERROR_MS = 0.3;

export const liveBench: Verb = {
  name: 'live',
  usage: '[--seconds S] [--trace NAME] [--json]',
  about: 'Live playout: operator and robot as two processes over a recorded Wi-Fi link.',
  details: `The link emulator gives every datagram the delay of the trace at that time. Commands are scored as in
\`farhand playout\`: bad windows are seconds with noticeable stutter. Tracking is the same at the flange: seconds in
which the 95th percentile of its distance from the commanded path, shifted by a fixed delay, exceeds 5 mm.`,
  options: {
    seconds: { type: 'string', value: 'S', about: 'length of each run (default: 120)' },
    trace: { type: 'string', value: 'NAME', about: `a public trace (default: ${TRACE})` },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(liveBench, given, 0, 0);
    const seconds = numberOption(given, 'seconds', 25, 600) ?? 120;
    const trace = String(given.values['trace'] ?? TRACE);
    const env = environment();
    const none = await liveRun(trace, 'none', seconds);
    const adaptive = await liveRun(trace, 'adaptive', seconds);
    const checks = checksOf(none, adaptive);
    print(
      given,
      { bench: 'live', environment: env, trace, seconds, none, adaptive, checks },
      [
        environmentText(env),
        '',
        head(),
        row('none', none.live, none.tracking),
        row('none, replay', none.replayed),
        row('adaptive', adaptive.live, adaptive.tracking),
        row('adaptive, replay', adaptive.replayed),
        '',
        ...checks.map(checkText),
      ].join('\n'),
    );
    return checks.every(({ ok }) => ok) ? 0 : 1;
  },
};

function checksOf(none: LiveRun, adaptive: LiveRun): Check[] {
  const apartMs = Math.abs(adaptive.live.meanMs - adaptive.replayed.meanMs);
  return [
    {
      what: 'bad windows',
      ok: adaptive.live.badWindows === 0 && none.live.badWindows >= 3,
      found: `${adaptive.live.badWindows} with adaptive (0), ${none.live.badWindows} with none (at least 3)`,
    },
    {
      what: 'live and replay agree',
      ok: apartMs <= MOST_APART_MS,
      found: `means ${apartMs.toFixed(2)} ms apart (at most ${MOST_APART_MS})`,
    },
    {
      what: 'link emulator, deliveries late by, p99',
      ok: adaptive.linkErrorP99Ms <= MOST_LINK_ERROR_MS,
      found: `${adaptive.linkErrorP99Ms.toFixed(2)} ms (at most ${MOST_LINK_ERROR_MS})`,
    },
    {
      what: 'tracking at the flange',
      ok: adaptive.tracking.bad === 0 && none.tracking.bad >= 3,
      found: `${adaptive.tracking.bad} bad seconds with adaptive (0), ${none.tracking.bad} with none (at least 3)`,
    },
  ];
}

const head = (): string =>
  `${''.padEnd(18)}  mean     p50     p95     p99 ms   bad windows   tracking: bad seconds, worst p95`;

function row(name: string, score: Score, tracking?: LiveRun['tracking']): string {
  const ms = [score.meanMs, score.p50Ms, score.p95Ms, score.p99Ms].map((value) =>
    value.toFixed(1).padStart(7),
  );
  const bad = `${score.badWindows} of ${score.windows}`.padStart(14);
  const seen = tracking ? `${tracking.bad} of ${tracking.windows}, ${tracking.worstMm.toFixed(1)} mm` : '';
  return `${name.padEnd(17)}${ms.join(' ')}    ${bad}   ${seen}`;
}
