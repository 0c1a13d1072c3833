import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pluginConfig } from '../app/registry.ts';
import { TeleopError } from '../core/errors.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import { collectGarbage } from '../native/garbage.ts';
import { type DriverPlugin, emptyReading } from '../robot/driver.ts';
import { garbagePerCall } from './allocation.ts';
import type { DeviceFixture } from './device-fixture.ts';
import { type Arm, DriverBench } from './driver-bench.ts';
import { describeDeviceEstop } from './driver-estop.ts';

const MS = 1e6;
/** Encoder noise and a controller's residual motion at rest. */
const STILL_RAD = 2e-3;
/** After a stop, on a manual clock. */
const REST_MS = 300;
/** A read and a write are a small part of a control cycle. */
const MOST_MS = 2;
/** Boxed numbers that cross the calls: a few per cycle. An array or an object per call is more. */
const MOST_BYTES = 128;

function assertNear(actual: readonly number[], expected: readonly number[], toleranceRad = STILL_RAD): void {
  actual.forEach((rad, i) => {
    assert.ok(Math.abs(rad - expected[i]!) <= toleranceRad, `joint ${i}: ${rad} is not ${expected[i]}`);
  });
}

/**
 * Registers the tests that every driver passes, with `node:test`. Without a device they run on a manual clock; with one, in
 * real time, against a device restarted for each test.
 */
