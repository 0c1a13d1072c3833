import { setTimeout as sleep } from 'node:timers/promises';
import { deferred } from '../../src/core/deferred.ts';
import { TeleopError } from '../../src/core/errors.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import type { TraceRecord } from '../../src/messages/trace-record.ts';
import { demoRun } from '../demo-run.ts';
import { interruption } from '../interrupt.ts';
import { checkPair, type PairKind, pairRun } from '../loop/python.ts';
import { compileFloor, floorRun } from './floor.ts';

export const HZ = 100;
/** Left out at the beginning of a turn, while the other processes start, and at its end, while they print. */
export const WARM_UP_S = 2;
export const COOL_DOWN_S = 1;

export const PATHS = ['ours', 'C floor', 'Python UDP', 'pyzmq'] as const;
export type PathName = (typeof PATHS)[number];

/** One-way times in nanoseconds, by path. */
export type Times = Partial<Record<PathName, number[]>>;

/** Runs one of the other paths for some seconds; all its messages in order. */
type OtherRun = (seconds: number) => Promise<number[]>;

export interface Paths {
  others: Partial<Record<PathName, OtherRun>>;
  /** Why a path is not there. */
  missing: string[];
  remove(): void;
}

export async function openPaths(): Promise<Paths> {
  const floor = compileFloor();
  const missing = typeof floor === 'string' ? [floor] : [];
  const others: Paths['others'] = {};
  if (typeof floor !== 'string') others['C floor'] = (s) => floorRun(floor.program, HZ, s);
  for (const [name, kind] of [
    ['Python UDP', 'udp'],
    ['pyzmq', 'zmq'],
  ] as const) {
    const check = await checkPair(kind);
    if (check.ok) others[name] = (s) => pythonRun(kind, s);
    else missing.push(`${name}: ${check.why}. ${check.remedy}`);
  }
  return { others, missing, remove: () => typeof floor !== 'string' && floor.remove() };
}

const START_MS = 60_000;

/**
 * All paths at the same time. The other paths begin once our arm follows; `beside` is called just before, and what it
 * returns when they have ended.
 */
export async function turnOf(
  { others }: Pick<Paths, 'others'>,
  seconds: number,
  beside: () => () => Promise<void>,
): Promise<Times> {
  const [following, ended] = [deferred<void>(), deferred<void>()];
  const ours = demoRun({
    overrides: ['robot.playout=none'],
    durationS: null,
    stop: ended.promise,
    onSay: (text) => text.includes('→ engaged') && following.resolve(),
  });
  try {
    const late = sleep(START_MS, undefined, { ref: false }).then(() => Promise.reject(notFollowing()));
    await Promise.race([following.promise, ours, late]);
    const end = beside();
    const fromNs = monotonicClock.nowNs() + WARM_UP_S * 1e9;
    const found = await runOthers(others, seconds).finally(end);
    ended.resolve();
    return { ...found, ours: within((await ours).records, fromNs, fromNs + seconds * 1e9) };
  } finally {
    ended.resolve();
    await ours.catch(() => {});
  }
}

async function runOthers(others: Paths['others'], seconds: number): Promise<Times> {
  const wholeS = WARM_UP_S + seconds + COOL_DOWN_S;
  const found: Times = {};
  await Promise.all([
    sleep(wholeS * 1000, undefined, { signal: interruption }),
    ...Object.entries(others).map(async ([name, run]) => {
      const ns = await run(wholeS);
      found[name as PathName] = ns.slice(WARM_UP_S * HZ, (WARM_UP_S + seconds) * HZ);
    }),
  ]);
  return found;
}

/** Both roles read the same clock, so the offset is 0. */
const within = (records: readonly TraceRecord[], fromNs: number, toNs: number): number[] =>
  records.flatMap(({ sampledNs, appliedNs }) =>
    sampledNs >= fromNs && sampledNs < toNs && !Number.isNaN(appliedNs) ? [appliedNs - sampledNs] : [],
  );

const notFollowing = (): TeleopError =>
  new TeleopError('not-confirmed', 'the demo’s arm did not follow within a minute', {
    hint: 'Run `farhand demo --headless --duration 5` to see what the robot reports.',
  });

async function pythonRun(kind: PairKind, seconds: number): Promise<number[]> {
  const { published, received } = await pairRun(kind, HZ, seconds);
  const parsed = new Map(received.map(([seq, , parsedNs]) => [seq, parsedNs]));
  return published.stamps.flatMap(([seq, publishedNs]) => {
    const parsedNs = parsed.get(seq);
    return parsedNs === undefined ? [] : [parsedNs - publishedNs];
  });
}
