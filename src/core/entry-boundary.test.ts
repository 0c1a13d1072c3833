import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { EntryBoundary } from './entry-boundary.ts';

describe('the boundary of an entry point', () => {
  it('turns anything a handler throws, synchronously or later, into a rejection and a count', async () => {
    const reports: string[] = [];
    const boundary = new EntryBoundary('listener', (text) => void reports.push(text));
    let rejected = 0;
    const reject = () => {
      rejected++;
      throw new Error('the sender is gone');
    };
    const hostile = { toString: 1, valueOf: 1 };
    boundary.run(() => `${hostile as unknown as string}`, reject);
    boundary.run(() => Promise.reject(hostile), reject);
    boundary.run(async () => {
      await turn();
      throw new Error('late');
    }, reject);
    await turn();
    await turn();
    assert.deepEqual([boundary.failures, rejected], [3, 3]);
    assert.deepEqual(
      reports.map((text) => /listener: a handler failed \((\d) so far\)/.exec(text)?.[1]),
      ['1', '2'],
      'the log grows logarithmically',
    );
  });

  it('does not interfere with handlers that succeed', async () => {
    const boundary = new EntryBoundary('listener', (text) => assert.fail(text));
    let done = 0;
    boundary.run(() => done++);
    boundary.run(async () => done++);
    await turn();
    assert.deepEqual([done, boundary.failures], [2, 0]);
  });
});