export function testRobot(
  name: string,
  plugin: DriverPlugin<unknown>,
  model: RobotModel,
  fixture: DeviceFixture | null = null,
): void {
  const joints = model.joints.length;
  const bench = new DriverBench(name, plugin, model, fixture);
  const sagRad = Math.max(STILL_RAD, fixture?.recoverySagRad ?? 0);
  const skip = fixture?.skip || false;
  const concurrency = fixture?.atOnce ?? 1;

  describe(`driver ${name}`, { skip, concurrency }, () => {
    it('describes itself', () => {
      assert.ok(plugin.about.length > 10, '`about` says in more than ten letters what it drives');
    });

    it('rejects unknown settings', () => {
      const options = fixture?.options ?? {};
      assert.throws(
        () => pluginConfig('driver', name, plugin, { ...options, noSuchSetting: 1 }),
        (error) => error instanceof TeleopError && error.code === 'bad-config',
      );
      for (const wrong of [5, 'text', [1]])
        assert.throws(() => pluginConfig('driver', name, plugin, wrong), TeleopError);
    });

    it('reads a complete, stamped, finite pose', async () => {
      await bench.with(async (arm) => {
        let lastNs = Number.NEGATIVE_INFINITY;
        for (let i = 0; i < 20; i++) {
          await arm.run(5);
          arm.read();
          const { robotNs, positionsRad, velocitiesRadS, gripper } = arm.reading;
          assert.ok([...positionsRad, ...velocitiesRadS, gripper].every(Number.isFinite));
          assert.ok(gripper >= 0 && gripper <= 1);
          for (const torques of [arm.reading.effortsNm, arm.reading.externalNm])
            assert.ok(
              torques.every(Number.isFinite) || torques.every(Number.isNaN),
              'known for all joints or none',
            );
          assert.ok(
            robotNs <= arm.nowNs && robotNs >= arm.nowNs - 1000 * MS,
            'stamped with the time of measurement',
          );
          assert.ok(robotNs >= lastNs);
          lastNs = robotNs;
        }
        if (fixture?.touch === undefined) return;
        const { effortsNm, externalNm, gripperN } = arm.reading;
        const known = { effort: effortsNm, external: externalNm, gripper: [gripperN] };
        const reported = Object.entries(known).filter(([, values]) => values.every(Number.isFinite));
        assert.deepEqual(
          reported.map(([what]) => what),
          fixture.touch,
          'torques and forces that it reports',
        );
      });
    });

    it('keeps no reference to the reading it fills', async () => {
      await bench.with(async (arm) => {
        const first = arm.read();
        arm.reading.positionsRad.fill(7);
        arm.reading.velocitiesRadS.fill(7);
        const other = emptyReading(joints);
        arm.driver.read(arm.nowNs, other);
        assertNear([...other.positionsRad], first);
      });
    });

    it('does not move when enabled', async () => {
      await bench.with(async (arm) => {
        const rest = arm.read();
        assert.equal(await arm.enable(), 'ok');
        assert.equal(await arm.enable(), 'ok');
        assert.equal(arm.driver.fault, '');
        assertNear(await arm.run(400), rest);
      });
    });

    it('ignores writes before it is enabled, also once enabled', async () => {
      await bench.with(async (arm) => {
        const rest = arm.read();
        assertNear(await arm.run(250, arm.shifted(rest, 0.2)), rest);
        assert.equal(await arm.enable(), 'ok');
        assertNear(await arm.run(250), rest);
      });
    });

    it('moves to its target', async () => {
      await bench.with(async (arm) => {
        const goal = arm.shifted(arm.read(), 0.1);
        assert.equal(await arm.enable(), 'ok');
        const toleranceRad = fixture?.toleranceRad ?? 0.01;
        const reached = await arm.run(1000, goal);
        const isThere = reached.every((rad, i) => Math.abs(rad - goal[i]!) <= toleranceRad);
        assertNear(await arm.run(isThere ? 100 : 2000, goal), goal, toleranceRad);
      });
    });

    it('comes to rest when stopped and ignores writes until enabled again', async () => {
      await bench.with(async (arm) => {
        const from = arm.read();
        const away = arm.shifted(from, 1);
        assert.equal(await arm.enable(), 'ok');
        // Short enough that even a fast joint has not arrived.
        await arm.run(Math.min(200, 600 / model.joints[0]!.maxVelocityRadS), away);
        arm.driver.stop(arm.nowNs);
        const rest = await arm.run(1000, away);
        assertNear(await arm.run(300, away), rest);
        assert.ok(Math.abs(rest[0]! - away[0]!) > 0.05, 'stopped before it arrived');
        assert.ok(Math.abs(rest[0]! - from[0]!) > 0.005, 'had started moving');
        assert.equal(await arm.enable(), 'ok');
        assertNear(await arm.run(300), rest, sagRad);
      });
    });

    it('follows again after each stop, once it is enabled', async () => {
      await bench.with(async (arm) => {
        assert.equal(await arm.enable(), 'ok');
        for (let round = 0; round < 2; round++) {
          arm.driver.stop(arm.nowNs);
          await arm.run(100);
          assert.equal(await arm.enable(), 'ok', `can be enabled after a stop: ${arm.driver.fault}`);
          assert.equal(arm.driver.fault, '', 'nothing of the stop stays set');
          const from = arm.read();
          const reached = await arm.run(600, arm.shifted(from, 0.05));
          assert.deepEqual([...arm.answers], ['ok'], arm.driver.fault);
          assert.ok(Math.abs(reached[0]! - from[0]!) > 0.02, 'its first joint moves again');
        }
      });
    });

    it('accepts a stop in any state, any number of times', async () => {
      await bench.with(async (arm) => {
        const rest = arm.read();
        for (let i = 0; i < 3; i++) arm.driver.stop(arm.nowNs);
        arm.driver.enable(arm.nowNs);
        for (let i = 0; i < 3; i++) arm.driver.stop(arm.nowNs);
        assertNear(await arm.run(200), rest, sagRad);
        assert.equal(await arm.enable(), 'ok', 'can be enabled afterwards');
        arm.driver.stop(arm.nowNs);
        arm.driver.dispose();
        for (let i = 0; i < 3; i++) arm.driver.stop(arm.nowNs);
      });
    });

    it('reports a fault once disposed, without throwing', async () => {
      await bench.with(async (arm) => {
        await arm.enable();
        arm.driver.dispose();
        arm.driver.dispose();
        for (let i = 0; i < 3; i++) {
          await arm.run(5);
          assert.equal(arm.driver.read(arm.nowNs, arm.reading), 'fault');
          assert.equal(arm.driver.write(arm.nowNs, new Float64Array(joints), 0), 'fault');
          assert.equal(arm.driver.enable(arm.nowNs), 'fault');
        }
      });
    });
  });

  if (fixture === null) withoutHardware(name, bench);
  else {
    withHardware(name, bench, skip, concurrency);
    describeDeviceEstop(name, bench, fixture);
  }
}

/** Also before thousands of cycles: with a driver that waits they would take minutes. */
function assertQuick(arm: Arm, target: Float64Array): void {
  const durationsMs = Array.from({ length: 51 }, () => {
    arm.nowNs += 5 * MS;
    const startedMs = performance.now();
    arm.driver.read(arm.nowNs, arm.reading);
    arm.driver.write(arm.nowNs, target, 0);
    return performance.now() - startedMs;
  }).sort((a, b) => a - b);
  assert.ok(durationsMs[25]! < MOST_MS, `a read and a write take ${durationsMs[25]} ms: they never wait`);
}

