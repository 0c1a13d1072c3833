import { exitCodeOf, failureText, runFarhand } from '../../src/cli/verbs.ts';
import { TeleopError } from '../../src/core/errors.ts';

/** Runs one verb after another in this process: the parent sends the arguments, this process reports how it ended. */

export interface VerbEnd {
  code: number;
  /** What it wrote for its user. */
  err: string;
  /** Threads, processes and sockets that are still open. */
  open: string[];
}

/** Of `process.getActiveResourcesInfo()`; a thread has a port for messages. */
const STARTED = ['MessagePort', 'ProcessWrap', 'UDPWrap', 'TCPServerWrap', 'TCPSocketWrap'];
const CLOSING_MS = 5000;
const LOOK_MS = 5;

let err = '';
process.stderr.write = (text: string | Uint8Array) => {
  err += String(text);
  return true;
};
process.stdout.write = () => true;

async function codeOf(args: string[]): Promise<number> {
  try {
    return await runFarhand(args);
  } catch (error) {
    if (!(error instanceof TeleopError)) throw error;
    console.error(failureText(error));
    return exitCodeOf(error);
  }
}

/** What remains open; closing takes a moment. */
async function stillOpen(): Promise<string[]> {
  const open = () => process.getActiveResourcesInfo().filter((kind) => STARTED.includes(kind));
  for (let ms = 0; ms < CLOSING_MS && open().length > 0; ms += LOOK_MS)
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  return open();
}

process.on('message', async (args: string[]) => {
  err = '';
  const code = await codeOf(args);
  process.send!({ code, err, open: await stillOpen() } satisfies VerbEnd);
});
