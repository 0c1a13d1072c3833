import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JointCommand } from '../../messages/command.ts';
import { SUPERVISOR_STATES, type SupervisorState } from '../../messages/robot-state.ts';
import { POWERED, type SupervisorEvent, TRANSITIONS } from './states.ts';
import { Bench, HostileDriver, MS } from './supervisor.test.bench.ts';

const EVENTS: Record<SupervisorEvent, (bench: Bench) => void> = {
  'operator-joined': (b) => b.supervisor.operatorJoined(false, b.nowNs),
  'operator-left': (b) => b.supervisor.operatorLeft(b.nowNs),
  'operator-lost': (b) => b.supervisor.operatorLost(b.nowNs),
  arm: (b) => b.supervisor.arm(b.nowNs),
  powered: (b) => b.tick(),
  disarm: (b) => b.supervisor.disarm(b.nowNs),
  engage: (b) => void b.send({ engagement: 2 }),
  release: (b) => void b.send({ engagement: 0 }),
  'tracking-lost': (b) => void b.send({ tracking: false }),
  watchdog: (b) => b.tick(150),
  fault: (b) => {
    b.driver.readStatus = 'fault';
    b.tick();
  },
  estop: (b) => b.supervisor.estop('test', b.nowNs),
  reset: (b) => void b.supervisor.reset(b.supervisor.epoch, b.nowNs),
};

describe('supervisor states', () => {
  for (const from of SUPERVISOR_STATES)
    it(`in ${from} follows the table for every event`, () => {
      for (const [event, happen] of Object.entries(EVENTS) as [SupervisorEvent, (bench: Bench) => void][]) {
        const bench = new Bench().bring(from);
        const writes = bench.driver.writes.length;
        bench.transitions.length = 0;
        happen(bench);
        // A command of a new engagement ends the old one first: hold, then engaged again.
        const next = TRANSITIONS[from][event] ?? from;
        // This driver powers its joints immediately.
        const to = next === 'arming' ? 'armed' : next;
        assert.equal(bench.state, to, event);
        assert.equal(bench.driver.enabled, POWERED[to], event);
        if (event !== 'engage') assert.equal(bench.driver.writes.length, writes, `${event} must not move`);
        assert.equal(bench.transitions.length > 0, to !== from || (from === 'engaged' && event === 'engage'));
        if (bench.transitions.length > 0) assert.equal(bench.transitions.at(-1)!.to, to);
      }
    });

  it('stays stopped after any request until it is reset', () => {
    const bench = new Bench().bring('engaged');
    bench.supervisor.estop('red button', bench.nowNs);
    for (const [event, happen] of Object.entries(EVENTS))
      if (event !== 'reset' && event !== 'fault') {
        happen(bench);
        assert.equal(bench.state, 'stopped', event);
        assert.equal(bench.supervisor.cause, 'red button');
        assert.equal(bench.driver.enabled, false);
      }
    assert.equal(bench.supervisor.reset(bench.supervisor.epoch, bench.nowNs), true);
    assert.equal(bench.state, 'idle');
    assert.equal(bench.send({ engagement: 9 }), 'not-armed');
  });

  it('stops the driver on every repeated e-stop', () => {
    const bench = new Bench().bring('engaged');
    for (let i = 1; i <= 3; i++) {
      const before = bench.driver.stops;
      bench.supervisor.estop('again', bench.nowNs);
      assert.ok(bench.driver.stops > before);
    }
  });

  it('resets only with the current epoch, and every reset starts a new one', () => {
    const bench = new Bench().bring('stopped');
    assert.equal(bench.supervisor.reset(0, bench.nowNs), false);
    assert.equal(bench.supervisor.reset(2, bench.nowNs), false);
    assert.equal(bench.state, 'stopped');
    assert.equal(bench.supervisor.reset(1, bench.nowNs), true);
    assert.equal(bench.supervisor.epoch, 2);
    assert.equal(bench.supervisor.reset(2, bench.nowNs), false, 'nothing to reset');
    assert.equal(bench.supervisor.epoch, 2);
  });

  it('stops when a driver fails to enable or write', () => {
    const powerless = new Bench().bring('idle');
    powerless.driver.enableStatus = 'fault';
    powerless.supervisor.arm(powerless.nowNs);
    assert.deepEqual(
      [powerless.state, powerless.supervisor.cause],
      ['stopped', 'driver failed to enable the joints'],
    );
    const failing = new Bench().bring('armed');
    failing.driver.writeStatus = 'fault';
    failing.send({});
    assert.deepEqual([failing.state, failing.supervisor.cause], ['stopped', 'driver rejected a write']);
  });

  it('stops when feedback is missing or NaN', () => {
    for (const spoil of [
      (driver: HostileDriver) => {
        driver.readStatus = 'stale';
      },
      (driver: HostileDriver) => void driver.measured.fill(Number.NaN),
    ]) {
      const bench = new Bench().bring('armed');
      bench.tick();
      spoil(bench.driver);
      for (let ms = 0; ms < 200; ms += 20) bench.tick(20);
      assert.equal(bench.state, 'armed');
      bench.tick(20);
      assert.deepEqual([bench.state, bench.supervisor.cause], ['stopped', 'no joint feedback']);
    }
  });

  it('waits for feedback while unpowered, and stops without it once powered', () => {
    const bench = new Bench().bring('idle');
    bench.tick();
    bench.driver.readStatus = 'stale';
    for (let ms = 0; ms < 3000; ms += 20) bench.tick(20);
    assert.equal(bench.state, 'idle');
    bench.driver.readStatus = 'ok';
    bench.supervisor.arm(bench.nowNs);
    for (let ms = 0; ms < 500; ms += 20) bench.tick(20);
    assert.equal(bench.state, 'armed');
    bench.driver.readStatus = 'stale';
    for (let ms = 0; ms <= 220; ms += 20) bench.tick(20);
    assert.equal(bench.state, 'stopped');
  });
});

