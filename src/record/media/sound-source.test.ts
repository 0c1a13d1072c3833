import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { SoundTimes } from './sound-source.ts';

const BLOCK_NS = 20e6;

describe('times of sound', () => {
  it('stay in order and close to the truth, however late blocks arrive', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 2, maxLength: 200 }), (lateMs) => {
        const times = new SoundTimes();
        let lastNs = Number.NEGATIVE_INFINITY;
        let arrivedNs = 0;
        for (const [i, late] of lateMs.entries()) {
          const trueNs = i * BLOCK_NS;
          arrivedNs = Math.max(arrivedNs, trueNs + BLOCK_NS + late * 1e6);
          const startNs = times.startOf(BLOCK_NS / 1e9, arrivedNs);
          assert.ok(startNs > lastNs && startNs - trueNs < 301e6, `${startNs - trueNs}`);
          lastNs = startNs;
        }
      }),
    );
  });

  it('continue evenly, come close once blocks are punctual, and jump where sound was lost', () => {
    const times = new SoundTimes();
    const starts = Array.from({ length: 100 }, (_, i) =>
      times.startOf(BLOCK_NS / 1e9, (i + 1) * BLOCK_NS + (i < 10 ? 150e6 : 0)),
    );
    assert.equal(starts[9]! - starts[8]!, BLOCK_NS);
    assert.equal(starts[99], 99 * BLOCK_NS);
    assert.equal(times.startOf(BLOCK_NS / 1e9, 5e9), 5e9 - BLOCK_NS);
  });
});
