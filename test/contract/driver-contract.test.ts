import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { loadPlugin, pluginConfig, pluginNames } from '../../src/app/registry.ts';
import { loadModel } from '../../src/app/robot-models.ts';
import { TeleopError } from '../../src/core/errors.ts';
import { type Driver, type DriverPlugin, emptyReading, type JointReading } from '../../src/robot/driver.ts';

/** Settings under which a driver can be opened here, where its defaults are not enough. */
const OPTIONS: Record<string, Record<string, unknown>> = {};
/** Drivers that cannot be opened here, each with the reason. */
const SKIP: Record<string, string> = {};

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const model = loadModel('ur3');
const joints = model.joints.length;
const MS = 1e6;
const START_NS = 20e9;
/** Encoder noise and a controller's own idea of rest. */
const STILL_RAD = 2e-3;

/** An open driver on its own clock, and its newest reading. */
class Arm {
  readonly driver: Driver;
  readonly reading: JointReading = emptyReading(joints);
  nowNs = START_NS;

  constructor(driver: Driver) {
    this.driver = driver;
  }

  read(): number[] {
    this.reading.positionsRad.fill(Number.NaN);
    assert.equal(this.driver.read(this.nowNs, this.reading), 'ok');
    return [...this.reading.positionsRad];
  }

  /** Runs control cycles of 5 ms; `targetRad` is written in each and spoilt afterwards. */
  run(ms: number, targetRad: readonly number[] | null = null): number[] {
    const target = new Float64Array(joints);
    for (let t = 0; t < ms; t += 5) {
      this.nowNs += 5 * MS;
      this.driver.read(this.nowNs, this.reading);
      if (targetRad === null) continue;
      target.set(targetRad);
      this.driver.write(this.nowNs, target, 0.5);
      target.fill(Number.NaN);
    }
    return this.read();
  }
}

function assertNear(actual: readonly number[], expected: readonly number[], toleranceRad = STILL_RAD): void {
  actual.forEach((rad, i) => {
    assert.ok(Math.abs(rad - expected[i]!) <= toleranceRad, `joint ${i}: ${rad} is not ${expected[i]}`);
  });
}

const shifted = (from: readonly number[], byRad: number): number[] => from.map((rad) => rad + byRad);

