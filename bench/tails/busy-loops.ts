import { spawn } from 'node:child_process';
import { once } from 'node:events';
import os from 'node:os';

const SPIN =
  'process.on("disconnect", () => process.exit()); (function spin() { const end = Date.now() + 50; while (Date.now() < end); setImmediate(spin); })()';

/** A busy loop per core, each of which ends with this process; returns what ends them. */
export function busyLoops(): () => Promise<void> {
  const loops = os
    .cpus()
    .map(() => spawn(process.execPath, ['-e', SPIN], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] }));
  return async () => {
    await Promise.all(
      loops.map(async (loop) => {
        if (loop.exitCode !== null || loop.signalCode !== null) return;
        const gone = once(loop, 'exit');
        loop.kill('SIGKILL');
        await gone;
      }),
    );
  };
}
