import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Counters } from '../core/counters.ts';
import { ManualClock } from '../core/time/clock.ts';
import { decodeProbe, emptyProbe, encodeProbeReply } from '../wire/codecs/sync.ts';
import { SyncClient } from './sync-client.ts';

/** The outcome of one exchange that takes 30 µs, of which the robot claims `robotNs`. */
function outcomeOf(robotNs: number): string | null {
  const clock = new ManualClock();
  const probe = emptyProbe();
  const send = (_: number, bytes: Uint8Array, length: number): number => {
    assert.equal(decodeProbe(bytes, length, probe), null);
    return clock.nowNs();
  };
  const client = new SyncClient({ send }, 2, 1, clock, new Counters());
  client.tick(clock.nowNs());
  Object.assign(probe, { boot: 1, t1: 5e9, t2: 5e9 + robotNs });
  const bytes = new Uint8Array(256);
  const length = encodeProbeReply(probe, bytes);
  const outcome = client.onReply(bytes, length, clock.nowNs() + 30e3, Number.NaN);
  assert.equal(client.sync.synchronized, outcome === null);
  return outcome;
}

it('an exchange that is impossible by no more than its stamps err is a remark', () => {
  assert.equal(outcomeOf(20e3), null);
  assert.equal(outcomeOf(60e3), null);
  assert.equal(outcomeOf(200e3), 'rough-stamp');
  assert.equal(outcomeOf(600e3), 'bad-range');
  assert.equal(outcomeOf(-600e3), 'bad-range');
});
