import { expectWords, type Given, JSON_OPTION, numberOption, type Verb } from '../../src/cli/arguments.ts';
import { TeleopError } from '../../src/core/errors.ts';
import { closest } from '../../src/core/suggest.ts';
import { print } from '../bench.ts';
import { environment, environmentText, loadText, meterLoad } from '../environment.ts';
import { Progress } from '../progress.ts';
import { writeDocs } from './docs.ts';
import type { Fault } from './fault.ts';
import { FAULTS } from './rows.ts';
import { outcomeText } from './text.ts';
import { type HowToTry, type Outcome, tryFault, verdictOf } from './try-fault.ts';

export const faultsBench: Verb = {
  name: 'faults',
  usage: '[--only NAME,…] [--list] [--priority N] [--step-clock] [--keep] [--write-docs] [--json]',
  about:
    'Every fault of docs/SAFETY.md, caused in real processes. Exits 1 if one does not end as documented.',
  details: `Each trial starts a robot and an operator, and if needed a simulated arm, a console and an emulated link. It
waits until the arm follows, causes one fault and checks the result: the states, the time to rest, the velocity,
acceleration and jerk of every target the driver received (as a share of the limits), what the trace and recording lack,
and the message a person sees. Takes about eight minutes in total.`,
  options: {
    only: { type: 'string', value: 'NAME,…', about: 'only these faults; a prefix selects several' },
    'step-clock': { type: 'boolean', about: 'allow the fault that sets the wall clock of this machine' },
    keep: { type: 'boolean', about: 'keep the folder of each trial: driver log, traces, recordings' },
    priority: {
      type: 'string',
      value: 'N',
      about: 'real-time priority of both control threads (default: 0, normal scheduling), for a busy machine',
    },
    list: { type: 'boolean', about: 'list the faults and exit' },
    'write-docs': { type: 'boolean', about: 'write the table to docs/SAFETY.md' },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(faultsBench, given, 0, 0);
    const chosen = chosenFaults(given.values['only']);
    if (given.values['list'] === true) {
      for (const { name, what } of chosen) console.log(`${name.padEnd(24)}${what}`);
      return 0;
    }
    const isWhole = chosen.length === FAULTS.length;
    if (given.values['write-docs'] === true && !isWhole)
      throw new TeleopError('bad-option', '--write-docs needs all faults', { hint: 'Leave out --only.' });
    const env = environment();
    const meter = meterLoad();
    const priority = numberOption(given, 'priority', 0, 80) ?? 0;
    const outcomes = await tryAll(chosen, {
      keep: given.values['keep'] === true,
      stepClock: given.values['step-clock'] === true,
      priority,
    });
    const load = meter();
    if (given.values['write-docs'] === true) writeDocs(outcomes, env, priority);
    const count = (verdict: string) => outcomes.filter((outcome) => verdictOf(outcome) === verdict).length;
    const counts = `${count('PASS')} passed, ${count('FAIL')} failed, ${count('not run')} not run`;
    const head = `${environmentText(env)}\nLoad      ${loadText(load)}`;
    print(
      given,
      { environment: env, load, outcomes },
      [head, '', ...outcomes.map(outcomeText), '', counts].join('\n'),
    );
    return count('FAIL') === 0 ? 0 : 1;
  },
};

async function tryAll(faults: readonly Fault[], how: HowToTry): Promise<Outcome[]> {
  const totalS = faults.reduce((sum, { seconds }) => sum + seconds, 0);
  const progress = new Progress(faults.length, totalS);
  const outcomes: Outcome[] = [];
  for (const fault of faults) {
    const outcome = await progress.during(fault.name, fault.seconds, () => tryFault(fault, how));
    outcomes.push(outcome);
    process.stderr.write(
      `  ${verdictOf(outcome)}${outcome.complaints.map((text) => `; ${text}`).join('')}\n`,
    );
  }
  return outcomes;
}

function chosenFaults(only: string | boolean | undefined): readonly Fault[] {
  if (typeof only !== 'string') return FAULTS;
  const names = only.split(',');
  const unknown = names.find((name) => !FAULTS.some((fault) => fault.name.startsWith(name)));
  if (unknown === undefined)
    return FAULTS.filter(({ name }) => names.some((start) => name.startsWith(start)));
  const near = closest(
    unknown,
    FAULTS.map(({ name }) => name),
  );
  throw new TeleopError('bad-option', `there is no fault "${unknown}"`, {
    hint: near ? `Did you mean ${near}?` : '`npm run bench -- faults --list` lists them.',
  });
}
