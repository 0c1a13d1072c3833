import { loadModel } from '../../src/app/robot-models.ts';
import { expectWords, type Given, JSON_OPTION, type Verb } from '../../src/cli/arguments.ts';
import { print } from '../bench.ts';
import { environment, environmentText } from '../environment.ts';
import { type Check, checkText, percentileTable } from '../text-table.ts';
import { type CheckSpeed, measureChecks, measureCycles } from './speed.ts';
import { withCapsules } from './stand-in.ts';

const LEAST_CHECKS_PER_S = 300_000;
const MOST_CYCLE_US = 20;

export const supervisorBench: Verb = {
  name: 'supervisor',
  usage: '[--json]',
  about: 'Speed of the collision check, and of mapping plus supervisor in one control cycle.',
  details: `A check measures every clearance of a UR3 over a table, with one obstacle: forward kinematics included.
A cycle with a command maps the hand, submits the command and ticks; the free arm draws the scripted figure eight, the
one near the table is pushed down on it, so that the way to rest is looked at in every step.`,
  options: { json: JSON_OPTION },
  async run(given: Given) {
    expectWords(supervisorBench, given, 0, 0);
    const env = environment();
    const model = withCapsules(loadModel('ur3'));
    const speed = measureChecks(model);
    const cycles = [await measureCycles(model, 'free'), await measureCycles(model, 'near')];
    const checks: Check[] = [
      {
        what: 'collision check',
        ok: speed.perS >= LEAST_CHECKS_PER_S,
        found: `${Math.round(speed.perS).toLocaleString('en')} /s (at least ${LEAST_CHECKS_PER_S.toLocaleString('en')})`,
      },
      ...cycles.map(({ name, quietestUs }) => ({
        what: `mapping and supervisor, ${name}, p99 of the quietest turn`,
        ok: quietestUs.p99 <= MOST_CYCLE_US,
        found: `${quietestUs.p99.toFixed(2)} µs (at most ${MOST_CYCLE_US})`,
      })),
    ];
    const rows = [
      { label: 'collision check', percentiles: speed.checkUs },
      ...cycles.flatMap(({ name, commandUs, tickUs, quietestUs }) => [
        { label: `map, submit, tick; ${name}`, percentiles: commandUs },
        { label: '  quietest of 40 turns', percentiles: quietestUs },
        { label: `tick alone; ${name}`, percentiles: tickUs },
      ]),
    ];
    const text = [
      environmentText(env),
      '',
      checkedText(speed),
      '',
      percentileTable('µs per call', rows),
      '',
      ...checks.map(checkText),
    ].join('\n');
    print(given, { bench: 'supervisor', environment: env, speed, cycles, checks }, text);
    return checks.every(({ ok }) => ok) ? 0 : 1;
  },
};

const checkedText = ({ capsules, pairs }: CheckSpeed): string =>
  `${capsules} capsules, ${pairs} clearances per check`;
