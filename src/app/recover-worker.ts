import { parentPort, workerData } from 'node:worker_threads';
import { TeleopError } from '../core/errors.ts';
import { finishEpisode } from '../record/recover.ts';
import { recoveryText } from '../record/recovery-text.ts';

export interface RecoverWorkerStart {
  files: string[];
  version: string;
}

/** Mends what an earlier process left unfinished, beside everything else. Tells one line per file. */
const { files, version } = workerData as RecoverWorkerStart;
for (const file of files) {
  try {
    parentPort?.postMessage(recoveryText(file, finishEpisode(file, version)));
  } catch (error) {
    if (!(error instanceof TeleopError)) throw error;
    parentPort?.postMessage(`${error.message}. ${error.hint}`);
  }
}
