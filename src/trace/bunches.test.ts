import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { emptyTraceRecord } from '../messages/trace-record.ts';
import { Bunches } from './bunches.ts';

const MS = 1e6;
const OFFSET_NS = 3e12;

/** Commands every 10 ms that arrive after `wireMs`. */
function figuresOf(wireMs: readonly number[]) {
  const bunches = new Bunches();
  wireMs.forEach((ms, i) => {
    const wireSentNs = 1e9 + i * 10 * MS;
    const receiveNs = wireSentNs + ms * MS + OFFSET_NS;
    bunches.add({ ...emptyTraceRecord(), wireSentNs, receiveNs, offsetNs: OFFSET_NS });
  });
  return bunches.figures();
}

describe('bunches', () => {
  it('are what TCP does with a lost segment: all behind it wait for its retransmission', () => {
    // A timeout of 200 ms on a path of 2 ms: 20 commands arrive together with the one that was lost.
    const blocked = Array.from({ length: 100 }, (_, i) => (i < 40 || i > 60 ? 2 : 2 + 200 - (i - 40) * 10));
    assert.deepEqual(figuresOf(blocked), { bunches: 1, commands: 20, longestNs: 202 * MS });
  });

  it('are not the jitter of a link, however late the whole of it is', () => {
    const { bunches } = figuresOf(Array.from({ length: 200 }, (_, i) => 40 + 3 * Math.sin(i)));
    assert.equal(bunches, 0);
  });

  it('are not a lost datagram, which holds nobody back', () => {
    const bunches = figuresOf([2, 2, Number.NaN, 2, 2]);
    assert.deepEqual(bunches, { bunches: 0, commands: 0, longestNs: Number.NaN });
  });
});
