import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openThreaded } from '../../src/app/open-driver.ts';
import { Counters } from '../../src/core/counters.ts';
import { ManualClock, monotonicClock } from '../../src/core/time/clock.ts';
import type { TickStatus } from '../../src/messages/robot-state.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { type Driver, emptyReading, type JointReading, type WriteResult } from '../../src/robot/driver.ts';
import { createDriverMemory } from '../../src/robot/driver-thread/driver-boards.ts';
import { DriverLoop } from '../../src/robot/driver-thread/driver-loop.ts';
import { ThreadedDriver } from '../../src/robot/driver-thread/threaded-driver.ts';

const MS = 1e6;

/** Takes three passes to enable; records its calls. */
class SlowDriver implements Driver {
  busErrors = 0;
  fault = '';
  readonly calls: string[] = [];
  readonly writes: number[] = [];
  enabling = 3;
  readStatus: TickStatus = 'ok';

  enable(): TickStatus {
    this.calls.push('enable');
    return --this.enabling > 0 ? 'stale' : 'ok';
  }

  read(nowNs: number, out: JointReading): TickStatus {
    out.robotNs = nowNs - 2 * MS;
    out.positionsRad.fill(0.25);
    out.gripper = 0.5;
    return this.readStatus;
  }

  onWrite = (): TickStatus => 'ok';

  write(_nowNs: number, positionsRad: Float64Array): TickStatus {
    this.writes.push(positionsRad[0]!);
    return this.onWrite();
  }

  stop(): void {
    this.calls.push('stop');
  }

  dispose(): void {
    this.calls.push('dispose');
  }
}

function bench() {
  const clock = new ManualClock();
  const memory = createDriverMemory(2);
  const device = new SlowDriver();
  const counters = new Counters();
  const loop = new DriverLoop(device, memory, 2, clock, counters);
  const driver = new ThreadedDriver(memory, 2);
  const reading = emptyReading(2);
  const cycle = () => {
    clock.advanceBy(5 * MS);
    const status = driver.read(clock.nowNs(), reading);
    loop.onWake();
    return status;
  };
  return { clock, counters, device, loop, driver, reading, cycle };
}

function powered() {
  const parts = bench();
  parts.cycle();
  for (let i = 0; i < 5 && parts.driver.enable(parts.clock.nowNs()) !== 'ok'; i++) parts.cycle();
  assert.equal(parts.driver.enable(parts.clock.nowNs()), 'ok');
  return parts;
}

