import { TeleopError } from '../core/errors.ts';
import { closest } from '../core/suggest.ts';
import { packageVersion } from '../files/package-root.ts';
import { parseVerb, type Verb, verbHelp } from './arguments.ts';

/** Loaded on demand: a robot process should not have to load the pairing's cryptography. */
const VERBS: Record<string, () => Promise<Verb>> = {
  demo: async () => (await import('./demo.ts')).demoVerb,
  operator: async () => (await import('./operator.ts')).operatorVerb,
  robot: async () => (await import('./robot.ts')).robotVerb,
  console: async () => (await import('./console.ts')).consoleVerb,
  camera: async () => (await import('./camera.ts')).cameraVerb,
  ask: async () => (await import('./ask.ts')).askVerb,
  estop: async () => (await import('./ask.ts')).estopVerb,
  reset: async () => (await import('./ask.ts')).resetVerb,
  record: async () => (await import('./record.ts')).recordVerb,
  recover: async () => (await import('./recover.ts')).recoverVerb,
  link: async () => (await import('./link.ts')).linkVerb,
  bridge: async () => (await import('./bridge.ts')).bridgeVerb,
  discover: async () => (await import('./discover.ts')).discoverVerb,
  pair: async () => (await import('./pair.ts')).pairVerb,
  send: async () => (await import('./send.ts')).sendVerb,
  listen: async () => (await import('./listen.ts')).listenVerb,
  decode: async () => (await import('./decode.ts')).decodeVerb,
  retarget: async () => (await import('./retarget.ts')).retargetVerb,
  encode: async () => (await import('./encode.ts')).encodeVerb,
  trace: async () => (await import('./trace.ts')).traceVerb,
  top: async () => (await import('./top.ts')).topVerb,
  profile: async () => (await import('./profile.ts')).profileVerb,
  simulate: async () => (await import('./simulate.ts')).simulateVerb,
  playout: async () => (await import('./playout.ts')).playoutVerb,
  bench: async () => (await import('./bench.ts')).benchVerb,
  check: async () => (await import('./check.ts')).checkVerb,
  doctor: async () => (await import('./doctor.ts')).doctorVerb,
  export: async () => (await import('./export.ts')).exportVerb,
  dataset: async () => (await import('./dataset.ts')).datasetVerb,
  replay: async () => (await import('./replay.ts')).replayVerb,
  policy: async () => (await import('./policy.ts')).policyVerb,
  leader: async () => (await import('./leader.ts')).leaderVerb,
  sim: async () => (await import('./sim.ts')).simVerb,
  calibrate: async () => (await import('./calibrate.ts')).calibrateVerb,
  can: async () => (await import('./can.ts')).canVerb,
  config: async () => (await import('./config.ts')).configVerb,
  robots: async () => (await import('./robots.ts')).robotsVerb,
  world: async () => (await import('./world.ts')).worldVerb,
  fk: async () => (await import('./fk.ts')).fkVerb,
  ik: async () => (await import('./ik.ts')).ikVerb,
  plugins: async () => (await import('./plugins.ts')).pluginsVerb,
  service: async () => (await import('./service.ts')).serviceVerb,
  fleet: async () => (await import('./fleet.ts')).fleetVerb,
  completion: async () => (await import('./completion.ts')).completionVerb(loadAll),
};

const loadAll = (): Promise<Verb[]> => Promise.all(Object.values(VERBS).map((load) => load()));

/** Exit codes: 0 success, 1 failure, 2 wrong usage or set-up. */
export async function runFarhand(args: readonly string[]): Promise<number> {
  const [name = '--help', ...rest] = args;
  if (name === '--version') {
    console.log(packageVersion());
    return 0;
  }
  const isHelp = name === '--help' || name === '-h' || name === 'help';
  if (isHelp && rest.length === 0) {
    console.log(await overview());
    return 0;
  }
  // `farhand help VERB` is `farhand VERB --help`.
  if (isHelp) return runFarhand([rest[0]!, '--help']);
  const load = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined;
  if (load === undefined) {
    const near = closest(name, Object.keys(VERBS));
    const hint = near ? `Did you mean \`farhand ${near}\`?` : 'See `farhand --help`.';
    throw new TeleopError('bad-option', `there is no verb "${name}"`, { hint });
  }
  const verb = await load();
  const given = parseVerb(verb, rest);
  if (given.values['help'] === true) {
    console.log(verbHelp(verb));
    return 0;
  }
  return verb.run(given);
}

async function overview(): Promise<string> {
  const verbs = (await loadAll()).map((verb) => `  ${verb.name.padEnd(12)}${verb.about}`).join('\n');
  return `farhand: robot teleoperation with every millisecond measured.

Usage: farhand VERB [options] [key=value …]

${verbs}

\`farhand VERB --help\` shows the options of a verb. Start with \`farhand demo\`.
`;
}

/** Failures at run time; every other code means wrong usage or set-up. */
const FAILED: readonly string[] = [
  'child-failed',
  'encoder-failed',
  'not-confirmed',
  'pairing-failed',
  'policy-failed',
  'recording-stopped',
  'replay-stopped',
];

/** The error as shown to the user: what happened, and what to do. */
export const failureText = ({ message, code, hint }: TeleopError): string =>
  `farhand: ${message} [${code}]\n  → ${hint}`;

export const exitCodeOf = ({ code }: TeleopError): number => (FAILED.includes(code) ? 1 : 2);
