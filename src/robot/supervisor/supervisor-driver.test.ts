import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Bench, HostileDriver, MS } from './supervisor.test.bench.ts';

describe('a driver that is slow to enable', () => {
  function enabling(): Bench {
    const bench = new Bench().bring('idle');
    bench.driver.enableStatus = 'stale';
    bench.supervisor.arm(bench.nowNs);
    assert.deepEqual([bench.state, bench.supervisor.cause], ['idle', 'powering the joints']);
    return bench;
  }

  it('is polled every cycle, and the robot does not engage until it is ready', () => {
    const bench = enabling();
    for (let engagement = 1; engagement <= 20; engagement++) {
      bench.tick();
      assert.equal(bench.send({ engagement }), 'not-ready');
    }
    assert.equal(bench.counters.get('not-ready'), 20);
    assert.equal(bench.driver.writes.length, 0);
    bench.driver.enableStatus = 'ok';
    assert.deepEqual(bench.transitions.slice(-1)[0]?.to, 'idle', 'not reported as armed yet');
    bench.tick();
    assert.deepEqual([bench.state, bench.supervisor.cause], ['armed', 'armed by operator']);
    assert.equal(bench.send({ engagement: 20 }), 'old-engagement', 'a rejected engagement stays rejected');
    assert.equal(bench.send({ engagement: 21 }), null);
  });

  it('is stopped when it fails or takes too long', () => {
    const failing = enabling();
    failing.driver.enableStatus = 'fault';
    failing.driver.fault = 'joint 3: over-temperature';
    failing.tick();
    assert.deepEqual([failing.state, failing.supervisor.cause], ['stopped', 'joint 3: over-temperature']);
    const slow = enabling();
    for (let ms = 0; ms <= 10_000; ms += 100) slow.tick(100);
    assert.deepEqual([slow.state, slow.supervisor.cause], ['stopped', 'driver did not become ready']);
  });

  it('is not enabled after a disarm or stop', () => {
    for (const undo of ['disarm', 'estop'] as const) {
      const bench = enabling();
      if (undo === 'disarm') bench.supervisor.disarm(bench.nowNs);
      else bench.supervisor.estop('test', bench.nowNs);
      bench.driver.enableStatus = 'ok';
      for (let i = 0; i < 10; i++) bench.tick();
      assert.equal(bench.driver.enabled, false, undo);
    }
  });
});

describe('reports of a driver', () => {
  it('use the driver’s fault as the cause of the stop', () => {
    const bench = new Bench().bring('engaged');
    bench.driver.fault = 'protective stop: force limit';
    bench.driver.readStatus = 'fault';
    bench.tick();
    assert.deepEqual([bench.state, bench.supervisor.cause], ['stopped', 'protective stop: force limit']);
    assert.equal(bench.transitions.at(-1)!.cause, 'protective stop: force limit');
  });

  it('age by their stamp even when repeated', () => {
    const bench = new Bench().bring('engaged');
    bench.driver.readingNs = bench.nowNs;
    for (let ms = 0; ms < 200; ms += 20) {
      bench.tick(20);
      bench.send({});
      assert.equal(bench.state, 'engaged');
    }
    bench.tick(20);
    assert.deepEqual([bench.state, bench.supervisor.cause], ['stopped', 'no joint feedback']);
  });

  it('are ignored when stamped in the future', () => {
    const bench = new Bench().bring('armed');
    bench.tick();
    bench.driver.measured.fill(1);
    bench.driver.readingNs = bench.nowNs + 1000 * MS;
    bench.tick();
    assert.deepEqual([...bench.supervisor.reading.positionsRad], [0, 0]);
    for (let ms = 0; ms <= 200; ms += 5) bench.tick(5);
    assert.equal(bench.state, 'stopped');
  });
});

describe('catching up after engaging', () => {
  function engagedAt(goalRad: number, options: object): { ms: number; topRadS: number; ramped: number } {
    const bench = new Bench(new HostileDriver(), undefined, options).bring('armed');
    let [last, topRadS, ms] = [0, 0, 0];
    for (; last < goalRad - 0.005 && ms < 2000; ms += 5) {
      bench.tick(5);
      assert.equal(bench.send({}, [goalRad, 0]), null);
      const now = bench.supervisor.targetRad[0]!;
      topRadS = Math.max(topRadS, (now - last) / 0.005);
      last = now;
    }
    return { ms, topRadS, ramped: bench.counters.get('slowed-engage') };
  }

  it('is slow and reports engage-ramp', () => {
    const slow = engagedAt(0.14, { engageSpeedPercent: 10 });
    const fast = engagedAt(0.14, { engageSpeedPercent: 100 });
    assert.ok(slow.ramped > 10 && fast.ramped === 0);
    // The share grows to 1 within a second.
    assert.ok(slow.topRadS < 2 * 0.5 && slow.topRadS < 0.8 * fast.topRadS, `${slow.topRadS} rad/s`);
    assert.ok(slow.ms > 1.5 * fast.ms && slow.ms < 1500, `${slow.ms} and ${fast.ms} ms`);
  });
});

describe('bridging a gap in the commands', () => {
  function streaming(): Bench {
    const bench = new Bench().bring('engaged');
    for (let i = 1; i <= 40; i++) {
      bench.tick(5);
      bench.tick(5);
      bench.send({}, [i * 0.004, 0]);
    }
    return bench;
  }

  it('continues the stream’s motion without resetting the watchdog', () => {
    const bench = streaming();
    let ms = 0;
    for (; bench.state === 'engaged' && ms < 500; ms += 5) bench.tick(5);
    assert.equal(bench.state, 'hold');
    assert.ok(ms >= 100 && ms <= 110, `${ms} ms`);
    const atRad = bench.supervisor.targetRad[0]!;
    // An even motion at 0.4 rad/s is predicted for some commands more, at most 80 ms.
    assert.ok(atRad > 0.16 + 0.4 * 0.03 && atRad < 0.16 + 0.4 * 0.08, `${atRad} rad`);
    for (let i = 0; i < 100; i++) bench.tick(5);
    assert.ok(Math.abs(bench.supervisor.targetRad[0]! - atRad) < 0.005, 'a hold is not bridged');
  });

  it('does not extrapolate after a command that cannot be followed', () => {
    const bench = streaming();
    bench.send({}, [Number.NaN, 0]);
    for (let i = 0; i < 18; i++) bench.tick(5);
    assert.ok(
      // What the smoothing holds still comes, and braking from 0.4 rad/s. Going on would be 0.036 rad.
      bench.supervisor.targetRad[0]! - 0.16 < 0.012,
      `${bench.supervisor.targetRad[0]} rad`,
    );
  });
});

describe('order of commands', () => {
  it('is enforced: an older or repeated command is dropped and counted', () => {
    const bench = new Bench().bring('engaged');
    const newest = bench.seq;
    for (const seq of [newest, newest - 1, 0, Number.NaN])
      assert.equal(bench.supervisor.submit(bench.command({ seq }, [0.05, 0]), bench.nowNs), 'dropped-stale');
    assert.equal(bench.counters.get('dropped-stale'), 4);
    assert.equal(bench.supervisor.submit(bench.command({ seq: newest + 9 }, [0.05, 0]), bench.nowNs), null);
    bench.supervisor.operatorJoined(true, bench.nowNs);
    bench.supervisor.arm(bench.nowNs);
    assert.equal(
      bench.supervisor.submit(bench.command({ seq: 1 }, [0, 0]), bench.nowNs),
      null,
      'a new session',
    );
  });
});
