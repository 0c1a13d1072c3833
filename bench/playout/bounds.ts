import { AdaptivePolicy } from '../../src/robot/playout/adaptive.ts';
import type { PlayoutPolicy, Redundancy } from '../../src/robot/playout/playout-policy.ts';
import { createPolicy } from '../../src/robot/playout/policy.ts';
import { smoothOracle } from '../../src/robot/playout/replay/oracle.ts';
import { replay } from '../../src/robot/playout/replay/replay.ts';
import { type Score, scoreOf } from '../../src/robot/playout/replay/score.ts';
import type { DelayTrace } from '../../src/robot/playout/replay/trace.ts';
import { emulatedTrace } from './traces.ts';

/** Mean latency and bad windows of ten minutes, means over the seeds. */
export interface Cell {
  meanMs: number;
  badWindows: number;
}

/** More than the longest burst: nothing is lost for good. */
const ALL_REPEATED = 60;
const LEVELS_MS = {
  wifi: [16, 20, 22, 24, 26, 28],
  'wifi-untuned': [50, 55, 60, 65, 70],
  '5g': [10, 15, 20],
} as const;
const DELAYS_MS = [3, 5, 10, 12, 16, 20, 25, 30, 40, 60];
export const KNOWN_KINDS = Object.keys(LEVELS_MS) as (keyof typeof LEVELS_MS)[];

const scored = (trace: DelayTrace, policy: PlayoutPolicy, redundancy: Redundancy = 0): Score =>
  scoreOf(trace, replay(trace, policy, redundancy), redundancy !== 0)!;

/** Begins with a level, rises to the largest need it sees, forgets nothing: what knowing the kind of link is worth. */
function fromLevel(levelMs: number): PlayoutPolicy {
  const needsMs = new Array<number>(6).fill(levelMs);
  return new AdaptivePolicy({
    prior: { version: 1, needsMs, usualMs: 1 },
    memoryFade: 0,
    marginMs: 0,
    extrapolation: 0,
  });
}

export function levelScores(kind: keyof typeof LEVELS_MS, seed: number): Record<string, Cell> {
  const trace = emulatedTrace(kind, seed);
  const scores: Record<string, Cell> = { adaptive: scored(trace, createPolicy('adaptive')) };
  for (const ms of LEVELS_MS[kind]) scores[`${ms} ms from the start`] = scored(trace, fromLevel(ms));
  return scores;
}

/** On loss2: constant delays with every command repeated until it arrives, beside what losses cost at all. */
export function lossScores(seed: number): Record<string, Cell> {
  const trace = emulatedTrace('loss2', seed);
  const scores: Record<string, Cell> = {
    'adaptive, the same link without loss': scored(
      emulatedTrace('loss2', seed, { loss: {} }),
      createPolicy('adaptive'),
    ),
    [NONE_REPEATED]: scored(trace, createPolicy('adaptive')),
    'adaptive, auto repeated': scored(trace, createPolicy('adaptive', { redundancy: 'auto' }), 'auto'),
    'oracle smooth, all repeated': smoothOracle(trace, ALL_REPEATED)!,
  };
  for (const ms of DELAYS_MS)
    scores[`${CONSTANT} ${ms} ms, all repeated`] = scored(trace, createPolicy(`fixed:${ms}`), ALL_REPEATED);
  return scores;
}

const NONE_REPEATED = 'adaptive, none repeated';
const CONSTANT = 'constant';

/**
 * Spells of loss begin independently of the past, so no policy can choose its delay by them: any mixture of constant
 * delays lies on or above their lower convex hull.
 */
export function lossBoundText(means: Readonly<Record<string, Cell>>): string {
  const points = Object.entries(means)
    .filter(([name]) => name.startsWith(CONSTANT))
    .map(([, cell]) => cell)
    .sort((a, b) => a.meanMs - b.meanMs);
  const now = means[NONE_REPEATED]!;
  const same = hullAt(points, now.meanMs);
  const halfMs = delayFor(points, now.badWindows / 2);
  return (
    `loss2: at ${now.meanMs.toFixed(1)} ms, the delay of ${NONE_REPEATED}, no mixture of constant delays has fewer than ` +
    `${same.toFixed(1)} bad windows; half of ${now.badWindows.toFixed(1)} cost at least ${halfMs.toFixed(1)} ms`
  );
}

/** The lower convex hull at a delay: the lowest chord over it. */
function hullAt(points: readonly Cell[], meanMs: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (const a of points)
    for (const b of points) {
      if (a.meanMs > meanMs || b.meanMs < meanMs) continue;
      const part = b.meanMs === a.meanMs ? 0 : (meanMs - a.meanMs) / (b.meanMs - a.meanMs);
      least = Math.min(least, a.badWindows + part * (b.badWindows - a.badWindows));
    }
  return least;
}

function delayFor(points: readonly Cell[], badWindows: number): number {
  const lastMs = points.at(-1)!.meanMs;
  let meanMs = points[0]!.meanMs;
  while (meanMs < lastMs && hullAt(points, meanMs) > badWindows) meanMs += 0.1;
  return meanMs;
}
