import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { robotModelSchema } from '../../../geometry/robot-model.ts';
import { emptyReading } from '../../driver.ts';
import sim from './index.ts';

const dh = { aM: 0, dM: 0, alphaRad: 0 };
const limits = { minRad: -3, maxRad: 3, maxVelocityRadS: 2, maxAccelerationRadS2: 10 };
const model = robotModelSchema.parse({
  name: 'two',
  title: 'two joints',
  family: 'ur',
  homeRad: [0.5, -0.5],
  gripper: true,
  joints: [
    { name: 'a', ...limits, dh },
    { name: 'b', ...limits, maxVelocityRadS: 1, dh },
  ],
});
const MS = 1e6;
const open = (settings: object = {}) => sim.open(sim.config.parse(settings), model, { nowNs: () => 0 });

describe('simulated arm', () => {
  it('starts at home, at rest', async () => {
    const driver = await open();
    const reading = emptyReading(2);
    driver.read(0, reading);
    assert.deepEqual([...reading.positionsRad], [0.5, -0.5]);
    assert.deepEqual([...reading.velocitiesRadS], [0, 0]);
  });

  it('never exceeds the velocity and acceleration of its joints, for any targets', async () => {
    const target = fc.float64Array({ minLength: 2, maxLength: 2, min: -3, max: 3, noNaN: true });
    const step = fc.record({
      target,
      ms: fc.integer({ min: 1, max: 60 }),
      stop: fc.nat(20),
      enable: fc.nat(3),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const driver = await open();
        driver.enable(0);
        const before = emptyReading(2);
        const after = emptyReading(2);
        let nowNs = 0;
        driver.read(nowNs, before);
        for (const { target: goal, ms, stop, enable } of steps) {
          if (stop === 0) driver.stop(nowNs);
          if (enable === 0) driver.enable(nowNs);
          driver.write(nowNs, goal, 0.5);
          for (let i = 0; i < ms; i++) {
            nowNs += MS;
            driver.read(nowNs, after);
            model.joints.forEach(({ maxVelocityRadS, maxAccelerationRadS2 }, j) => {
              const moved = after.positionsRad[j]! - before.positionsRad[j]!;
              assert.ok(Math.abs(moved) <= maxVelocityRadS * 1e-3 + 1e-9);
              const change = after.velocitiesRadS[j]! - before.velocitiesRadS[j]!;
              assert.ok(Math.abs(change) <= maxAccelerationRadS2 * 1e-3 + 1e-9);
            });
            driver.read(nowNs, before);
          }
        }
      }),
      { numRuns: 50 },
    );
  });

  it('moves its gripper at limited speed, and only when enabled', async () => {
    const driver = await open({ gripperSpeedPerS: 2 });
    const reading = emptyReading(2);
    driver.write(0, Float64Array.of(0.5, -0.5), 1);
    driver.read(500 * MS, reading);
    assert.equal(reading.gripper, 0);
    driver.enable(500 * MS);
    driver.write(500 * MS, Float64Array.of(0.5, -0.5), 1);
    driver.read(750 * MS, reading);
    assert.ok(Math.abs(reading.gripper - 0.5) < 1e-9);
    driver.read(1500 * MS, reading);
    assert.equal(reading.gripper, 1);
  });

  it('has the configured encoder noise, repeatable by seed', async () => {
    const series = async (settings: object) => {
      const driver = await open(settings);
      const reading = emptyReading(2);
      return Array.from({ length: 2000 }, (_, i) => {
        driver.read(i * MS, reading);
        return reading.positionsRad[0]! - 0.5;
      });
    };
    const noisy = await series({ encoderNoiseRad: 0.001, seed: 5 });
    assert.deepEqual(await series({ encoderNoiseRad: 0.001, seed: 5 }), noisy);
    assert.notDeepEqual(await series({ encoderNoiseRad: 0.001, seed: 6 }), noisy);
    const deviation = Math.sqrt(noisy.reduce((sum, x) => sum + x * x, 0) / noisy.length);
    assert.ok(Math.abs(deviation - 0.001) < 0.0001, `${deviation}`);
    assert.ok((await series({})).every((x) => x === 0));
  });

  it('reads NaN, or the last pose with its old stamp or fresh stamps, once its feedback fails', async () => {
    const seen = async (feedbackFault: string) => {
      const driver = await open({ feedbackFault, feedbackFaultAfterS: 1 });
      const reading = emptyReading(2);
      driver.enable(0);
      driver.write(0, Float64Array.of(1, 1), 0);
      driver.read(999 * MS, reading);
      const last = [...reading.positionsRad];
      driver.read(1500 * MS, reading);
      return { last, positions: [...reading.positionsRad], atMs: reading.robotNs / MS };
    };
    const nan = await seen('nan');
    assert.deepEqual([nan.positions, nan.atMs], [[Number.NaN, Number.NaN], 1500]);
    const frozen = await seen('frozen');
    assert.deepEqual([frozen.positions, frozen.atMs], [frozen.last, 1000]);
    const stuck = await seen('stuck');
    assert.deepEqual([stuck.positions, stuck.atMs], [stuck.last, 1500]);
  });
});
