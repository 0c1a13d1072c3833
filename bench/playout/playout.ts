import { expectWords, type Given, JSON_OPTION, numberOption, type Verb } from '../../src/cli/arguments.ts';
import { progressLine } from '../../src/cli/progress.ts';
import type { PlayoutPolicy, Redundancy } from '../../src/robot/playout/playout-policy.ts';
import { createPolicy } from '../../src/robot/playout/policy.ts';
import { constantOracle, smoothOracle } from '../../src/robot/playout/replay/oracle.ts';
import { replay } from '../../src/robot/playout/replay/replay.ts';
import { type Score, scoreOf } from '../../src/robot/playout/replay/score.ts';
import type { DelayTrace } from '../../src/robot/playout/replay/trace.ts';
import { MAX_REDUNDANCY } from '../../src/wire/codecs/command.ts';
import type { ProfileName } from '../../src/wire/emulator/profiles.ts';
import { print } from '../bench.ts';
import { environment, environmentText } from '../environment.ts';
import { type Check, checkText, percentileTable } from '../text-table.ts';
import { isOneSpell, lateInBadSeconds } from './bad-times.ts';
import { type Cell, KNOWN_KINDS, levelScores, lossBoundText, lossScores } from './bounds.ts';
import { measureSpeed, type Speed } from './speed.ts';
import { emulatedTrace, LOSSY, lossyTrace, publicTrace, publicTraces } from './traces.ts';
import { ABLATION, named, type Variant } from './variants.ts';

const BASELINE = 'rfc3550';
const LEAST_PER_S = 1e6;
const MOST_CALL_US = 5;
const HELD_OUT = ['ethernet', 'wifi', 'wifi-untuned', '5g', 'wan', 'bloat', 'handover', 'loss2'] as const;
const KNOWN = ['adaptive:fast', 'adaptive', 'adaptive:smooth'];
const HELD_OUT_POLICIES = [
  'none',
  'fixed:60',
  BASELINE,
  'neteq',
  'adaptive:fast',
  'adaptive',
  'adaptive:smooth',
];

export const playoutBench: Verb = {
  name: 'playout',
  usage: '[--ablation | --held-out SEEDS | --lossy SEEDS | --bounds SEEDS] [--json]',
  about: 'Speed of the playout policies; with --ablation, the effect of each part of adaptive.',
  details: `Speed is measured on a replay of ten minutes of bad Wi-Fi, compared with ${BASELINE} in the same run.
--ablation changes one part at a time on the public traces; --held-out N tests all policies on N seeds of every link
of the emulator, which no policy was tuned on; “known” begins with what an earlier session on the same kind of link
learnt, as every session on a network does but the first. Cells are mean latency in ms / bad windows of 590.
--lossy N compares how to repeat commands on links that lose packets, beside constant delays. On loss2 each packet repeats
as many commands as the robot asks for. --bounds N shows what is possible: with a level that knows the kind of link from the
start, and on loss2 with every command repeated and constant delays.`,
  options: {
    ablation: { type: 'boolean', about: 'leave out or change one part of adaptive at a time' },
    'held-out': { type: 'string', value: 'SEEDS', about: 'compare on emulated links' },
    lossy: { type: 'string', value: 'SEEDS', about: 'compare redundancy on emulated links with loss' },
    bounds: {
      type: 'string',
      value: 'SEEDS',
      about: 'what knowledge of the link, or repeating everything, would give',
    },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(playoutBench, given, 0, 0);
    const seeds = numberOption(given, 'held-out', 1, 100);
    if (given.values['ablation'] === true) return printTable(given, 'ablation', ablation());
    if (seeds !== null) {
      const count = Math.round(seeds);
      return printTable(given, 'held-out', heldOut(count), ['wifi', 'wifi-untuned'].map(agesText(count)));
    }
    const lossySeeds = numberOption(given, 'lossy', 1, 100);
    if (lossySeeds !== null) {
      const count = Math.round(lossySeeds);
      return printTable(given, 'lossy', lossy(count), [spellsText(count)]);
    }
    const boundSeeds = numberOption(given, 'bounds', 1, 100);
    if (boundSeeds !== null) return bounds(given, Math.round(boundSeeds));
    return speed(given);
  },
};

/** Seeds that nothing was tuned on. */
const BOUND_SEEDS = 3000;

