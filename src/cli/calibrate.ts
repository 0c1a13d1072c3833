import { TeleopError } from '../core/errors.ts';
import { type Given, parseVerb, type Verb, verbHelp } from './arguments.ts';

/** What can be calibrated; loaded when asked for. */
const KINDS: Record<string, () => Promise<Verb>> = {
  orca: async () => (await import('./calibrate-orca.ts')).calibrateOrca,
  hand: async () => (await import('./calibrate-hand.ts')).calibrateHand,
};

export const calibrateVerb: Verb = {
  name: 'calibrate',
  usage: `${Object.keys(KINDS).join('|')} [options]`,
  about: 'Finds out what a device cannot tell by itself, and writes it to a file.',
  details: '`farhand calibrate NAME --help` tells the options of one.',
  options: {},
  ownWords: true,
  async run(given: Given) {
    const [name = '', ...rest] = given.words;
    const load = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
    if (load === undefined)
      throw new TeleopError('bad-option', `calibrate does not know "${name}"`, {
        hint: `There is ${Object.keys(KINDS).join(', ')}.`,
      });
    const verb = await load();
    const own = parseVerb(verb, rest);
    if (own.values['help'] !== true) return verb.run(own);
    console.log(verbHelp(verb));
    return 0;
  },
};
