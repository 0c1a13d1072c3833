import { askOperator, REQUESTS } from '../app/ask.ts';
import { loadRig } from '../app/rig.ts';
import { TeleopError } from '../core/errors.ts';
import { closest } from '../core/suggest.ts';
import { expectWords, type Given, RIG_OPTION, type Verb } from './arguments.ts';

const KINDS = Object.keys(REQUESTS);

export const askVerb: Verb = {
  name: 'ask',
  usage: `${KINDS.join('|')} [--rig NAME|FILE] [key=value …]`,
  about: 'Asks the operator process on this machine for what the page’s buttons ask for.',
  details: 'Ends with 0 when the effect was seen, with 1 when it was not within two seconds.',
  options: { rig: RIG_OPTION },
  async run(given: Given) {
    expectWords(askVerb, given, 1, 1);
    const [kind = ''] = given.words;
    if (!Object.hasOwn(REQUESTS, kind)) {
      const near = closest(kind, KINDS);
      throw new TeleopError('bad-option', `one cannot ask for "${kind}"`, {
        hint: near ? `Did you mean ${near}?` : `Ask for one of ${KINDS.join(', ')}.`,
      });
    }
    const { config } = loadRig(String(given.values['rig'] ?? 'demo'), given.overrides);
    const { last, done } = await askOperator(config, kind);
    if (last === null)
      console.error(`no operator process answers on telemetry port ${config.console.telemetryPort}`);
    else
      console.log(
        `${done ? kind : `${kind} had no effect`}: robot ${last.robot?.state ?? 'not seen'}, operator ${last.operator.mode}`,
      );
    return done ? 0 : 1;
  },
};
