import { type ChildProcess, spawn } from 'node:child_process';
import os from 'node:os';
import { expectWords, type Given, JSON_OPTION, type Verb } from '../../src/cli/arguments.ts';
import { print, SECONDS_OPTION, secondsOf } from '../bench.ts';
import { demoRun } from '../demo-run.ts';
import { environment, environmentText } from '../environment.ts';
import { checkPair, type PairKind, pairRun } from '../loop/python.ts';
import { Progress } from '../progress.ts';
import { type Check, checkText } from '../text-table.ts';
import { allocationPerTick, allocationText } from './allocation.ts';
import { compileFloor, floorRun } from './floor.ts';

const HZ = 100;
const WARM_UP_S = 2;
const TURN_S = 60;
const CONDITIONS = ['idle', 'busy'] as const;
type Condition = (typeof CONDITIONS)[number];
type PathName = 'ours' | 'C floor' | 'Python UDP' | 'pyzmq';
const QUANTILES = [0.5, 0.99, 0.999, 0.9999, 1];

interface Row {
  path: PathName;
  condition: Condition;
  messages: number;
  /** p50, p99, p99.9, p99.99, max in milliseconds. */
  ms: number[];
}

export const tailsBench: Verb = {
  name: 'tails',
  usage: '[--seconds S] [--json]',
  about: 'The rare slow messages: p99.9, p99.99 and maximum of ours, a C program, Python UDP and pyzmq.',
  details: `Each path carries 100 messages a second over loopback, first on an idle machine, then beside a busy loop on every
core; the paths take turns of ${TURN_S} s. Ours is from the hand’s sampling to the driver’s write, sealed, without playout.
--seconds is the time of each path in each condition (default 600; 80 minutes altogether). Run it on a machine with nothing
else to do. Exits 0 after a complete measurement: the aims are printed as met or missed.`,
  options: {
    seconds: { ...SECONDS_OPTION, about: `${SECONDS_OPTION.about} (default 600)` },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(tailsBench, given, 0, 0);
    const env = environment();
    const allocation = allocationPerTick();
    const { rows, missing } = await measure(secondsOf(given, 600));
    const checks = aims(rows);
    const text = [
      environmentText(env),
      '',
      ...tableLines(rows),
      '',
      allocationText(allocation),
      ...missing,
      ...checks.map(checkText),
    ];
    print(given, { bench: 'tails', environment: env, rows, allocation, missing, checks }, text.join('\n'));
    return 0;
  },
};

type Runs = Partial<Record<PathName, (seconds: number) => Promise<number[]>>>;

async function measure(seconds: number): Promise<{ rows: Row[]; missing: string[] }> {
  const floor = compileFloor();
  const missing = typeof floor === 'string' ? [floor] : [];
  const runs: Runs = { ours: oursRun };
  if (typeof floor !== 'string') runs['C floor'] = (s) => floorRun(floor.program, HZ, s);
  for (const [name, kind] of [
    ['Python UDP', 'udp'],
    ['pyzmq', 'zmq'],
  ] as const) {
    const check = await checkPair(kind);
    if (check.ok) runs[name] = (s) => pythonRun(kind, s);
    else missing.push(`${name}: ${check.why}. ${check.remedy}`);
  }
  try {
    return { rows: await takeTurns(runs, seconds), missing };
  } finally {
    if (typeof floor !== 'string') floor.remove();
  }
}

async function takeTurns(runs: Runs, seconds: number): Promise<Row[]> {
  const names = Object.keys(runs) as PathName[];
  const turns = Math.max(1, Math.round(seconds / TURN_S));
  const turnS = seconds / turns + WARM_UP_S;
  const progress = new Progress(2 * turns * names.length, 2 * turns * names.length * turnS);
  const rows: Row[] = [];
  for (const condition of CONDITIONS) {
    const found = new Map(names.map((name) => [name, [] as number[]]));
    const loops = condition === 'busy' ? busyLoops() : [];
    try {
      for (let turn = 0; turn < turns; turn++)
        for (const name of turn % 2 === 0 ? names : names.toReversed()) {
          const ns = await progress.during(`${name}, ${condition}`, turnS, () => runs[name]!(turnS));
          for (const value of ns) found.get(name)!.push(value);
        }
    } finally {
      for (const loop of loops) loop.kill('SIGKILL');
    }
    for (const name of names) rows.push(rowOf(name, condition, found.get(name)!));
  }
  return rows;
}

/** One per core; each ends with this process. */
const busyLoops = (): ChildProcess[] =>
  os.cpus().map(() =>
    spawn(
      process.execPath,
      [
        '-e',
        'process.on("disconnect", () => process.exit()); (function spin() { const end = Date.now() + 50; while (Date.now() < end); setImmediate(spin); })()',
      ],
      {
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      },
    ),
  );

async function oursRun(seconds: number): Promise<number[]> {
  const { records } = await demoRun({ overrides: ['robot.playout=none'], durationS: seconds });
  const fromNs = Math.min(...records.slice(0, 1000).map(({ sampledNs }) => sampledNs)) + WARM_UP_S * 1e9;
  // Both roles read the same clock, so the offset is 0.
  return records.flatMap(({ sampledNs, appliedNs }) =>
    sampledNs >= fromNs && !Number.isNaN(appliedNs) ? [appliedNs - sampledNs] : [],
  );
}

async function pythonRun(kind: PairKind, seconds: number): Promise<number[]> {
  const { published, received } = await pairRun(kind, HZ, seconds);
  const parsed = new Map(received.map(([seq, , parsedNs]) => [seq, parsedNs]));
  return published.stamps.slice(WARM_UP_S * HZ).flatMap(([seq, publishedNs]) => {
    const parsedNs = parsed.get(seq);
    return parsedNs === undefined ? [] : [parsedNs - publishedNs];
  });
}

function rowOf(path: PathName, condition: Condition, ns: number[]): Row {
  const sorted = Float64Array.from(ns).sort();
  const ms = QUANTILES.map(
    (q) => (sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? Number.NaN) / 1e6,
  );
  return { path, condition, messages: ns.length, ms };
}

function tableLines(rows: readonly Row[]): string[] {
  const head = ['ms', '', 'messages', 'p50', 'p99', 'p99.9', 'p99.99', 'max'];
  const cells = rows.map(({ path, condition, messages, ms }) => [
    path,
    condition,
    String(messages),
    ...ms.map((value) => value.toFixed(3)),
  ]);
  const widths = head.map((text, i) => Math.max(text.length, ...cells.map((row) => row[i]!.length)));
  return [head, ...cells].map((row) =>
    row.map((text, i) => (i < 2 ? text.padEnd(widths[i]!) : text.padStart(widths[i]!))).join('  '),
  );
}

/** [condition, quantile, other path, most times its value] */
const AIMS = [
  ['idle', 0.99, 'pyzmq', 0.5],
  ['busy', 0.99, 'pyzmq', 0.2],
  ['idle', 0.999, 'C floor', 2],
  ['busy', 0.999, 'C floor', 2],
] as const;

function aims(rows: readonly Row[]): Check[] {
  return AIMS.flatMap(([condition, quantile, other, most]) => {
    const value = (path: PathName) =>
      rows.find((row) => row.path === path && row.condition === condition)?.ms[QUANTILES.indexOf(quantile)];
    const [ours, theirs] = [value('ours'), value(other)];
    if (ours === undefined || theirs === undefined) return [];
    const ratio = ours / theirs;
    const what = `ours/${other}, p${100 * quantile}, ${condition}`;
    return [{ what, ok: ratio <= most, found: `${ratio.toFixed(2)} (aim ≤ ${most})` }];
  });
}
