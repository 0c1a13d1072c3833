import { NS_PER_MS, NS_PER_S } from '../core/time/clock.ts';
import { haltsText } from './feel.ts';
import { CAUSE_WORDS, type Cause } from './feel-cause.ts';
import type { BadSpell } from './feel-judge.ts';
import { formatMs } from './milliseconds.ts';
import type { TraceReport } from './report.ts';

export interface Verdict {
  /** `unknown`: the run is too short to judge a second. */
  tone: 'steady' | 'uneven' | 'bad' | 'unknown';
  headline: string;
  /** Whole sentences. */
  sentences: string[];
}

/** Run-level targets, which a run can meet while it feels broken. */
const RUN_VARIATION_P99_NS = 20 * NS_PER_MS;
const RUN_MAX_NS = 250 * NS_PER_MS;

/** The run in words: first the feel, then its causes, then what the percentiles would suggest. */
export function verdictOf(report: TraceReport): Verdict {
  const { feel } = report;
  const seconds = `${feel.windows} ${feel.windows === 1 ? 'second' : 'seconds'}`;
  if (feel.windows === 0)
    return {
      tone: 'unknown',
      headline: 'Too short to judge',
      sentences: [
        'Judging starts after the first ten seconds of a session; this run has no further full second.',
      ],
    };
  if (feel.badWindows === 0)
    return {
      tone: feel.strictWindows === 0 ? 'steady' : 'uneven',
      headline: `No bad second in ${seconds}`,
      sentences: [
        feel.strictWindows === 0
          ? 'No two consecutive commands were more than 10.5 ms from the delay the operator was used to.'
          : `In ${feel.strictWindows} of them two or more consecutive commands were over 10.5 ms off (longest run of late commands: ${feel.longestLateRun}).`,
      ],
    };
  return {
    tone: 'bad',
    headline: `${feel.badWindows} of ${seconds} felt bad`,
    sentences: [...haltSentence(report), ...causeSentences(feel.spells), ...hiddenSentence(report)],
  };
}

function haltSentence({ feel }: TraceReport): string[] {
  const halts = haltsText(feel);
  return halts === '' ? [] : [`Nobody asked for ${halts}: the seconds concerned are bad.`];
}

export interface CauseCount {
  cause: Cause;
  spells: number;
  deviating: number;
}

/** Causes of the deviating commands in the bad periods, most frequent first. */
export function causesOf(spells: readonly BadSpell[]): CauseCount[] {
  const counts = new Map<Cause, CauseCount>();
  for (const { cause, deviating } of spells) {
    const count = counts.get(cause) ?? { cause, spells: 0, deviating: 0 };
    count.spells++;
    count.deviating += deviating;
    counts.set(cause, count);
  }
  return [...counts.values()].sort((a, b) => b.deviating - a.deviating);
}

function causeSentences(spells: readonly BadSpell[]): string[] {
  return causesOf(spells).map(({ cause, spells: n }) => {
    const times = n === 1 ? 'Once' : `${n} times`;
    return `${times}: ${CAUSE_WORDS[cause]}.`;
  });
}

/** Run-level targets that the bad periods do not violate. */
function hiddenSentence({ oneWay }: TraceReport): string[] {
  const p99 = oneWay.variationNs?.p99 ?? Number.NaN;
  const max = oneWay.latencyNs?.max ?? Number.NaN;
  if (!(p99 < RUN_VARIATION_P99_NS && max < RUN_MAX_NS)) return [];
  return [
    `The percentiles of the run hide this: the p99 variation is ${formatMs(p99)} ms and the worst command took ` +
      `${formatMs(max)} ms, within the targets of 20 and 250 ms.`,
  ];
}

/** One bad period in words. */
export function spellText(spell: BadSpell): string {
  const lengthS = ((spell.endNs - spell.startNs) / NS_PER_S).toFixed(1);
  const ticks = `${spell.deviating} ${spell.deviating === 1 ? 'command' : 'commands'}`;
  const share = spell.share < 0.995 ? ` (${Math.round(100 * spell.share)} % of them)` : '';
  // In a halt there may be none that anything was done about.
  const worst = spell.worstNs > 0 ? `, worst ${formatMs(spell.worstNs)} ms` : '';
  return `${lengthS} s, ${ticks} off${worst}: ${CAUSE_WORDS[spell.cause]}${share}`;
}

/** `1:02:03` or `2:03`. */
export function clockText(ns: number): string {
  const whole = Math.max(0, Math.floor(ns / NS_PER_S));
  const two = (n: number) => String(n).padStart(2, '0');
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor((whole % 3600) / 60);
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}
