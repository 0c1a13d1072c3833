import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { POWERED } from './states.ts';
import { Bench, MS } from './supervisor.test.bench.ts';

/** What may be waiting in the sockets of a process that stalled. */
const QUEUED: Record<string, (bench: Bench) => void> = {
  'a cycle': (b) => b.supervisor.tick(b.nowNs),
  'the same operator': (b) => b.supervisor.operatorJoined(false, b.nowNs),
  'another operator': (b) => b.supervisor.operatorJoined(true, b.nowNs),
  'an operator lost': (b) => b.supervisor.operatorLost(b.nowNs),
  'a goodbye': (b) => b.supervisor.operatorLeft(b.nowNs),
  disarm: (b) => b.supervisor.disarm(b.nowNs),
  arm: (b) => b.supervisor.arm(b.nowNs),
  reset: (b) => void b.supervisor.reset(1, b.nowNs),
  'a command': (b) => void b.send({ epoch: 1 }),
  'another engagement': (b) => void b.send({ epoch: 1, engagement: 2 }),
  'an open clutch': (b) => void b.send({ epoch: 1, engagement: 0 }),
  'a silent neighbour': (b) => b.supervisor.neighbourSilent(b.nowNs),
};

describe('a control loop that stalls', () => {
  for (const state of ['armed', 'engaged', 'hold'] as const)
    it(`latches a stop from ${state}, whatever is queued`, () => {
      for (const [first, happen] of Object.entries(QUEUED))
        for (const next of Object.values(QUEUED)) {
          const bench = new Bench().bring(state);
          const writes = bench.driver.writes.length;
          bench.nowNs += 2000 * MS;
          happen(bench);
          next(bench);
          for (const any of Object.values(QUEUED)) any(bench);
          assert.equal(bench.state, 'stopped', first);
          assert.equal(bench.supervisor.cause, 'control loop stalled for 2000 ms');
          assert.equal(bench.driver.enabled, false);
          assert.equal(bench.driver.writes.length, writes, 'no further writes');
          assert.ok(bench.transitions.at(-1)!.flight >= 0, 'the flight record is kept');
        }
    });

  it('does not stop while the joints are unpowered, or within the limit', () => {
    for (const state of ['disconnected', 'idle'] as const) {
      const bench = new Bench().bring(state);
      bench.tick(5000);
      assert.equal(bench.state, state);
    }
    for (const state of ['armed', 'hold'] as const) {
      const bench = new Bench().bring(state);
      for (let n = 0; n < 20; n++) bench.tick(1000);
      assert.equal(bench.state, state);
      bench.tick(1001);
      assert.equal(bench.state, 'stopped');
    }
  });

  it('can be armed immediately after a stall while idle', () => {
    const bench = new Bench().bring('idle');
    bench.nowNs += 5000 * MS;
    bench.supervisor.arm(bench.nowNs);
    assert.equal(bench.state, 'armed');
    bench.tick();
    assert.ok(POWERED[bench.state]);
  });
});