function withoutHardware(name: string, bench: DriverBench): void {
  describe(`driver ${name} on a manual clock`, () => {
    it('runs twenty thousand cycles without throwing or leaking memory', async () => {
      await bench.with(async (arm) => {
        const target = Float64Array.from(arm.read());
        await arm.enable();
        assertQuick(arm, target);
        const cycles = (count: number): string => {
          const answers = new Set<string>();
          for (let i = 0; i < count; i++) {
            arm.nowNs += 5 * MS;
            answers.add(arm.driver.read(arm.nowNs, arm.reading));
            answers.add(arm.driver.write(arm.nowNs, target, 0));
          }
          return [...answers].join();
        };
        cycles(5000);
        collectGarbage();
        const before = process.memoryUsage().heapUsed;
        assert.equal(cycles(20_000), 'ok');
        collectGarbage();
        const kept = process.memoryUsage().heapUsed - before;
        // Compiled code may account for half of it; 75 bytes per cycle is a leak.
        assert.ok(kept < 1_500_000, `${kept} bytes kept of 20,000 cycles`);
      });
    });

    it('answers at once', async () => {
      await bench.with(async (arm) => {
        const target = Float64Array.from(arm.read());
        await arm.enable();
        assertQuick(arm, target);
      });
    });

    it('allocates nothing in its cycles', async () => {
      await bench.with(async (arm) => {
        const target = Float64Array.from(arm.read());
        await arm.enable();
        assertQuick(arm, target);
        const bytes = garbagePerCall(() => {
          arm.nowNs += 5 * MS;
          arm.driver.read(arm.nowNs, arm.reading);
          arm.driver.write(arm.nowNs, target, 0);
        }, MOST_BYTES);
        assert.ok(bytes <= MOST_BYTES, `${Math.round(bytes)} bytes of garbage per read and write`);
      });
    });

    it('rests soon after a stop, wherever its target was', async () => {
      await bench.with(async (arm) => {
        const away = Float64Array.from(arm.shifted(arm.read(), 1));
        await arm.enable();
        await arm.run(50);
        // As far ahead of the arm as the supervisor's targets never are: what matters is that the stop forgets it.
        arm.driver.write(arm.nowNs, away, 0);
        await arm.run(50);
        arm.driver.stop(arm.nowNs);
        const rest = await arm.run(REST_MS);
        assertNear(await arm.run(1000), rest);
        assert.ok(Math.abs(rest[0]! - away[0]!) > 0.05, 'stopped before it arrived');
      });
    });

    it('survives a clock that stands still and one that jumps', async () => {
      await bench.with(async (arm) => {
        const rest = arm.read();
        await arm.enable();
        for (const leapMs of [0, 0, 60_000, 0, 3_600_000]) {
          arm.nowNs += leapMs * MS;
          assert.notEqual(arm.driver.write(arm.nowNs, Float64Array.from(rest), 0), 'fault');
          assertNear(arm.read(), rest);
        }
      });
    });
  });
}

function withHardware(name: string, bench: DriverBench, skip: string | false, concurrency: number): void {
  describe(`driver ${name} and its device`, { skip, concurrency }, () => {
    it('runs for seconds without faults, with fresh readings', async () => {
      await bench.with(async (arm) => {
        const target = arm.read();
        assert.equal(await arm.enable(), 'ok');
        const agesNs: number[] = [];
        for (let i = 0; i < 10; i++) {
          await arm.run(100, target);
          assert.deepEqual([...arm.answers], ['ok'], arm.driver.fault);
          agesNs.push(arm.nowNs - arm.reading.robotNs);
        }
        // A busy machine may occasionally stall either side.
        const [, , , , medianNs = 0] = agesNs.sort((a, b) => a - b);
        assert.ok(medianNs < 200 * MS, `readings are ${medianNs / MS} ms old`);
      });
    });

    for (const enabled of [false, true])
      it(`reports a dead peer, ${enabled ? 'enabled' : 'not enabled'}, and never throws`, async () => {
        await bench.with(async (arm, device) => {
          const target = arm.read();
          if (enabled) assert.equal(await arm.enable(), 'ok');
          device!.kill();
          const isKnown = () => arm.driver.fault !== '' && arm.isBlind();
          for (let i = 0; i < 200 && !isKnown(); i++) await arm.run(50, target, false);
          assert.notEqual(arm.driver.fault, '', 'reports a fault text');
          assert.ok(arm.isBlind(), 'fault, stale, or a reading with an old stamp');
          assert.notEqual(arm.driver.enable(arm.nowNs), 'ok', 'nothing to enable');
          arm.driver.stop(arm.nowNs);
        });
      });

    it('fails to open without a device, with a hint', async () => {
      const device = await bench.startDevice();
      device.kill();
      await device.stop();
      await assert.rejects(
        () => bench.open(device.options),
        (error) => error instanceof TeleopError && error.hint.length > 10,
      );
    });
  });
}
