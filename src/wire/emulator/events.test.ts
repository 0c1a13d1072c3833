import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { leftOfEventNs, linkEventSchema } from './events.ts';
import { parseFaults } from './fault-text.ts';

const MS = 1e6;

describe('link events', () => {
  it('are exact to the nanosecond', () => {
    const event = linkEventSchema.parse({ kind: 'hole', atMs: 100, forMs: 50 });
    assert.equal(leftOfEventNs(event, 100 * MS - 1), 0);
    assert.equal(leftOfEventNs(event, 100 * MS), 50 * MS);
    assert.equal(leftOfEventNs(event, 150 * MS - 1), 1);
    assert.equal(leftOfEventNs(event, 150 * MS), 0);
    assert.equal(leftOfEventNs(event, 1e12), 0);
  });

  it('repeat as often as configured', () => {
    const flap = linkEventSchema.parse({ kind: 'stall', atMs: 10, forMs: 2, everyMs: 5, times: 3 });
    const during = Array.from({ length: 60 }, (_, ms) => ms).filter((ms) => leftOfEventNs(flap, ms * MS) > 0);
    assert.deepEqual(during, [10, 11, 15, 16, 20, 21]);
    const ever = linkEventSchema.parse({ kind: 'stall', atMs: 10, forMs: 2, everyMs: 5 });
    assert.equal(leftOfEventNs(ever, 1_000_010 * MS), 2 * MS);
  });

  it('are parsed from text', () => {
    assert.deepEqual(parseFaults('hole', '300ms@5s, 1.5s@20s', 'forward'), [
      { kind: 'hole', atMs: 5000, forMs: 300, direction: 'forward' },
      { kind: 'hole', atMs: 20_000, forMs: 1500, direction: 'forward' },
    ]);
    assert.deepEqual(parseFaults('stall', '200ms/2s@10sx3', 'both'), [
      { kind: 'stall', atMs: 10_000, forMs: 200, everyMs: 2000, times: 3, direction: 'both' },
    ]);
    for (const wrong of ['', '300@5', '300ms', '@5s', '-1s@5s', '1s@5s;'])
      assert.throws(() => parseFaults('hole', wrong, 'both'), { code: 'bad-option' }, wrong);
  });
});
