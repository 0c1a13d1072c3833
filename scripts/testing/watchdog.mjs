// Ends what a run of tests has started, and removes its folder, when the runner is gone: by itself, by Ctrl-C or by
// kill -9. The runner holds the other end of this process's standard input.
import { rmSync } from 'node:fs';
import { killMarked } from './processes.mjs';

const [marker, folder] = process.argv.slice(2);
process.stdin.on('error', () => {});
process.stdin.on('close', async () => {
  await killMarked(marker);
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});
process.stdin.resume();
