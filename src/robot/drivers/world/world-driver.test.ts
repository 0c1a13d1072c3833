import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { needsPackage } from '../../../../test/needs.ts';
import { robotModelSchema } from '../../../geometry/robot-model.ts';
import { WORLD_STATE } from '../../../messages/world-state.ts';
import { emptyReading } from '../../driver.ts';
import world from './index.ts';

const missing = await needsPackage('@mujoco/mujoco');
const MS = 1e6;
const joint = { minRad: -3, maxRad: 3, maxVelocityRadS: 2, maxAccelerationRadS2: 10 };
/** Six joints without collision shapes, as from a bare URDF. */
const model = robotModelSchema.parse({
  name: 'bare',
  title: 'bare arm',
  family: 'serial',
  homeRad: [0, 0.4, 1.2, 0, 0.4, 0],
  joints: [
    { name: 'a', ...joint, origin: { xyzM: [0, 0, 0.2] } },
    { name: 'b', ...joint, origin: { xyzM: [0, 0, 0] }, axis: [0, 1, 0] },
    { name: 'c', ...joint, origin: { xyzM: [0, 0, 0.3] }, axis: [0, 1, 0] },
    { name: 'd', ...joint, origin: { xyzM: [0, 0, 0.15] } },
    { name: 'e', ...joint, origin: { xyzM: [0, 0, 0.15] }, axis: [0, 1, 0] },
    { name: 'f', ...joint, origin: { xyzM: [0, 0, 0.1] } },
  ],
});

describe('an arm in a world', { skip: missing }, () => {
  it('stays where it is when things start over, also with another task, while it moves', async () => {
    const driver = await world.open(world.config.parse({}), model, { nowNs: () => 0 });
    const reading = emptyReading(6);
    const state = WORLD_STATE.create();
    let nowNs = 0;
    let last: number[] = [];
    driver.enable(0);
    driver.read(0, reading);
    const target = reading.positionsRad.map((rad, i) => rad + (i === 0 ? 1 : 0));
    const tasks = ['', 'stack', 'drawer', 'peg', 'peg', 'juggle', 'sort'];
    let rounds = 0;
    for (let i = 0; i < 140; i++) {
      nowNs += 5 * MS;
      if (i % 20 === 10) driver.world!.request(tasks[rounds++]!, rounds % 2 === 0 ? null : 7);
      driver.write(nowNs, target, 0.5);
      assert.equal(driver.read(nowNs, reading), 'ok');
      const now = [...reading.positionsRad];
      // No joint moves further than its speed allows, and a little for the servo.
      if (last.length > 0)
        now.forEach((rad, k) => {
          assert.ok(Math.abs(rad - last[k]!) <= 2 * 0.005 * 1.5 + 1e-6, `joint ${k} in cycle ${i}`);
        });
      last = now;
    }
    assert.equal(driver.world!.read(state), 'sort');
    assert.equal(state.round, 7, 'an unknown task is ignored');
    driver.dispose();
    assert.equal(driver.world!.read(state), '');
  });

  it('begins with the first seed after the last, so that every message can carry it', async () => {
    const seed = Number.MAX_SAFE_INTEGER;
    const driver = await world.open(world.config.parse({ seed: seed - 1 }), model, { nowNs: () => 0 });
    const state = WORLD_STATE.create();
    const seeds = [0, 1, 2].map((i) => {
      driver.world!.request('', i === 1 ? seed : null);
      driver.read(i, emptyReading(6));
      driver.world!.read(state);
      return state.seed;
    });
    assert.deepEqual(seeds, [0, seed, 1]);
    driver.dispose();
  });

  it('begins the next seed by itself, where asked, and keeps the things finite', async () => {
    const driver = await world.open(world.config.parse({ nextAfterS: 0.5, seed: 3 }), model, {
      nowNs: () => 0,
    });
    const reading = emptyReading(6);
    const state = WORLD_STATE.create();
    for (let ms = 0; ms < 61_000 && state.round < 2; ms += 50) {
      driver.read(ms * MS, reading);
      driver.world!.read(state);
      assert.ok(state.packed.every(Number.isFinite));
    }
    assert.deepEqual([state.round, state.seed], [2, 4], 'after the time limit');
    driver.dispose();
  });
});