function bounds(given: Given, seeds: number): number {
  const progress = progressLine('replaying');
  let done = 0;
  const mean = (scoresOf: (seed: number) => Record<string, Cell>) => {
    const sums: Record<string, Cell> = {};
    for (let seed = 1; seed <= seeds; seed++) {
      for (const [name, score] of Object.entries(scoresOf(BOUND_SEEDS + seed))) {
        sums[name] ??= { meanMs: 0, badWindows: 0 };
        sums[name].meanMs += score.meanMs / seeds;
        sums[name].badWindows += score.badWindows / seeds;
      }
      progress.update(++done, (KNOWN_KINDS.length + 1) * seeds);
    }
    return sums;
  };
  const kinds = KNOWN_KINDS.map((kind) => [kind, mean((seed) => levelScores(kind, seed))] as const);
  const loss = mean(lossScores);
  progress.done();
  const lines = [...kinds, ['loss2', loss] as const].flatMap(([link, scores]) =>
    Object.entries(scores).map(
      ([name, { meanMs, badWindows }]) => `${link}, ${name}: ${meanMs.toFixed(1)}/${badWindows.toFixed(2)}`,
    ),
  );
  const bound = lossBoundText(loss);
  print(given, { bench: 'playout bounds', kinds, loss, bound }, [...lines, bound].join('\n'));
  return 0;
}

async function speed(given: Given): Promise<number> {
  const env = environment();
  const variants = [BASELINE, 'neteq', 'adaptive'].map(named);
  const speeds = await measureSpeed(variants, publicTrace('wifi_untuned'));
  const [baseline, , adaptive] = speeds as [Speed, Speed, Speed];
  const ratio = adaptive.replayPerS / baseline.replayPerS;
  const checks: Check[] = [
    {
      what: 'adaptive in replay',
      ok: adaptive.replayPerS >= LEAST_PER_S,
      found: `${millions(adaptive)} million packets/s, ${ratio.toFixed(2)} × ${BASELINE} (at least 1 million)`,
    },
    {
      what: 'adaptive, one call, p99',
      ok: adaptive.callUs.p99 <= MOST_CALL_US,
      found: `${adaptive.callUs.p99.toFixed(2)} µs (at most ${MOST_CALL_US})`,
    },
    {
      what: 'adaptive, a packet as on the live robot, p99',
      ok: adaptive.packetUs.p99 <= MOST_CALL_US,
      found: `${adaptive.packetUs.p99.toFixed(2)} µs (at most ${MOST_CALL_US})`,
    },
  ];
  print(given, { bench: 'playout', environment: env, speeds, ratio, checks }, speedText(env, speeds, checks));
  return checks.every(({ ok }) => ok) ? 0 : 1;
}

const millions = ({ replayPerS }: Speed): string => (replayPerS / 1e6).toFixed(2);

function speedText(env: ReturnType<typeof environment>, speeds: readonly Speed[], checks: Check[]): string {
  const rows = [
    ...speeds.map(({ name, callUs }) => ({ label: name, percentiles: callUs })),
    ...speeds.map(({ name, packetUs }) => ({ label: `${name}, with the queue`, percentiles: packetUs })),
  ];
  const rates = speeds.map(
    (each) =>
      `${each.name.padEnd(16)}${millions(each).padStart(6)} million packets/s, ${each.collections.toFixed(0)} garbage collections per million`,
  );
  return [
    environmentText(env),
    '',
    ...rates,
    '',
    percentileTable('µs per call', rows),
    '',
    ...checks.map(checkText),
  ].join('\n');
}

interface Row {
  name: string;
  /** Mean latency and bad windows, by column. */
  cells: Record<string, { meanMs: number; badWindows: number }>;
}

function printTable(given: Given, bench: string, rows: readonly Row[], notes: string[] = []): number {
  const columns = Object.keys(rows[0]!.cells);
  const left = Math.max(...rows.map(({ name }) => name.length));
  const widths = columns.map(
    (column) => Math.max(column.length, ...rows.map(({ cells }) => cellText(cells[column]!).length)) + 2,
  );
  const line = (head: string, cells: string[]) =>
    `${head.padEnd(left)}${cells.map((cell, i) => cell.padStart(widths[i]!)).join('')}`;
  const lines = rows.map(({ name, cells }) =>
    line(
      name,
      columns.map((column) => cellText(cells[column]!)),
    ),
  );
  const text = [line('', columns), ...lines, ...(notes.length > 0 ? ['', ...notes] : [])];
  print(given, { bench: `playout ${bench}`, rows, notes }, text.join('\n'));
  return 0;
}

const cellText = ({ meanMs, badWindows }: { meanMs: number; badWindows: number }): string =>
  `${meanMs.toFixed(1)}/${Number.isInteger(badWindows) ? badWindows : badWindows.toFixed(1)}`;

const redundancyOn = (trace: string): Redundancy => (trace === 'loss2' ? 'auto' : 0);

function scored(trace: DelayTrace, { make }: Variant): Score {
  const redundancy = redundancyOn(trace.name);
  return scoreOf(trace, replay(trace, make(), redundancy), redundancy !== 0)!;
}

function ablation(): Row[] {
  const traces = publicTraces();
  const progress = progressLine('replaying');
  const rows = ABLATION.map((variant, done) => {
    const cells = Object.fromEntries(traces.map((trace) => [trace.name, scored(trace, variant)]));
    progress.update(done + 1, ABLATION.length);
    return { name: variant.name, cells };
  });
  progress.done();
  return rows;
}

