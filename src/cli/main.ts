import { TeleopError } from '../core/errors.ts';
import { exitCodeOf, failureText, runFarhand } from './verbs.ts';

/** For what is still being sent. */
const LINGER_MS = 2000;

// Whoever read our output may leave; that must not end a robot process.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

try {
  process.exitCode = await runFarhand(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof TeleopError)) throw error;
  console.error(failureText(error));
  process.exitCode = exitCodeOf(error);
}
// The channel to a process that started us would keep this one alive.
if (process.connected) process.disconnect();
// So would a socket or a thread that a verb left open: what is done is done.
setTimeout(() => process.exit(), LINGER_MS).unref();
