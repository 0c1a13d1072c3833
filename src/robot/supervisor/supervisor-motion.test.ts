import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JointCommand } from '../../messages/command.ts';
import { Bench, config, HostileDriver, MS, model } from './supervisor.test.bench.ts';

const last = (bench: Bench) => bench.driver.writes.at(-1)!;

/** Engaged and moving near the first joint's velocity limit. */
function running(): Bench {
  const bench = new Bench(undefined, undefined, { engageSpeedPercent: 100 }).bring('engaged');
  for (let i = 0; i < 80; i++) {
    bench.tick(5);
    assert.equal(bench.send({}, [2.9, 0]), null);
  }
  return bench;
}

describe('supervisor motion', () => {
  it('starts from the measured pose: the first write causes no motion', () => {
    const bench = new Bench().bring('armed');
    bench.driver.measured.set([0.3, -0.2]);
    bench.driver.enable();
    bench.tick();
    assert.equal(bench.send({}, [0.3, -0.2]), 'not-ready', 'it may still be moving');
    bench.rest();
    assert.equal(bench.send({ engagement: 2, gripper: 0.25 }, [0.4, -0.2]), null);
    assert.deepEqual(last(bench), { nowNs: bench.nowNs, positions: [0.3, -0.2], gripper: 0.25 });
  });

  it('reaches and keeps the velocity limit, and reports what limits it', () => {
    const bench = running();
    const from = last(bench).positions[0]!;
    bench.tick(5);
    const speed = (last(bench).positions[0]! - from) / 0.005;
    assert.ok(speed > 0.8 * 2 && speed <= 2 + 1e-6, `${speed} rad/s`);
    for (const reason of ['clamped-acceleration', 'clamped-velocity'] as const)
      assert.ok(bench.counters.get(reason) > 0, reason);
    assert.equal(bench.supervisor.limitedBy, 'velocity');
    assert.equal(bench.counters.get('clamped-range'), 0);
  });

  it('catches up between commands without overshooting the command', () => {
    const bench = new Bench().bring('engaged');
    bench.tick(10);
    for (let i = 0; i < 200; i++) {
      bench.tick(5);
      if (i % 4 === 0) bench.send({}, [0.1, 0]);
      assert.ok(last(bench).positions[0]! <= 0.1 + 1e-4);
    }
    assert.ok(Math.abs(last(bench).positions[0]! - 0.1) < 1e-6);
    const writes = bench.driver.writes.length;
    bench.tick(5);
    assert.equal(bench.driver.writes.length, writes, 'nothing left to do');
  });

  it('clamps a command into the joint range and counts it', () => {
    const bench = running();
    for (let i = 0; i < 400; i++) {
      bench.tick(10);
      bench.send({}, [3.09, -2.09]);
    }
    [3, -2].forEach((rad, i) => {
      assert.ok(
        Math.abs(last(bench).positions[i]! - rad) < 1e-5 &&
          Math.abs(last(bench).positions[i]!) <= Math.abs(rad),
      );
    });
    assert.ok(bench.counters.get('clamped-range') >= 200);
  });

  it('passes, clamps or rejects a joint by how far it exceeds the model’s range', () => {
    for (const [rad, reason, clamped] of [
      [3, null, 0],
      [3.09, null, 1],
      [3.11, 'bad-range', 0],
      [-2.11, 'bad-range', 0],
      [99, 'bad-range', 0],
    ] as const) {
      const bench = new Bench().bring('engaged');
      bench.tick();
      assert.equal(bench.send({}, [rad, 0]), reason, `${rad} rad`);
      assert.equal(bench.counters.get('clamped-range'), clamped);
      assert.equal(bench.counters.get('bad-range'), reason === null ? 0 : 1);
    }
    const driver = new HostileDriver([3.4, 0]);
    const bench = new Bench(driver).bring('engaged');
    bench.tick();
    assert.equal(bench.send({}, [3.35, 0]), null, 'a joint found outside may be moved back');
  });

  it('rejects a leap between two commands, and holds if the stream stays there', () => {
    const bench = new Bench(undefined, undefined, { maxLeapRad: 1 }).bring('engaged');
    bench.tick();
    assert.equal(bench.send({}, [0.9, 0]), null, 'far from the arm, but close to the previous command');
    bench.tick();
    assert.equal(bench.send({}, [1.8, -0.9]), null);
    for (let i = 0; i < 25; i++) {
      bench.tick();
      if (bench.state === 'engaged') assert.equal(bench.send({}, [1.8, 0.2]), 'joint-leap');
    }
    assert.deepEqual([bench.state, bench.supervisor.cause], ['hold', 'no command for 100 ms']);
    assert.ok(bench.counters.get('joint-leap') >= 19);
    assert.ok(
      bench.driver.writes.every(({ positions }) => positions[1]! <= 1e-9),
      'no motion towards the leap',
    );
  });

  it('comes to the end of a range without passing it, and leaves at full speed', () => {
    const bench = new Bench().bring('engaged');
    let [fastestBack, before, highest] = [0, 0, 0];
    for (let i = 0; i < 900; i++) {
      bench.tick(5);
      bench.send({}, [i < 500 ? 3.05 : 0, 0]);
      const now = bench.supervisor.targetRad[0]!;
      if (i >= 500) fastestBack = Math.max(fastestBack, (before - now) / 0.005);
      highest = Math.max(highest, now);
      before = now;
    }
    assert.ok(highest <= 3 && highest > 3 - 1e-3, `${highest} rad`);
    assert.ok(fastestBack > 1.6, `${fastestBack} rad/s`);
    assert.ok(Math.abs(before) < 0.01);
  });

  it('holds when no command was applied within the timeout', () => {
    const bench = new Bench().bring('engaged');
    bench.tick(config.commandTimeoutMs);
    assert.equal(bench.state, 'engaged');
    bench.tick(1);
    assert.deepEqual([bench.state, bench.supervisor.endedEngagement], ['hold', 1]);
    assert.equal(bench.counters.get('watchdog'), 1);
    assert.equal(bench.send({}), 'old-engagement');
    assert.equal(bench.send({ engagement: 2 }), null);
  });

  it('does not reset the watchdog for rejected commands', () => {
    const bench = new Bench().bring('engaged');
    for (let i = 0; i < 30; i++) {
      bench.tick(5);
      bench.send({ sampledRobotNs: bench.nowNs - 900 * MS });
      bench.supervisor.submit(bench.command({}, [Number.NaN, 0]), bench.nowNs);
    }
    assert.equal(bench.state, 'hold');
  });

  it('reaches the last command of a stream that ends, then holds', () => {
    const bench = new Bench(new HostileDriver(), model, { extrapolate: false }).bring('engaged');
    // 0.4 rad/s, then silence.
    for (let i = 1; i <= 60; i++) {
      bench.tick(5);
      bench.tick(5);
      bench.send({}, [i * 0.004, 0]);
    }
    let farthest = 0;
    for (let i = 0; i < 20; i++) {
      bench.tick(5);
      farthest = Math.max(farthest, last(bench).positions[0]!);
    }
    // The braking distance at this speed, plus the time until the silence is noticed.
    assert.ok(farthest - 0.24 < 0.4 ** 2 / 20 + 0.4 * 0.025, `${farthest - 0.24} rad beyond`);
    for (let i = 0; i < 40; i++) bench.tick(5);
    assert.equal(bench.state, 'hold');
    const writes = bench.driver.writes.length;
    bench.tick(5);
    assert.equal(bench.driver.writes.length, writes, 'at rest');
    assert.ok(Math.abs(last(bench).positions[0]! - 0.24) < 0.01);
  });

  it('brakes within the acceleration limit when the clutch is released, then writes nothing', () => {
    const bench = running();
    const from = last(bench).positions[0]!;
    bench.send({ engagement: 0 });
    assert.equal(bench.state, 'hold');
    let speed =
      (from - bench.driver.writes.findLast(({ nowNs }) => nowNs < bench.nowNs)!.positions[0]!) / 0.005;
    assert.ok(speed > 1.5, `${speed} rad/s`);
    let position = from;
    for (let i = 0; i < 100; i++) {
      const writes = bench.driver.writes.length;
      bench.tick(5);
      const now = last(bench).positions[0]!;
      const slower = (now - position) / 0.005;
      // What was smoothed when the clutch opened still comes.
      if (i > 8) assert.ok(slower <= speed + 1e-9);
      assert.ok(slower >= 0 && Math.abs(speed - slower) <= 10 * 0.005 + 1e-6, 'within the limit');
      if (i > 70) assert.equal(bench.driver.writes.length, writes);
      speed = slower;
      position = now;
    }
    assert.equal(speed, 0);
    assert.ok(position - from <= 0.33, `${position - from} rad`);
  });

  it('stops immediately on an e-stop, without another write', () => {
    const bench = running();
    const writes = bench.driver.writes.length;
    bench.supervisor.estop('test', bench.nowNs);
    assert.equal(bench.driver.enabled, false);
    for (let i = 0; i < 50; i++) {
      bench.tick(5);
      bench.send({}, [2.5, 0]);
    }
    assert.equal(bench.driver.writes.length, writes);
  });
});

