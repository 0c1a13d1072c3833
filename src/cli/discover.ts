import type { NearbyRobot } from '../messages/console.ts';
import { nearbyRobots } from '../wire/discovery/nearby-robots.ts';
import { expectWords, type Given, JSON_OPTION, numberOption, type Verb } from './arguments.ts';

const DEFAULT_S = 2;

export const discoverVerb: Verb = {
  name: 'discover',
  usage: '[--seconds S]',
  about: 'Lists the robots that announce themselves on the local network.',
  details: `A robot announces itself only if told to: farhand robot --listen 0.0.0.0 --announce "left cell"
Being listed grants nothing: a robot accepts paired machines only (farhand pair).`,
  examples: ['farhand discover', 'farhand discover --seconds 5 --json'],
  options: {
    seconds: { type: 'string', value: 'S', about: `how long to listen (default: ${DEFAULT_S})` },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    expectWords(discoverVerb, given, 0, 0);
    const robots = await nearbyRobots((numberOption(given, 'seconds', 0.5, 60) ?? DEFAULT_S) * 1000);
    if (given.values['json'] === true) console.log(JSON.stringify(robots));
    else console.log(robots.map(robotText).join('\n') || 'no robot announces itself on this network');
    return 0;
  },
};

const robotText = ({ name, host, addresses, command }: NearbyRobot): string =>
  `${name}   ${host}   ${addresses.join(', ')}\n  ${command}`;
