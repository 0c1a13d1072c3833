import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** Processes whose command line names this folder. */
function processesIn(folder: string): string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      return line.includes(folder) ? [`${pid} ${line}`] : [];
    } catch {
      return [];
    }
  });
}

describe('bench faults', { timeout: 120_000, skip: needs('Linux') }, () => {
  it('ends everything it started on Ctrl-C, including a suspended process, and leaves no file', async () => {
    const folder = temporaryFolder('bench-test');
    const bench = spawn(process.execPath, ['dist/bench/main.js', 'faults', '--only', 'pause-robot-10'], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, TMPDIR: folder },
    });
    const exited = once(bench, 'close');
    try {
      const isSuspended = () =>
        processesIn(folder).some((line) => {
          const [pid] = line.split(' ');
          return /^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
        });
      for (const untilMs = performance.now() + 80_000; !isSuspended(); await sleep(50))
        assert.ok(performance.now() < untilMs && bench.exitCode === null, 'the robot was never suspended');
      bench.kill('SIGINT');
      const [code] = (await exited) as [number];
      assert.equal(code, 130);
      assert.deepEqual(processesIn(folder), []);
      assert.deepEqual(readdirSync(folder), []);
    } finally {
      // It ends its processes itself, unless it does not end at all.
      if (bench.exitCode === null) bench.kill('SIGINT');
      await Promise.race([exited, sleep(20_000, undefined, { ref: false })]);
      bench.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
