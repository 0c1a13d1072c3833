import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';

/** Runs in a thread of its own, whose scheduling the kernel reports in /proc. */
const SCRIPT = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { readFileSync } = require('node:fs');
  import(workerData).then(async ({ requestShortSlice }) => {
    const reported = await requestShortSlice();
    parentPort.postMessage({ reported, sched: readFileSync('/proc/thread-self/sched', 'utf8') });
  });
`;

/** The scheduling of this thread, then of all others. */
const GIVE_WAY = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { readFileSync, readdirSync, readlinkSync } = require('node:fs');
  import(workerData).then(async ({ requestShortSlice, askOthersToGiveWay }) => {
    await requestShortSlice();
    await askOthersToGiveWay();
    const own = readlinkSync('/proc/thread-self').split('/').at(-1);
    const others = readdirSync('/proc/self/task').filter((id) => id !== own);
    parentPort.postMessage([own, ...others].map((id) => readFileSync('/proc/self/task/' + id + '/sched', 'utf8')));
  });
`;

const inThread = (): Promise<{ reported: string; sched: string }> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(SCRIPT, {
      eval: true,
      workerData: new URL('./short-slice.js', import.meta.url).href,
    });
    worker.once('message', resolve);
    worker.once('error', reject);
  });

const noChrt = (() => {
  try {
    execFileSync('chrt', ['--version'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'chrt is missing: install util-linux';
  }
})();

const hasSched = (() => {
  try {
    return /se\.slice/.test(readFileSync('/proc/self/sched', 'utf8'));
  } catch {
    return false;
  }
})();

describe('a short time slice', { skip: !hasSched && 'this kernel does not show /proc/self/sched' }, () => {
  it('is what the kernel reports for the thread, if we report it', async () => {
    const { reported, sched } = await inThread();
    const sliceNs = Number(/se\.slice\s*:\s*(\d+)/.exec(sched)![1]);
    assert.equal(reported === '0.1 ms slice', sliceNs === 100_000, `${reported}: ${sliceNs} ns`);
  });

  it('is kept by its thread alone: all others give way', async () => {
    const worker = new Worker(GIVE_WAY, {
      eval: true,
      workerData: new URL('./short-slice.js', import.meta.url).href,
    });
    const [own, ...others] = await new Promise<string[]>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
    });
    const policyOf = (sched: string) => Number(/^policy\s*:\s*(\d+)/m.exec(sched)![1]);
    assert.equal(policyOf(own!), 0);
    // The main thread and V8's own.
    assert.ok(others.length >= 4, `${others.length}`);
    const isShort = /se\.slice\s*:\s*100000\b/.test(own!);
    assert.deepEqual([...new Set(others.map(policyOf))], [isShort ? 3 : 0]);
  });

  it('leaves another scheduling class alone', { skip: noChrt }, () => {
    const code = `import('${new URL('./short-slice.js', import.meta.url).href}').then(async ({ requestShortSlice }) => {
      await requestShortSlice();
      console.log(require('node:fs').readFileSync('/proc/thread-self/sched', 'utf8'));
    });`;
    const sched = execFileSync('chrt', ['-i', '0', process.execPath, '-e', code], { encoding: 'utf8' });
    assert.equal(Number(/^policy\s*:\s*(\d+)/m.exec(sched)![1]), 5);
  });
});