describe('supervisor admission', () => {
  it('rejects commands of another epoch, too old or from the future', () => {
    const bench = new Bench().bring('armed');
    const admit = (values: Partial<JointCommand>) =>
      bench.supervisor.admit(bench.command(values, [0, 0]), bench.nowNs);
    assert.equal(admit({}), null);
    assert.equal(admit({ epoch: 0 }), 'wrong-epoch');
    assert.equal(admit({ epoch: 2 }), 'wrong-epoch');
    assert.equal(admit({ sampledRobotNs: bench.nowNs - 500 * MS }), null);
    assert.equal(admit({ sampledRobotNs: bench.nowNs - 500 * MS - 1 }), 'too-old');
    assert.equal(admit({ sampledRobotNs: bench.nowNs + 100 * MS }), null);
    assert.equal(admit({ sampledRobotNs: bench.nowNs + 100 * MS + 1 }), 'future-stamp');
    assert.equal(admit({ sampledRobotNs: Number.NaN }), null, 'not synchronized yet');
  });

  it('checks again at the command’s playout time', () => {
    const bench = new Bench().bring('armed');
    const command = bench.command({ sampledRobotNs: bench.nowNs - 400 * MS }, [0, 0]);
    assert.equal(bench.supervisor.submit(command, bench.nowNs + 101 * MS), 'too-old');
    assert.equal(bench.counters.get('too-old'), 1);
    bench.supervisor.estop('test', bench.nowNs);
    assert.equal(bench.supervisor.submit(bench.command({}, [0, 0]), bench.nowNs), 'stopped');
    bench.supervisor.reset(1, bench.nowNs);
    assert.equal(bench.supervisor.submit(bench.command({ epoch: 1 }, [0, 0]), bench.nowNs), 'wrong-epoch');
  });

  it('returns and counts the reason why a command does not move the robot', () => {
    const cases: [SupervisorState, Partial<JointCommand>, readonly number[], string][] = [
      ['disconnected', {}, [0, 0], 'not-armed'],
      ['idle', {}, [0, 0], 'not-armed'],
      ['stopped', {}, [0, 0], 'stopped'],
      ['armed', { tracking: false }, [0, 0], 'tracking-lost'],
      ['armed', { engagement: 0 }, [0, 0], 'not-engaged'],
      ['hold', { engagement: 1 }, [0, 0], 'old-engagement'],
      ['armed', {}, [Number.NaN, 0], 'non-finite'],
      ['engaged', {}, [0, Number.POSITIVE_INFINITY], 'non-finite'],
      ['engaged', { gripper: Number.NaN }, [0, 0], 'bad-range'],
      ['engaged', { gripper: 1.5 }, [0, 0], 'bad-range'],
      ['armed', {}, [0.16, 0], 'engage-jump'],
      ['armed', {}, [0, -0.16], 'engage-jump'],
    ];
    for (const [state, values, positions, reason] of cases) {
      const bench = new Bench().bring(state);
      const writes = bench.driver.writes.length;
      const before = bench.counters.get(reason as 'stopped');
      assert.equal(bench.supervisor.submit(bench.command(values, positions), bench.nowNs), reason);
      assert.equal(bench.counters.get(reason as 'stopped'), before + 1);
      assert.equal(bench.driver.writes.length, writes);
      assert.equal(bench.state, state);
    }
  });

  it('does not engage before the first joint reading', () => {
    const driver = new HostileDriver();
    driver.readStatus = 'stale';
    const bench = new Bench(driver).bring('idle');
    for (let ms = 0; ms < 5000; ms += 20) bench.tick(20);
    assert.equal(bench.state, 'idle', 'a device that has not answered yet is not a fault');
    bench.supervisor.arm(bench.nowNs);
    const rejected = ['idle', 'cannot arm: no joint reading from the driver yet'];
    assert.deepEqual([bench.state, bench.supervisor.cause], rejected);
    assert.equal(bench.send({}), 'not-armed');
    assert.equal(driver.enabled, false);
    driver.readStatus = 'ok';
    bench.tick();
    bench.supervisor.arm(bench.nowNs);
    bench.rest();
    assert.equal(bench.state, 'armed');
    assert.equal(bench.send({}), null);
  });

  it('ignores a reading that is not ok', () => {
    const bench = new Bench().bring('armed');
    bench.driver.measured.set([0.5, 0.25]);
    bench.driver.enable();
    bench.tick();
    for (const status of ['stale', 'fault'] as const) {
      bench.driver.readStatus = status;
      bench.tick();
      assert.deepEqual([...bench.supervisor.reading.positionsRad], [0.5, 0.25]);
      assert.deepEqual([...bench.supervisor.reading.velocitiesRadS], [0, 0]);
      assert.equal(bench.supervisor.reading.gripper, 0);
    }
  });

  it('rejects an ended engagement, but accepts the first of a new session', () => {
    const bench = new Bench().bring('hold');
    assert.equal(bench.supervisor.endedEngagement, 1);
    assert.equal(bench.send({ engagement: 1 }), 'old-engagement');
    assert.equal(bench.send({ engagement: 2 }), null);
    bench.supervisor.operatorJoined(false, bench.nowNs);
    bench.supervisor.arm(bench.nowNs);
    assert.equal(bench.send({ engagement: 2 }), 'old-engagement', 'resumed session');
    bench.supervisor.operatorJoined(true, bench.nowNs);
    bench.supervisor.arm(bench.nowNs);
    assert.equal(bench.supervisor.endedEngagement, 0);
    assert.equal(bench.send({ engagement: 1 }), null);
  });
});
