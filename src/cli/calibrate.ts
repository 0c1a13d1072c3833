import { TeleopError } from '../core/errors.ts';
import { type Given, parseVerb, type Verb, verbHelp } from './arguments.ts';

/** What can be calibrated; loaded on demand. */
const KINDS: Record<string, () => Promise<Verb>> = {
  orca: async () => (await import('./calibrate-orca.ts')).calibrateOrca,
  so101: async () => (await import('./calibrate-so101.ts')).calibrateSo101,
  hand: async () => (await import('./calibrate-hand.ts')).calibrateHand,
};

export const calibrateVerb: Verb = {
  name: 'calibrate',
  usage: `${Object.keys(KINDS).join('|')} [options]`,
  about: 'Calibrates a device and writes the result to a file.',
  details: '`farhand calibrate NAME --help` lists the options of each.',
  examples: ['farhand calibrate hand --help', 'farhand calibrate so101 --help'],
  options: {},
  ownWords: true,
  async run(given: Given) {
    const [name = '', ...rest] = given.words;
    const load = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
    if (load === undefined)
      throw new TeleopError('bad-option', `nothing called "${name}" can be calibrated`, {
        hint: `Use one of ${Object.keys(KINDS).join(', ')}.`,
      });
    const verb = await load();
    const own = parseVerb(verb, rest);
    if (own.values['help'] !== true) return verb.run(own);
    console.log(verbHelp(verb));
    return 0;
  },
};
