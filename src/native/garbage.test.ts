import assert from 'node:assert/strict';
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { IdleCollection } from './garbage.ts';

/** What Node adds to the browsers' type. */
interface GcEntry {
  detail: { kind: number; flags: number };
}

/** Not those that V8 begins by itself meanwhile. */
const wasRequested = ({ detail }: GcEntry): boolean =>
  (detail.flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) !== 0;

describe('collecting garbage while a loop waits', () => {
  it('happens in long waits, every three seconds', () => {
    const idle = new IdleCollection();
    assert.equal(idle.rest(10e9, 1e6), false);
    assert.equal(idle.rest(10e9, 5e6), true);
    assert.equal(idle.rest(11e9, 5e6), false);
    assert.equal(idle.rest(13e9, 1e6), false);
    assert.equal(idle.rest(13e9, 5e6), true);
  });

  it('collects young objects alone', async () => {
    const kinds: number[] = [];
    const observer = new PerformanceObserver((list) =>
      kinds.push(
        ...(list.getEntries() as unknown as GcEntry[]).filter(wasRequested).map(({ detail }) => detail.kind),
      ),
    );
    observer.observe({ entryTypes: ['gc'] });
    new IdleCollection().rest(10e9, 5e6);
    while (kinds.length === 0) await sleep(1);
    observer.disconnect();
    assert.deepEqual(kinds, [constants.NODE_PERFORMANCE_GC_MINOR]);
  });
});
