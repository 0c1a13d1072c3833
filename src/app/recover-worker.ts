import { parentPort, workerData } from 'node:worker_threads';
import { TeleopError } from '../core/errors.ts';
import { finishEpisode } from '../record/recover.ts';
import { recoveryText } from '../record/recovery-text.ts';

export interface RecoverWorkerStart {
  files: string[];
  version: string;
}

export interface RecoverWorkerMessage {
  kind: 'said';
  text: string;
}

/** Recovers recordings that an earlier process left unfinished. Reports one line per file. */
const say = (text: string) => parentPort?.postMessage({ kind: 'said', text } satisfies RecoverWorkerMessage);
const { files, version } = workerData as RecoverWorkerStart;
for (const file of files) {
  try {
    say(recoveryText(file, finishEpisode(file, version)));
  } catch (error) {
    if (!(error instanceof TeleopError)) throw error;
    say(`${error.message}. ${error.hint}`);
  }
}
