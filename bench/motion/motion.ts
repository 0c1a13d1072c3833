import { existsSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { expectWords, type Given, JSON_OPTION, type Verb } from '../../src/cli/arguments.ts';
import { TeleopError } from '../../src/core/errors.ts';
import { print } from '../bench.ts';
import { environment, environmentText, loadText, meterLoad, wasQuiet } from '../environment.ts';
import { type Check, checkText } from '../text-table.ts';
import { whyNoMink } from './mink.ts';
import { MOTIONS } from './motions.ts';
import { missedText, tableText, type Verdict, verdictsOf } from './rows.ts';
import { type Column, GUIDE, type RigResult, type RigWork } from './run-rig.ts';
import { type Speed, timeRig } from './timing.ts';

const COLUMNS: readonly Column[] = [
  { name: 'ur3', rig: 'ur3', overrides: [] },
  { name: 'ur3e', rig: 'ur3e', overrides: [] },
  ...[25, 50, 100].map((percent) => ({
    name: `piper ${percent} %`,
    rig: 'piper',
    overrides: [`robot.speedPercent=${percent}`],
  })),
  ...['xarm6', 'openarm', 'dk1', 'vlai-l1'].map((rig) => ({ name: rig, rig, overrides: [] })),
];

const MOST_MAP_US = { 6: 60, 7: 80 } as const;
const MOST_CYCLE_US = 5;
/** The program's own account of a motion must agree with the evaluator's. */
const MOST_DISAGREEMENT_M = 1e-6;

export const motionBench: Verb = {
  name: 'motion',
  usage: '[--only NAME,…] [--columns NAME,…] [--before DIR] [--mink] [--svg DIR] [--alone] [--untimed]',
  about: 'How well the tool keeps to the hand’s path: lines, curves, contacts, turns, noise, lag; per rig.',
  details: `Makes hand samples at 72 Hz, runs them through the composition of \`farhand simulate\`, and judges the joint targets
with forward kinematics and distances of its own. Columns: ${COLUMNS.map(({ name }) => name).join(', ')}.
Motions: ${Object.keys(MOTIONS).join(', ')}.
Every rig is compared with the solver that stops at limits (operator.mapper.ik). --before compares with another built
checkout that has \`farhand simulate\`; --mink with mink (PyPI), by the interpreter in PYTHON. Rigs run in parallel; times
are measured afterwards, alone. About half a minute of processor time per rig.`,
  options: {
    only: { type: 'string', value: 'NAME,…', about: 'only these motions' },
    columns: { type: 'string', value: 'NAME,…', about: 'only these columns' },
    before: { type: 'string', value: 'DIR', about: 'built checkout of another version to compare with' },
    mink: { type: 'boolean', about: 'compare with mink' },
    alone: { type: 'boolean', about: 'do not compare with the solvers that stop at limits' },
    untimed: { type: 'boolean', about: 'do not measure times' },
    svg: { type: 'string', value: 'DIR', about: 'write pictures of hand and tool paths' },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(motionBench, given, 0, 0);
    const motions = chosen(given, 'only', Object.keys(MOTIONS));
    const names = chosen(
      given,
      'columns',
      COLUMNS.map(({ name }) => name),
    );
    const columns = COLUMNS.filter(({ name }) => names.includes(name));
    const before = checkout(given);
    const noMink = given.values['mink'] === true ? whyNoMink() : null;
    const env = environment();
    const shared = {
      motions,
      before,
      mink: given.values['mink'] === true && noMink === null,
      compares: given.values['alone'] !== true,
      svgDir: given.values['svg'] === undefined ? null : path.resolve(String(given.values['svg'])),
    };
    const results = await inParallel(columns.map((column) => ({ column, ...shared })));
    const load = meterLoad();
    const speeds: Speed[] = [];
    const timed = given.values['untimed'] === true ? [] : results.filter(({ startM }) => startM !== null);
    for (const { column } of timed) speeds.push(await timeRig(column));
    const seen = load();
    const verdicts = verdictsOf(results, () => GUIDE);
    const checks = [...accountChecks(results), ...speedChecks(speeds, wasQuiet(seen))];
    const missed = verdicts.filter(({ met }) => !met);
    const text = [
      environmentText(env),
      `Timing    ${loadText(seen)}`,
      '',
      ...sections(results, verdicts),
      '',
      ...(speeds.length === 0 ? [] : [speedText(speeds), '']),
      ...(noMink === null ? [] : [noMink, '']),
      ...(before === null ? ['--before: no version before this one has `farhand simulate`.', ''] : []),
      ...checks.map(checkText),
      ...missed.map(missedText),
      `${verdicts.length - missed.length} of ${verdicts.length} figures within their bounds`,
    ].join('\n');
    print(given, { bench: 'motion', environment: env, load: seen, results, speeds, checks, missed }, text);
    return missed.length === 0 && checks.every(({ ok }) => ok) ? 0 : 1;
  },
};

function chosen(given: Given, option: string, known: readonly string[]): string[] {
  const asked = given.values[option];
  if (asked === undefined) return [...known];
  const names = String(asked).split(',');
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return names;
  throw new TeleopError('bad-option', `--${option}: there is no "${unknown}"`, {
    hint: `Use some of ${known.join(', ')}, separated by commas.`,
  });
}

function checkout(given: Given): string | null {
  if (given.values['before'] === undefined) return null;
  const dir = path.resolve(String(given.values['before']));
  if (existsSync(path.join(dir, 'dist', 'src', 'cli', 'simulate.js'))) return dir;
  throw new TeleopError('bad-option', `${dir} is no built checkout with \`farhand simulate\``, {
    hint: 'Build it with `npm run build`; versions before this one have no `farhand simulate`.',
  });
}

/** One thread per core; results in the order of the work. */
async function inParallel(work: readonly RigWork[]): Promise<RigResult[]> {
  const results: RigResult[] = [];
  let next = 0;
  const lane = async () => {
    while (next < work.length) {
      const at = next++;
      results[at] = await inWorker(work[at]!);
      console.error(`bench: ${work[at]!.column.name} done`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(work.length, os.availableParallelism()) }, lane));
  return results;
}

const inWorker = (work: RigWork): Promise<RigResult> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./rig-worker.js', import.meta.url), { workerData: work });
    worker.once('message', resolve);
    worker.once('error', reject);
  });

