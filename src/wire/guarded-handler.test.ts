import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Counters } from '../core/counters.ts';
import { EntryBoundary } from '../core/entry-boundary.ts';
import { GuardedHandler } from './guarded-handler.ts';

describe('a guarded control thread', () => {
  const bug = () => {
    throw new TypeError('Cannot convert object to primitive value');
  };

  it('counts and drops a datagram that makes its handler throw, and enters a safe state', () => {
    const counters = new Counters();
    const stops: number[] = [];
    const inner = { onDatagram: bug, onOversize: () => {}, onDeadline: () => {}, nextDeadlineNs: () => 7 };
    const boundary = new EntryBoundary('datagram', () => {});
    const handler = new GuardedHandler(inner, counters, (nowNs) => stops.push(nowNs), boundary);
    for (const nowNs of [5, 6]) handler.onDatagram(0, new Uint8Array(1), 1, 0, nowNs, Number.NaN);
    assert.deepEqual(counters.snapshot(), { 'handler-failed': 2 });
    assert.deepEqual(stops, [5, 6]);
    assert.equal(handler.nextDeadlineNs(), 7);
  });

  it('lets an exception in a deadline end the role', () => {
    const inner = { onDatagram: bug, onOversize: () => {}, onDeadline: bug, nextDeadlineNs: () => 0 };
    assert.throws(() => new GuardedHandler(inner, new Counters(), () => {}).onDeadline(1), TypeError);
  });
});
