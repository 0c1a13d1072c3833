import { TeleopError } from '../core/errors.ts';
import { closest } from '../core/suggest.ts';
import { answerText, askOperator, REQUESTS } from '../desk/ask.ts';
import { loadRig } from '../rig/rig.ts';
import { expectWords, type Given, JSON_OPTION, numberOption, RIG_OPTION, type Verb } from './arguments.ts';

const KINDS = Object.keys(REQUESTS);
const WITHIN_MS = 2000;

const options = {
  rig: RIG_OPTION,
  within: {
    type: 'string',
    value: 'MS',
    about: `how long to wait for confirmation (default: ${WITHIN_MS}; arm: ${REQUESTS['arm']!.withinMs})`,
  },
  json: JSON_OPTION,
} as const;

export const askVerb: Verb = {
  name: 'ask',
  usage: `${KINDS.join('|')} [--rig NAME|FILE] [key=value …]`,
  about:
    'Sends the operator on this machine a request, as the page’s buttons do, and waits for confirmation.',
  details: `arm, disarm, estop and reset are confirmed by the robot's state; home, hold and teleop by the operator's mode;
world starts the next round of a simulated world; take-over and hand-back switch between a person and a policy
(docs/policies.md).
The printed time runs until telemetry reports it, about every 33 ms. Exit code 1: not confirmed. \`farhand estop\` and
\`farhand reset\` are short forms.`,
  examples: ['farhand ask arm', 'farhand ask hold', 'farhand ask home --within 5000'],
  options,
  run(given: Given) {
    expectWords(askVerb, given, 1, 1);
    const [kind = ''] = given.words;
    if (Object.hasOwn(REQUESTS, kind)) return ask(given, kind);
    const near = closest(kind, KINDS);
    throw new TeleopError('bad-option', `there is no request "${kind}"`, {
      hint: near ? `Did you mean ${near}?` : `Use one of ${KINDS.join(', ')}.`,
    });
  },
};

/** `farhand estop` is `farhand ask estop`. */
function shortForm(kind: string, about: string, details: string): Verb {
  const verb: Verb = {
    name: kind,
    usage: '[--rig NAME|FILE] [key=value …]',
    about,
    details,
    examples: [`farhand ${kind}`, `farhand ${kind} --json`],
    options,
    run(given: Given) {
      expectWords(verb, given, 0, 0);
      return ask(given, kind);
    },
  };
  return verb;
}

export const estopVerb = shortForm(
  'estop',
  'Stops the robot through the operator on this machine, and waits until the robot confirms it.',
  `The stop is latched: \`farhand reset\` clears it. The printed time runs until telemetry reports it, about every 33 ms.
Exit code 1: not confirmed. It does not replace an emergency stop that cuts the power.`,
);

export const resetVerb = shortForm(
  'reset',
  'Clears a latched stop through the operator on this machine, and waits until the robot confirms it.',
  `The robot is then idle; arming and engaging are separate steps. Exit code 1: not confirmed, not stopped, or stopped
again within 0.5 s.`,
);

async function ask(given: Given, kind: string): Promise<number> {
  const withinMs = numberOption(given, 'within', 50, 60_000) ?? REQUESTS[kind]?.withinMs ?? WITHIN_MS;
  const { config } = loadRig(String(given.values['rig'] ?? 'demo'), given.overrides);
  const answer = await askOperator(config, kind, withinMs);
  const text = `${kind} after ${answer.tookMs.toFixed(0)} ms: ${answerText(answer)}`;
  console.log(given.values['json'] === true ? JSON.stringify({ kind, ...answer }) : text);
  return 0;
}