describe('events that bypass the queue', () => {
  /** One command arrives; then the queued commands of its engagement come due. */
  function arrivesThenQueued(values: Partial<JointCommand>): Bench {
    const bench = new Bench().bring('engaged');
    bench.supervisor.observe(bench.command(values, [0, 0]), bench.nowNs);
    const writes = bench.driver.writes.length;
    for (let i = 0; i < 6; i++)
      assert.equal(bench.supervisor.submit(bench.command({}, [0.01, 0]), bench.nowNs), 'old-engagement');
    assert.equal(bench.driver.writes.length, writes);
    return bench;
  }

  it('holds as soon as the clutch is released', () => {
    const bench = arrivesThenQueued({ engagement: 0 });
    assert.deepEqual([bench.state, bench.supervisor.cause], ['hold', 'clutch released']);
    assert.equal(bench.supervisor.endedEngagement, 1);
  });

  it('holds as soon as tracking is lost', () => {
    const bench = arrivesThenQueued({ tracking: false });
    assert.deepEqual([bench.state, bench.supervisor.cause], ['hold', 'tracking lost']);
    assert.equal(bench.counters.get('tracking-lost'), 1);
  });

  it('ends the engagement when another begins, which may then move', () => {
    const bench = arrivesThenQueued({ engagement: 2 });
    assert.equal(bench.supervisor.submit(bench.command({ engagement: 2 }, [0, 0]), bench.nowNs), null);
    assert.equal(bench.state, 'engaged');
  });

  it('voids an engagement that has not begun to move', () => {
    const bench = new Bench().bring('armed');
    bench.supervisor.observe(bench.command({ engagement: 1 }, [0, 0]), bench.nowNs);
    bench.supervisor.observe(bench.command({ engagement: 0 }, [0, 0]), bench.nowNs);
    assert.equal(
      bench.supervisor.submit(bench.command({ engagement: 1 }, [0, 0]), bench.nowNs),
      'old-engagement',
    );
    assert.equal(bench.state, 'armed');
  });

  it('ignores commands of another epoch', () => {
    const bench = new Bench().bring('engaged');
    bench.supervisor.observe(bench.command({ engagement: 0, epoch: 0 }, [0, 0]), bench.nowNs);
    bench.supervisor.observe(bench.command({ tracking: false, epoch: 7 }, [0, 0]), bench.nowNs);
    assert.equal(bench.state, 'engaged');
  });

  it('voids everything queued before a reset', () => {
    const bench = running();
    bench.supervisor.estop('test', bench.nowNs);
    bench.supervisor.reset(1, bench.nowNs);
    bench.supervisor.arm(bench.nowNs);
    for (let ms = 0; ms < 1000; ms += 5) bench.tick(5);
    for (const engagement of [1, 2, 50])
      assert.equal(
        bench.supervisor.submit(bench.command({ epoch: 1, engagement }, [0, 0]), bench.nowNs),
        'wrong-epoch',
      );
    assert.equal(bench.state, 'armed');
  });
});
