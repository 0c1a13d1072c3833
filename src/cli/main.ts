import { TeleopError } from '../core/errors.ts';
import { exitCodeOf, failureText, runFarhand } from './verbs.ts';

/** Lets pending output go out. */
const LINGER_MS = 2000;

// A closed pipe on our output must not end a robot process.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

try {
  process.exitCode = await runFarhand(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof TeleopError)) throw error;
  console.error(failureText(error));
  process.exitCode = exitCodeOf(error);
}
// The channel to the parent process would keep this one alive.
if (process.connected) process.disconnect();
// So would a socket or thread that a verb left open.
setTimeout(() => process.exit(), LINGER_MS).unref();
