import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { EntryBoundary } from './entry-boundary.ts';

describe('the boundary of an entry point', () => {
  it('turns anything a handler throws, synchronously or later, into a rejection and a count', async () => {
    const reports: string[] = [];
    const boundary = new EntryBoundary('door', (text) => void reports.push(text));
    let refused = 0;
    const refuse = () => {
      refused++;
      throw new Error('the sender is gone');
    };
    const hostile = { toString: 1, valueOf: 1 };
    boundary.run(() => `${hostile as unknown as string}`, refuse);
    boundary.run(() => Promise.reject(hostile), refuse);
    boundary.run(async () => {
      await turn();
      throw new Error('late');
    }, refuse);
    await turn();
    await turn();
    assert.deepEqual([boundary.failures, refused], [3, 3]);
    assert.deepEqual(
      reports.map((text) => /door: a handler failed \((\d) so far\)/.exec(text)?.[1]),
      ['1', '2'],
      'the log grows logarithmically',
    );
  });

  it('does not interfere with handlers that succeed', async () => {
    const boundary = new EntryBoundary('door', (text) => assert.fail(text));
    let done = 0;
    boundary.run(() => done++);
    boundary.run(async () => done++);
    await turn();
    assert.deepEqual([done, boundary.failures], [2, 0]);
  });
});
