import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { startXarm, xarmOptions } from '../contract/driver-fixtures/xarm6.ts';
import { DriverRig } from './driver-rig.ts';

async function withRobot(
  work: (rig: DriverRig) => Promise<void>,
  options: Record<string, unknown> = {},
): Promise<void> {
  const sim = await startXarm();
  const rig = await DriverRig.open('xarm6', 'xarm6', { ...xarmOptions(sim.ready), ...options }, sim);
  try {
    await work(rig);
  } finally {
    await rig.close();
  }
}

async function faulted(rig: DriverRig, fault: RegExp): Promise<void> {
  await rig.until(() => rig.read() === 'fault', 2000, 'a fault is reported');
  await rig.until(() => fault.test(rig.driver.fault), 1000, `${fault}`);
  rig.driver.stop(monotonicClock.nowNs());
  assert.notEqual(rig.read(), 'fault', 'reported once, then readings continue');
}

describe('driver xarm6 against a simulated control box', () => {
  it('follows and reports velocities', async () => {
    await withRobot(async (rig) => {
      assert.equal(await rig.enable(), 'ok');
      const startRad = rig.reading.positionsRad[0]!;
      assert.deepEqual([...(await rig.sweep(800, 0.5))], ['ok']);
      const swept = rig.reading.positionsRad[0]! - startRad;
      assert.ok(swept > 0.25 && swept < 0.45, `${swept} rad`);
      assert.ok(
        Math.abs(rig.reading.velocitiesRadS[0]! - 0.5) < 0.3,
        `${rig.reading.velocitiesRadS[0]} rad/s`,
      );
    });
  });

  for (const [word, name] of [
    ['estop', 'e-stop button'],
    ['collision', 'collision'],
    ['warning', 'command buffer full'],
  ] as const)
    it(`reports its ${name} and recovers when armed after it`, async () => {
      await withRobot(async (rig) => {
        assert.equal(await rig.enable(), 'ok');
        await rig.sweep(200, 0.5);
        rig.say(word);
        await faulted(rig, new RegExp(name));
        if (word === 'estop') {
          assert.equal(await rig.enable(), 'fault', 'while it is pressed');
          assert.match(rig.driver.fault, /e-stop button/);
          rig.driver.stop(monotonicClock.nowNs());
          rig.say('release');
        }
        await rig.cycles(300);
        const rest = rig.reading.positionsRad[0]!;
        await rig.cycles(200);
        assert.equal(rig.reading.positionsRad[0], rest, 'nothing moves by itself');
        assert.equal(await rig.enable(), 'ok');
        assert.equal(rig.driver.fault, '');
      });
    });

  it('stops the arm when the control loop stalls', async () => {
    await withRobot(
      async (rig) => {
        assert.equal(await rig.enable(), 'ok');
        await rig.sweep(200, 0.5);
        await sleep(500);
        await faulted(rig, /control loop silent/);
      },
      { watchdogMs: 200 },
    );
  });

  it('reconnects after a lost connection but moves nothing until enabled', async () => {
    await withRobot(async (rig) => {
      assert.equal(await rig.enable(), 'ok');
      rig.say('cut');
      await rig.until(() => rig.read() === 'fault', 2000, 'a fault is reported');
      rig.driver.stop(monotonicClock.nowNs());
      await rig.until(() => rig.read() === 'ok', 5000, 'readings are back');
      assert.match(rig.driver.fault, /lost/);
      assert.equal(rig.driver.write(monotonicClock.nowNs(), rig.reading.positionsRad, 0), 'fault');
      assert.equal(await rig.enable(), 'ok');
    });
  });

  it('detects that reports have stopped', async () => {
    await withRobot(async (rig) => {
      assert.equal(await rig.enable(), 'ok');
      rig.say('silence');
      await faulted(rig, /lost: silent/);
      assert.equal(rig.read(), 'stale');
    });
  });

  it('rejects a jump', async () => {
    await withRobot(async (rig) => {
      assert.equal(await rig.enable(), 'ok');
      const leap = rig.reading.positionsRad.slice();
      leap[1] = leap[1]! + 0.4;
      assert.equal(rig.driver.write(monotonicClock.nowNs(), leap, 0), 'fault');
      assert.match(rig.driver.fault, /step of joint 2/);
    });
  });
});
