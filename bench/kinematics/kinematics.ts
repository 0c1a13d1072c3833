import { expectWords, type Given, JSON_OPTION, type Verb } from '../../src/cli/arguments.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { print } from '../bench.ts';
import { type Environment, environment, environmentText, loadText, meterLoad } from '../environment.ts';
import { type CycleSpeed, cycleChecks, cycleRows, measureCycles } from '../supervisor/speed.ts';
import { type Check, checkText, percentileTable } from '../text-table.ts';
import { type KdlResult, runKdl } from './kdl.ts';
import { everythingTimed, rateChecks, rateText, type Timing, timeAll } from './timed.ts';

export const kinematicsBench: Verb = {
  name: 'kinematics',
  usage: '[--json]',
  about:
    'Solvers, forward kinematics and collision check on one thread, compared with Orocos KDL; one control cycle.',
  details: `Targets are poses of random joints within the limits; seeds are within 0.3 rad of them. KDL gets the same ones
if g++ and liborocos-kdl-dev are installed. Requirements and ratios use processor time, which does not depend on other
load; on a quiet machine it equals wall time. A cycle with a command maps the hand, submits the command and ticks; it is
measured in wall time, and on a busy machine its quietest turn counts.`,
  options: { json: JSON_OPTION },
  async run(given: Given) {
    expectWords(kinematicsBench, given, 0, 0);
    const env = environment();
    const load = meterLoad();
    // First: a robot process has one arm, so its code must not yet be compiled for three.
    const model = loadModel('ur3');
    const cycles = [await measureCycles(model, 'free'), await measureCycles(model, 'near')];
    const { timed, ur3, openarm } = everythingTimed();
    const timings = timeAll(timed);
    const kdl = await runKdl([
      { label: 'UR3', targets: ur3 },
      { label: 'OpenArm', targets: openarm },
    ]);
    const seen = load();
    const checks = [...timings.flatMap(rateChecks), ...cycleChecks(cycles, seen)];
    const json = { bench: 'kinematics', environment: env, load: seen, timings, kdl, cycles, checks };
    print(given, json, [text(env, timings, kdl, cycles, checks), '', loadText(seen)].join('\n'));
    return checks.every(({ ok }) => ok) ? 0 : 1;
  },
};

interface Row {
  name: string;
  perS: number;
  perCpuS: number;
  rightPercent: number | null;
}

function text(
  env: Environment,
  timings: readonly Timing[],
  kdl: KdlResult,
  cycles: readonly CycleSpeed[],
  checks: readonly Check[],
): string {
  const peers = kdl.ok ? kdl.timings.map((each) => ({ ...each, name: `KDL ${each.name}` })) : [];
  const all = [...timings, ...peers];
  const width = Math.max(...all.map(({ name }) => name.length)) + 2;
  const line = ({ name, perS, perCpuS, rightPercent }: Row) =>
    `${name.padEnd(width)}${rateText(perS).padStart(13)}${rateText(perCpuS).padStart(15)}${
      rightPercent === null ? '' : `   ${rightPercent.toFixed(2)} % correct`
    }`;
  const reported = kdl.ok ? `Orocos KDL ${kdl.version}` : `Orocos KDL skipped: ${kdl.why}`;
  return [
    environmentText(env),
    `Peer      ${reported}`,
    '',
    `${''.padEnd(width)}${'wall clock'.padStart(13)}${'processor'.padStart(15)}`,
    ...all.map(line),
    '',
    percentileTable('µs per call', [
      ...all.map(({ name, callUs }) => ({ label: name, percentiles: callUs })),
      ...cycleRows(cycles),
    ]),
    '',
    ...ratioLines(timings, kdl),
    ...checks.map(checkText),
  ].join('\n');
}

const RIVALS: readonly [ours: string, theirs: string][] = [
  ['UR3 numeric', 'UR3 LMA (no limits)'],
  ['UR3 numeric', 'UR3 NR_JL (limits)'],
  ['UR3 analytic, nearest of all', 'UR3 LMA (no limits)'],
  ['OpenArm numeric, 7 joints', 'OpenArm LMA (no limits)'],
  ['OpenArm numeric, 7 joints', 'OpenArm NR_JL (limits)'],
  ['UR3 forward', 'UR3 forward'],
  ['OpenArm forward', 'OpenArm forward'],
];

function ratioLines(timings: readonly Timing[], kdl: KdlResult): string[] {
  if (!kdl.ok) return [];
  const lines = RIVALS.map(([ours, theirs]) => {
    const own = timings.find(({ name }) => name === ours)!;
    const other = kdl.timings.find(({ name }) => name === theirs)!;
    return `${ours}: ${(own.perCpuS / other.perCpuS).toFixed(2)} × KDL ${theirs}`;
  });
  return [...lines, ''];
}
