import type { Hop } from '../messages/trace-record.ts';
import type { Difference } from './diff.ts';
import { haltsText } from './feel.ts';
import { roundMs } from './milliseconds.ts';
import { HOP_WORDS } from './report-text.ts';
import type { RunSample } from './run-sample.ts';

/** Compares two runs as plain text. */
export function diffText(
  names: readonly [string, string],
  runs: readonly [RunSample, RunSample],
  found: readonly Difference[] | null,
): string {
  const [a, b] = runs;
  const heads = [`A  ${names[0]}: ${runText(a)}`, `B  ${names[1]}: ${runText(b)}`];
  if (found === null)
    return `${[...heads, '', 'The shorter run is too short to distinguish a difference from chance.'].join('\n')}\n`;
  const rows = found.map(rowOf);
  const width = (i: number) => Math.max(...[HEADINGS, ...rows].map((row) => row[i]!.length));
  const line = (row: string[]) =>
    row
      .map((cell, i) => (i === 0 || i === 5 ? cell.padEnd(width(i)) : cell.padStart(width(i))))
      .join('  ')
      .trimEnd();
  const tested = found.filter(({ verdict }) => verdict !== 'counted');
  const real = tested.filter(({ verdict }) => verdict === 'real').length;
  const summary = `${real} of ${tested.length} figures differ (their 95 % interval excludes 0).`;
  return `${[...heads, '', line(HEADINGS), ...rows.map(line), '', summary, ADVICE].join('\n')}\n`;
}

const ADVICE =
  'Network conditions also change between runs: alternate the runs and compare more than one pair.';
const COUNTS = {
  badSeconds: 'Bad seconds',
  holds: 'Holds',
  stops: 'Latched stops',
  refused: 'Commands refused',
};
const HEADINGS = ['', 'A', 'B', 'B − A', '95 % interval', ''];
const VERDICTS = {
  real: 'differs',
  clock: 'within the clock uncertainty',
  open: 'no evidence',
  counted: 'only counted',
};

function runText({ commands, feel, stride }: RunSample): string {
  const thinned = stride > 1 ? `, every ${stride}th group of seconds` : '';
  const halts = haltsText(feel) || 'no holds, stops or refused commands';
  return `${commands} commands, ${feel.badWindows} bad of ${feel.windows} seconds, ${halts}${thinned}`;
}

function rowOf({ what, quantile, a, b, value, low, high, verdict }: Difference): string[] {
  const text = (x: number) =>
    quantile !== null
      ? roundMs(x).toFixed(3)
      : what === 'badSeconds'
        ? `${(100 * x).toFixed(2)} %`
        : String(x);
  const signed = (x: number) => `${x > 0 ? '+' : ''}${text(x)}`;
  return [
    labelOf(what, quantile),
    text(a),
    text(b),
    signed(value),
    Number.isNaN(low) ? '–' : `${signed(low)} … ${signed(high)}`,
    VERDICTS[verdict],
  ];
}

function labelOf(what: Difference['what'], quantile: number | null): string {
  if (quantile === null) return COUNTS[what as keyof typeof COUNTS];
  const names = { oneWay: 'End to end', variation: 'Variation', handToMotion: 'Hand to motion' };
  const name = Object.hasOwn(names, what) ? names[what as keyof typeof names] : HOP_WORDS[what as Hop][0];
  return `${name} p${Math.round(100 * quantile)} ms`;
}
