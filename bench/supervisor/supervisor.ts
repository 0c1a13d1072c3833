import { expectWords, type Given, JSON_OPTION, type Verb } from '../../src/cli/arguments.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { print } from '../bench.ts';
import { environment, environmentText, loadText, meterLoad } from '../environment.ts';
import { rateChecks, timeAll } from '../kinematics/timed.ts';
import { checkText, percentileTable } from '../text-table.ts';
import { collisionCheck, cycleChecks, cycleRows, measureCycles } from './speed.ts';

export const supervisorBench: Verb = {
  name: 'supervisor',
  usage: '[--json]',
  about: 'Speed of the collision check, and of mapping plus supervisor in one control cycle.',
  details: `A check measures every clearance of a UR3 over a table, with one obstacle, including forward kinematics.
A cycle with a command maps the hand, submits the command and ticks; the free arm draws the scripted figure eight, the
arm near the table is pushed down on it, so that every step checks the braking path. The bench kinematics includes all
of this.`,
  options: { json: JSON_OPTION },
  async run(given: Given) {
    expectWords(supervisorBench, given, 0, 0);
    const env = environment();
    const model = loadModel('ur3');
    const load = meterLoad();
    const timings = timeAll([collisionCheck('UR3', model)]);
    const cycles = [await measureCycles(model, 'free'), await measureCycles(model, 'near')];
    const seen = load();
    const checks = [...timings.flatMap(rateChecks), ...cycleChecks(cycles, seen)];
    const rows = timings.map(({ name, callUs }) => ({ label: name, percentiles: callUs }));
    const text = [
      environmentText(env),
      '',
      percentileTable('µs per call', [...rows, ...cycleRows(cycles)]),
      '',
      ...checks.map(checkText),
      '',
      loadText(seen),
    ].join('\n');
    print(given, { bench: 'supervisor', environment: env, load: seen, timings, cycles, checks }, text);
    return checks.every(({ ok }) => ok) ? 0 : 1;
  },
};
