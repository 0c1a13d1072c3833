import { loadSimulator, simulatorNames } from '../../sim/simulator.ts';
import { type Given, parseVerb, type Verb, verbHelp } from './arguments.ts';
import { onEndRequest } from './process.ts';

export const simVerb: Verb = {
  name: 'sim',
  usage: 'NAME [options]',
  about: 'Simulates a device byte by byte, to try its driver without hardware.',
  details: 'Without a name, lists the simulators. `farhand sim NAME --help` lists the options of each.',
  examples: ['farhand sim', 'farhand sim piper --slcan ./piper.tty', 'farhand sim orca --help'],
  options: {},
  ownWords: true,
  async run(given: Given) {
    const [name, ...rest] = given.words;
    if (name === undefined) {
      await list();
      return 0;
    }
    const simulator = await loadSimulator(name);
    const verb: Verb = {
      name: `sim ${name}`,
      usage: '[options]',
      about: simulator.about,
      ...(simulator.details ? { details: simulator.details } : {}),
      examples: simulator.examples,
      options: simulator.options,
      run: (own) => simulator.run(own, stop.signal),
    };
    const own = parseVerb(verb, rest);
    if (own.values['help'] === true) {
      console.log(verbHelp(verb));
      return 0;
    }
    const stop = new AbortController();
    onEndRequest(() => stop.abort());
    return verb.run(own);
  },
};

async function list(): Promise<void> {
  for (const name of simulatorNames()) console.log(`${name.padEnd(14)}${(await loadSimulator(name)).about}`);
}