/** The table of this version, then those of what it is compared with. */
function sections(results: readonly RigResult[], verdicts: readonly Verdict[]): string[] {
  const columns = results.map(({ column }) => column.name);
  const starts = results.map(
    ({ column, startM }) =>
      `${column.name} ${startM === null ? 'no place with room' : `(${startM.map((m) => m.toFixed(2)).join(', ')})`}`,
  );
  const solverOf = ({ variants }: RigResult) =>
    Object.keys(variants).find((name) => ![GUIDE, 'before', 'mink'].includes(name)) ?? '';
  const more = [
    {
      title: `Solvers that stop at limits (${[...new Set(results.map(solverOf))].join(', ')})`,
      of: solverOf,
    },
    { title: 'The other checkout', of: () => 'before' },
    { title: 'mink: no filter, no delay, no acceleration or jerk limits', of: () => 'mink' },
  ].flatMap(({ title, of }) => {
    const found = verdictsOf(results, of);
    return found.length === 0 ? [] : ['', title, tableText(found, columns)];
  });
  return [
    `Starts, from home (m): ${starts.join('; ')}`,
    '',
    'This version; ! misses its bound',
    tableText(verdicts, columns),
    ...more,
  ];
}

const accountChecks = (results: readonly RigResult[]): Check[] =>
  results.map(({ column, disagreementM, startM }) => ({
    what: `${column.name}: the program’s account of hand and tool`,
    ok: startM !== null && disagreementM < MOST_DISAGREEMENT_M,
    found:
      startM === null ? 'no start found' : `within ${(disagreementM * 1e6).toFixed(3)} µm of the evaluator’s`,
  }));

/** On a busy machine the quietest tenth counts. */
function speedChecks(speeds: readonly Speed[], quiet: boolean): Check[] {
  return speeds.flatMap(({ column, joints, mapUs, cycleUs, quietMapUs, quietCycleUs }) => {
    const mostUs = joints > 6 ? MOST_MAP_US[7] : MOST_MAP_US[6];
    const [map, cycle] = quiet ? [mapUs.p99, cycleUs.p99] : [quietMapUs.p99, quietCycleUs.p99];
    const note = quiet ? '' : ' in the quietest tenth, on a busy machine';
    return [
      {
        what: `${column}: mapping p99`,
        ok: map <= mostUs,
        found: `${map.toFixed(1)} µs of ${mostUs}${note}`,
      },
      {
        what: `${column}: cycle p99`,
        ok: cycle <= MOST_CYCLE_US,
        found: `${cycle.toFixed(2)} µs of ${MOST_CYCLE_US}${note}`,
      },
    ];
  });
}

function speedText(speeds: readonly Speed[]): string {
  const us = (value: number) => value.toFixed(1).padStart(9);
  const rows = speeds.map(
    ({ column, mapUs, quietMapUs, cycleUs, quietCycleUs }) =>
      `${column.padEnd(12)}${[mapUs.p50, mapUs.p99, quietMapUs.p99, cycleUs.p50, cycleUs.p99, quietCycleUs.p99].map(us).join('')}`,
  );
  const head = ['map p50', 'p99', 'quiet', 'cycle p50', 'p99', 'quiet']
    .map((text) => text.padStart(9))
    .join('');
  return [`µs`.padEnd(12) + head, ...rows].join('\n');
}
