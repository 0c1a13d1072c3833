import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { startFarhand } from './farhand.ts';

const childrenOf = (pid: number): number[] => {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
};

const skip = existsSync(`/proc/${process.pid}/task/${process.pid}/children`)
  ? false
  : 'needs /proc/…/children';

it('Ctrl-C ends a demo whose operator is still starting and does not react', { skip }, async () => {
  const demo = startFarhand(['demo', '--headless', '--duration', '60', `trace.dir=${temporaryFolder()}`]);
  try {
    const pid = demo.process.pid!;
    await until('robot and operator', () => childrenOf(pid).length === 2, demo.stderr);
    process.kill(childrenOf(pid)[1]!, 'SIGSTOP');
    const startMs = performance.now();
    demo.process.kill('SIGINT');
    await demo.exited;
    const tookMs = performance.now() - startMs;
    // The grace of a process that runs is 5 s.
    assert.ok(tookMs < 4000, `${tookMs} ms`);
  } finally {
    await demo.end();
  }
});