for (const name of pluginNames('driver')) {
  describe(`driver ${name}`, { skip: SKIP[name] ?? false }, async () => {
    const plugin: DriverPlugin<unknown> = await loadPlugin('driver', name);
    const options = OPTIONS[name] ?? {};
    const open = async () =>
      new Arm(
        await plugin.open(pluginConfig('driver', name, plugin, options), model, { nowNs: () => START_NS }),
      );

    it('says what it is', () => {
      assert.ok(plugin.about.length > 10);
    });

    it('knows its joints with no hardware attached', () => {
      const names = plugin.joints(pluginConfig('driver', name, plugin, options), model);
      assert.equal(names.length, joints);
      assert.equal(new Set(names).size, joints);
      assert.ok(names.every((joint) => joint.length > 0));
    });

    it('refuses settings that it does not know', () => {
      assert.throws(
        () => pluginConfig('driver', name, plugin, { ...options, noSuchSetting: 1 }),
        (error) => error instanceof TeleopError && error.code === 'bad-config',
      );
      for (const wrong of [5, 'text', [1]])
        assert.throws(() => pluginConfig('driver', name, plugin, wrong), TeleopError);
    });

    it('reads a whole, stamped, finite pose', async () => {
      const arm = await open();
      let lastNs = Number.NEGATIVE_INFINITY;
      for (let i = 0; i < 20; i++) {
        arm.nowNs += 5 * MS;
        arm.read();
        const { robotNs, positionsRad, velocitiesRadS, gripper } = arm.reading;
        assert.ok([...positionsRad, ...velocitiesRadS, gripper].every(Number.isFinite));
        assert.ok(gripper >= 0 && gripper <= 1);
        assert.ok(robotNs <= arm.nowNs && robotNs >= arm.nowNs - 1000 * MS, 'when the values were true');
        assert.ok(robotNs >= lastNs);
        lastNs = robotNs;
      }
      arm.driver.dispose();
    });

    it('keeps no reference to the reading it fills', async () => {
      const arm = await open();
      const first = arm.read();
      arm.reading.positionsRad.fill(7);
      arm.reading.velocitiesRadS.fill(7);
      const other = emptyReading(joints);
      arm.driver.read(arm.nowNs, other);
      assertNear([...other.positionsRad], first);
      arm.driver.dispose();
    });

    it('does not move when it is enabled', async () => {
      const arm = await open();
      const rest = arm.read();
      assert.equal(arm.driver.enable(arm.nowNs), 'ok');
      assert.equal(arm.driver.enable(arm.nowNs), 'ok');
      assertNear(arm.run(1000), rest);
      arm.driver.dispose();
    });

    it('does not move by a write before it is enabled, nor afterwards because of it', async () => {
      const arm = await open();
      const rest = arm.read();
      assertNear(arm.run(500, shifted(rest, 0.2)), rest);
      assert.equal(arm.driver.enable(arm.nowNs), 'ok');
      assertNear(arm.run(500), rest);
      arm.driver.dispose();
    });

    it('goes where it is told', async () => {
      const arm = await open();
      const goal = shifted(arm.read(), 0.1);
      arm.driver.enable(arm.nowNs);
      assertNear(arm.run(3000, goal), goal, 0.01);
      arm.driver.dispose();
    });

    it('comes to rest when it is stopped and ignores writes until it is enabled again', async () => {
      const arm = await open();
      const away = shifted(arm.read(), 1);
      arm.driver.enable(arm.nowNs);
      arm.run(200, away);
      arm.driver.stop(arm.nowNs);
      const rest = arm.run(1000, away);
      assertNear(arm.run(500, away), rest);
      assert.ok(Math.abs(rest[0]! - away[0]!) > 0.05, 'it was stopped on its way');
      assert.equal(arm.driver.enable(arm.nowNs), 'ok');
      assertNear(arm.run(500), rest);
      arm.driver.dispose();
    });

    it('may be stopped in any state, any number of times', async () => {
      const arm = await open();
      const rest = arm.read();
      for (let i = 0; i < 3; i++) arm.driver.stop(arm.nowNs);
      arm.driver.enable(arm.nowNs);
      for (let i = 0; i < 3; i++) arm.driver.stop(arm.nowNs);
      assertNear(arm.run(200), rest);
      arm.driver.dispose();
      for (let i = 0; i < 3; i++) arm.driver.stop(arm.nowNs);
    });

    it('is at fault once it is disposed of, without a throw', async () => {
      const arm = await open();
      arm.driver.enable(arm.nowNs);
      arm.driver.dispose();
      arm.driver.dispose();
      for (let i = 0; i < 3; i++) {
        arm.nowNs += 5 * MS;
        assert.equal(arm.driver.read(arm.nowNs, arm.reading), 'fault');
        assert.equal(arm.driver.write(arm.nowNs, new Float64Array(joints), 0), 'fault');
        assert.equal(arm.driver.enable(arm.nowNs), 'fault');
      }
    });

    it('is read and written twenty thousand times without a throw and keeps nothing of it', async () => {
      const arm = await open();
      const target = Float64Array.from(arm.read());
      arm.driver.enable(arm.nowNs);
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
      // Compiled code may account for half of it; 75 bytes per cycle may not.
      assert.ok(kept < 1_500_000, `${kept} bytes kept of 20,000 cycles`);
      arm.driver.dispose();
    });

    it('survives a clock that stands still and one that leaps', async () => {
      const arm = await open();
      const rest = arm.read();
      arm.driver.enable(arm.nowNs);
      for (const leapMs of [0, 0, 60_000, 0, 3_600_000]) {
        arm.nowNs += leapMs * MS;
        assert.notEqual(arm.driver.write(arm.nowNs, Float64Array.from(rest), 0), 'fault');
        assertNear(arm.read(), rest);
      }
      arm.driver.dispose();
    });
  });
}
