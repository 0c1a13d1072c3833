import { askDesk } from '../app/desk-request.ts';
import { loadRig } from '../app/rig.ts';
import { expectWords, type Given, JSON_OPTION, numberOption, RIG_OPTION, type Verb } from './arguments.ts';

const WITHIN_MS = 2000;

/** `farhand estop` and `farhand reset` differ only in what they ask for. */
export function deskVerb(kind: 'estop' | 'reset', about: string, details: string): Verb {
  const verb: Verb = {
    name: kind,
    usage: '[--rig NAME|FILE] [key=value …]',
    about,
    details,
    options: {
      rig: RIG_OPTION,
      within: { type: 'string', value: 'MS', about: `how long to wait for it (default: ${WITHIN_MS})` },
      json: JSON_OPTION,
    },
    async run(given: Given) {
      expectWords(verb, given, 0, 0);
      const withinMs = numberOption(given, 'within', 50, 60_000) ?? WITHIN_MS;
      const { config } = loadRig(String(given.values['rig'] ?? 'demo'), given.overrides);
      const answer = await askDesk(config, kind, withinMs);
      const text = `${answer.state} after ${answer.tookMs.toFixed(0)} ms: ${answer.cause}`;
      console.log(given.values['json'] === true ? JSON.stringify({ kind, ...answer }) : text);
      return 0;
    },
  };
  return verb;
}
