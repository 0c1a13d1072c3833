import { readFileSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from '../app/paths.ts';
import { TeleopError } from '../core/errors.ts';
import { closest } from '../core/suggest.ts';
import { parseVerb, type Verb, verbHelp } from './arguments.ts';
import { benchVerb } from './bench.ts';
import { configVerb } from './config.ts';
import { consoleVerb } from './console.ts';
import { demoVerb } from './demo.ts';
import { doctorVerb } from './doctor.ts';
import { linkVerb } from './link.ts';
import { operatorVerb } from './operator.ts';
import { pairVerb } from './pair.ts';
import { pluginsVerb } from './plugins.ts';
import { robotVerb } from './robot.ts';
import { traceVerb } from './trace.ts';

const VERBS: readonly Verb[] = [
  demoVerb,
  operatorVerb,
  robotVerb,
  consoleVerb,
  linkVerb,
  pairVerb,
  traceVerb,
  benchVerb,
  doctorVerb,
  configVerb,
  pluginsVerb,
];

/** Exit codes: 0 done, 1 it failed, 2 it was asked wrongly or the set-up needs a change. */
async function main(args: readonly string[]): Promise<number> {
  const [name = '--help', ...rest] = args;
  if (name === '--version') {
    const manifest = JSON.parse(readFileSync(path.join(packageRoot, 'package.json'), 'utf8')) as {
      version: string;
    };
    console.log(manifest.version);
    return 0;
  }
  if (name === '--help' || name === '-h' || name === 'help') {
    console.log(overview());
    return 0;
  }
  const verb = VERBS.find((candidate) => candidate.name === name);
  if (verb === undefined) {
    const near = closest(
      name,
      VERBS.map((candidate) => candidate.name),
    );
    const hint = near ? `Did you mean \`farhand ${near}\`?` : 'See `farhand --help`.';
    throw new TeleopError('bad-option', `there is no verb "${name}"`, { hint });
  }
  const given = parseVerb(verb, rest);
  if (given.values['help'] === true) {
    console.log(verbHelp(verb));
    return 0;
  }
  return verb.run(given);
}

function overview(): string {
  const verbs = VERBS.map((verb) => `  ${verb.name.padEnd(10)}${verb.about}`).join('\n');
  return `farhand: robot teleoperation with every millisecond measured.

Usage: farhand VERB [options] [key=value …]

${verbs}

\`farhand VERB --help\` tells more. Start with \`farhand demo\`.
`;
}

/** Failures of a process we started are failures of the run; everything else a user can correct. */
const FAILED: readonly string[] = ['child-failed', 'no-clock-sync'];

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof TeleopError)) throw error;
  console.error(`farhand: ${error.message}\n  → ${error.hint}`);
  process.exitCode = FAILED.includes(error.code) ? 1 : 2;
}
// The channel to a process that started us would keep this one alive.
if (process.connected) process.disconnect();