describe('a driver in its own thread', () => {
  it('is enabled once its thread reports it, not before', () => {
    const { clock, device, driver, cycle } = bench();
    cycle();
    const seen: TickStatus[] = [];
    for (let i = 0; i < 5; i++) {
      seen.push(driver.enable(clock.nowNs()));
      cycle();
    }
    assert.deepEqual(seen, ['stale', 'stale', 'stale', 'ok', 'ok']);
    assert.deepEqual(device.calls, ['enable', 'enable', 'enable']);
  });

  it('returns the newest reading with its measurement time', () => {
    const { clock, reading, cycle } = bench();
    assert.equal(cycle(), 'stale');
    const tookNs = clock.nowNs();
    assert.equal(cycle(), 'ok');
    assert.equal(reading.robotNs, tookNs - 2 * MS);
    assert.deepEqual([...reading.positionsRad], [0.25, 0.25]);
    assert.equal(reading.gripper, 0.5);
  });

  it('writes only the newest target, and none from before it was enabled', () => {
    const { clock, device, driver, loop } = powered();
    for (const rad of [1, 2, 3]) driver.write(clock.nowNs(), Float64Array.of(rad, 0), 0);
    loop.onWake();
    loop.onWake();
    assert.deepEqual(device.writes, [3]);
  });

  it('stops before anything else, and ignores targets until it is enabled again', () => {
    const { clock, device, driver, loop } = powered();
    driver.write(clock.nowNs(), Float64Array.of(1, 0), 0);
    driver.stop();
    loop.onWake();
    assert.deepEqual(device.writes, []);
    assert.equal(device.calls.at(-1), 'stop');
    assert.equal(driver.write(clock.nowNs(), Float64Array.of(2, 0), 0), 'ok');
    loop.onWake();
    assert.deepEqual(device.writes, []);
    device.enabling = 1;
    driver.enable(clock.nowNs());
    loop.onWake();
    assert.equal(driver.enable(clock.nowNs()), 'ok');
    driver.write(clock.nowNs(), Float64Array.of(4, 0), 0);
    loop.onWake();
    assert.deepEqual(device.writes, [4]);
  });

  it('stops even when it is enabled again before the thread runs', () => {
    const { clock, device, driver, loop } = powered();
    device.enabling = 1;
    device.calls.length = 0;
    driver.stop();
    driver.enable(clock.nowNs());
    driver.write(clock.nowNs(), Float64Array.of(1, 0), 0);
    loop.onWake();
    assert.deepEqual(device.calls, ['stop', 'enable']);
    assert.deepEqual(device.writes, [], 'a target from before the stop is discarded');
  });

  it('stops the robot when the control loop is silent, and reports a fault until enabled again', () => {
    const { clock, device, driver, loop, cycle } = powered();
    clock.advanceBy(140 * MS);
    loop.watch();
    assert.ok(!device.calls.includes('stop'));
    clock.advanceBy(20 * MS);
    loop.watch();
    assert.equal(device.calls.at(-1), 'stop');
    cycle();
    cycle();
    assert.equal(cycle(), 'fault', 'also without a write');
    assert.equal(driver.write(clock.nowNs(), Float64Array.of(1, 0), 0), 'fault');
    assert.match(driver.fault, /no message from the control loop/);
    assert.deepEqual(device.writes, []);
  });

  it('reports a stalled thread', () => {
    const { clock, driver, reading } = powered();
    for (let ms = 0; ms < 245; ms += 5) {
      clock.advanceBy(5 * MS);
      assert.equal(driver.read(clock.nowNs(), reading), 'ok');
    }
    clock.advanceBy(20 * MS);
    assert.equal(driver.read(clock.nowNs(), reading), 'fault');
    assert.match(driver.fault, /is not responding/);
  });

  it('passes on the fault of the device', () => {
    const { device, driver, cycle } = powered();
    device.fault = 'joint 3 too hot';
    device.readStatus = 'fault';
    cycle();
    assert.equal(cycle(), 'fault');
    assert.equal(driver.fault, 'joint 3 too hot');
  });

  it('counts each bus error once', () => {
    const { counters, device, cycle } = bench();
    for (const [errors, counted] of [
      [0, 0],
      [3, 3],
      [3, 3],
      [10, 10],
    ]) {
      device.busErrors = errors!;
      cycle();
      assert.equal(counters.get('bus-error'), counted);
    }
  });

  it('reports each write with the time it returned, and none for a replaced target', () => {
    const { clock, device, driver, loop } = powered();
    const results = () => {
      const found: WriteResult[] = [];
      const result = { number: 0, writtenNs: 0, isFault: false };
      while (driver.handOver.next(result)) found.push({ ...result });
      return found;
    };
    const write = (rad: number) => driver.write(clock.nowNs(), Float64Array.of(rad, 0), 0);
    device.onWrite = () => {
      clock.advanceBy(20 * MS);
      return 'ok';
    };
    write(1);
    write(2);
    const handedNs = clock.nowNs();
    clock.advanceBy(3 * MS);
    loop.onWake();
    loop.onWake();
    assert.equal(driver.handOver.newest, 2);
    assert.deepEqual(results(), [{ number: 2, writtenNs: handedNs + 23 * MS, isFault: false }]);
    device.onWrite = () => 'fault';
    write(3);
    loop.onWake();
    assert.deepEqual(results(), [{ number: 3, writtenNs: Number.NaN, isFault: true }]);
  });

  it('reports a target that was not written because of a stop', () => {
    const { clock, device, driver, loop } = powered();
    driver.write(clock.nowNs(), Float64Array.of(1, 0), 0);
    driver.stop();
    loop.onWake();
    const result = { number: 0, writtenNs: 0, isFault: true };
    assert.ok(driver.handOver.next(result));
    assert.deepEqual(result, { number: 1, writtenNs: Number.NaN, isFault: false });
    assert.deepEqual(device.writes, []);
  });

  it('stamps writes in a real thread on the control thread’s clock', async (t) => {
    const model = loadModel('ur3');
    const { driver, close } = await openThreaded({ name: 'sim', options: { writeMs: 20 }, model });
    t.after(close);
    const result = { number: 0, writtenNs: Number.NaN, isFault: false };
    const target = Float64Array.from(model.homeRad);
    const handOver = driver.handOver!;
    let handedNs = Number.NaN;
    for (const untilMs = performance.now() + 30_000; Number.isNaN(result.writtenNs); await sleep(5)) {
      assert.ok(performance.now() < untilMs, `no write in 30 s: ${driver.fault}`);
      const nowNs = monotonicClock.nowNs();
      if (driver.enable(nowNs) === 'ok' && handOver.newest === result.number) {
        handedNs = nowNs;
        driver.write(nowNs, target, 0);
      }
      // If this test stalls, the driver thread stops the arm: it must be enabled again.
      if (handOver.next(result) && Number.isNaN(result.writtenNs)) driver.stop(nowNs);
    }
    const seenNs = monotonicClock.nowNs();
    assert.ok(result.writtenNs - handedNs >= 20 * MS, `${result.writtenNs - handedNs} ns`);
    assert.ok(result.writtenNs <= seenNs);
  });

  it('works across real threads: the simulated arm follows and stops', async (t) => {
    const model = loadModel('ur3');
    const { driver, close } = await openThreaded({ name: 'sim', options: {}, model });
    const reading = emptyReading(6);
    const target = Float64Array.from(model.homeRad);
    target[0]! += 0.1;
    const cycle = async (work: (nowNs: number) => void) => {
      work(monotonicClock.nowNs());
      await sleep(5);
    };
    t.after(close);
    const fromNs = monotonicClock.nowNs();
    const untilMs = performance.now() + 30_000;
    // If this test stalls, the driver thread stops the arm: enable it again.
    while (!(Math.abs(reading.positionsRad[0]! - target[0]!) < 0.01) || reading.robotNs < fromNs) {
      assert.ok(
        performance.now() < untilMs,
        `not there in 30 s: ${reading.positionsRad[0]}, ${driver.fault}`,
      );
      await cycle((nowNs) => {
        driver.read(nowNs, reading);
        if (driver.enable(nowNs) === 'ok') driver.write(nowNs, target, 0);
      });
    }
    driver.stop(monotonicClock.nowNs());
    target[0]! += 0.5;
    for (let n = 0; n < 20; n++)
      await cycle((nowNs) => {
        driver.write(nowNs, target, 0);
        driver.read(nowNs, reading);
      });
    assert.ok(target[0]! - reading.positionsRad[0]! > 0.45, 'at rest');
  });

  it('reports why a driver does not open', async () => {
    const model = loadModel('ur3');
    await assert.rejects(openThreaded({ name: 'sim', options: { speeed: 1 }, model }), {
      code: 'bad-config',
    });
  });
});