/** Means over the seeds. */
function heldOut(seeds: number): Row[] {
  const policies = HELD_OUT_POLICIES.map(named);
  const names = [
    ...['oracle smooth', 'oracle constant', ...HELD_OUT_POLICIES],
    ...KNOWN.map((text) => `${text}, known`),
  ];
  const rows: Row[] = names.map((name) => ({ name, cells: {} }));
  const progress = progressLine('replaying');
  HELD_OUT.forEach((profile: ProfileName, column) => {
    for (const row of rows) row.cells[profile] = { meanMs: 0, badWindows: 0 };
    for (let seed = 1; seed <= seeds; seed++) {
      const trace = emulatedTrace(profile, seed);
      const redundancy = redundancyOn(profile) === 0 ? 0 : MAX_REDUNDANCY;
      const scores = [
        smoothOracle(trace, redundancy)!,
        constantOracle(trace, redundancy)!,
        ...policies.map((policy) => scored(trace, policy)),
        ...KNOWN.map((text) => scored(trace, known(text, profile, seed))),
      ];
      scores.forEach(({ meanMs, badWindows }, i) => {
        const cell = rows[i]!.cells[profile]!;
        cell.meanMs += meanMs / seeds;
        cell.badWindows += badWindows / seeds;
      });
      progress.update(column * seeds + seed, HELD_OUT.length * seeds);
    }
  });
  progress.done();
  return rows;
}

/** The traces of earlier sessions have seeds of their own. */
const EARLIER = 1000;

/** A session on a network that an earlier one has got to know. */
function known(text: string, profile: ProfileName, seed: number): Variant {
  const first = createPolicy(text);
  replay(emulatedTrace(profile, EARLIER + seed), first, redundancyOn(profile));
  const prior = first.exportPrior?.();
  return { name: text, make: () => createPolicy(text, { prior }) };
}

const REDUNDANCIES: readonly Redundancy[] = [0, 'auto', MAX_REDUNDANCY];

/** The least that any policy could do with so much delay. */
const CONSTANT = ['fixed:5', 'fixed:10', 'fixed:20', 'fixed:30', 'fixed:40'];

/** Every quality with every kind of redundancy, means over the seeds. */
function lossy(seeds: number): Row[] {
  const policies = ['adaptive:fast', 'adaptive', 'adaptive:smooth'].flatMap((text) =>
    REDUNDANCIES.map((redundancy) => ({ text, redundancy })),
  );
  for (const text of CONSTANT) policies.push({ text, redundancy: MAX_REDUNDANCY });
  const rows: Row[] = policies.map(({ text, redundancy }) => ({
    name: `${text}, ${redundancy === 0 ? 'none' : redundancy} repeated`,
    cells: Object.fromEntries(Object.keys(LOSSY).map((name) => [name, { meanMs: 0, badWindows: 0 }])),
  }));
  const progress = progressLine('replaying');
  Object.keys(LOSSY).forEach((name, column) => {
    for (let seed = 1; seed <= seeds; seed++) {
      const trace = lossyTrace(name as keyof typeof LOSSY, seed);
      policies.forEach(({ text, redundancy }, i) => {
        const policy: PlayoutPolicy = createPolicy(text, { redundancy });
        const score = scoreOf(trace, replay(trace, policy, redundancy), redundancy !== 0)!;
        const cell = rows[i]!.cells[name]!;
        cell.meanMs += score.meanMs / seeds;
        cell.badWindows += score.badWindows / seeds;
      });
      progress.update(column * seeds + seed, Object.keys(LOSSY).length * seeds);
    }
  });
  progress.done();
  return rows;
}

/** How many of the bad seconds on loss2 one spell of losses makes by itself, with `adaptive` and nothing repeated. */
function spellsText(seeds: number): string {
  let [all, single] = [0, 0];
  for (let seed = 1; seed <= seeds; seed++) {
    const trace = lossyTrace('loss2', seed);
    const seconds = lateInBadSeconds(trace, replay(trace, createPolicy('adaptive'), 0));
    all += seconds.length;
    single += seconds.filter(isOneSpell).length;
  }
  return `loss2, adaptive, none repeated: one spell of losses alone makes ${single} of ${all} bad seconds`;
}

/** How old an unknown session was in its bad seconds. */
const agesText =
  (seeds: number) =>
  (profile: string): string => {
    const bad = Array.from({ length: seeds }, (_, i) => {
      const trace = emulatedTrace(profile as ProfileName, i + 1);
      return lateInBadSeconds(trace, replay(trace, createPolicy('adaptive'), 0)).map(
        ([first]) => first! / 100,
      );
    }).flat();
    const count = (fromS: number, toS: number) => bad.filter((s) => s >= fromS && s < toS).length;
    const ages = `${count(0, 30)} before 30 s, ${count(30, 120)} before 120 s, ${count(120, 600)} later`;
    return `${profile}, adaptive: ${bad.length} bad seconds in ${seeds} sessions: ${ages}`;
  };
