// Ends what a test run has started, and removes its folder, once the runner is gone: by itself, by Ctrl-C or
// by kill -9. The runner holds the other end of this process's standard input.
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { killMarked } from './processes.mjs';

const TRIES = 60;

const [marker, folder] = process.argv.slice(2);

/** On a busy machine a killed process may keep writing for a while. */
async function sweep() {
  for (let i = 0; i < TRIES; i++) {
    await killMarked(marker);
    try {
      rmSync(folder, { recursive: true, force: true });
      return;
    } catch {
      await sleep(500);
    }
  }
}

process.stdin.on('error', () => {});
process.stdin.on('close', sweep);
process.stdin.resume();
