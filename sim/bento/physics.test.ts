import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import fc from 'fast-check';
import { createChain } from '../../src/geometry/chain.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { JOINT_NAMES } from '../../src/robot/drivers/bento/arm-facts.ts';
import { needsPackage } from '../../test/needs.ts';
import { type Body, POSE_SIZE } from './bento-view.ts';
import { createKinematicWorld } from './kinematic-world.ts';
import { loadMujoco } from './mujoco-world.ts';
import { sceneBodies } from './task-objects.ts';
import { TaskPlay } from './task-play.test.bench.ts';
import type { MakeWorld, World } from './world.ts';

const SHOULDER = 0;
const ELBOW = 1;
const WRIST_ROTATE = 2;
const WRIST_FLEX = 3;
const HAND = 4;
const BALL_RADIUS_M = 0.0225;

const missing = await needsPackage('@mujoco/mujoco');

/** Largest distance between a joint's position by the model in robots/ and by a world. */
function largestGapM(world: World, bodies: readonly Body[], jointsRad: Float64Array): number {
  const origins = new Float64Array(18);
  const chain = createChain({ ...loadModel('bento'), tool: { xyzM: [0, 0, 0], rpyRad: [0, 0, 0] } });
  chain.linkOrigins(jointsRad, origins);
  world.look();
  const gaps = JOINT_NAMES.map((name, joint) => {
    const at = bodies.findIndex((body) => body.name === name) * POSE_SIZE;
    const placeM = world.poses.subarray(at, at + 3);
    return Math.hypot(...placeM.map((value, i) => value - origins[3 * (joint + 1) + i]!));
  });
  return Math.max(...gaps);
}

it('the arm without physics matches the model in robots/ in any pose', () => {
  const bodies = sceneBodies(1);
  const world = createKinematicWorld(bodies);
  const angle = fc.double({ min: -2, max: 2, noNaN: true });
  fc.assert(
    fc.property(fc.array(angle, { minLength: 5, maxLength: 5 }), (angles) => {
      const jointsRad = Float64Array.from(angles);
      world.step(jointsRad);
      assert.ok(largestGapM(world, bodies, jointsRad) < 1e-6);
    }),
  );
});

describe('the scenes under MuJoCo', { skip: missing, timeout: 120_000 }, () => {
  let make: MakeWorld;
  before(async () => {
    make = await loadMujoco();
  });
  const play = (scene: number): TaskPlay => {
    const bodies = sceneBodies(scene);
    return new TaskPlay(make(bodies), bodies);
  };

  for (let scene = 1; scene <= 6; scene++)
    it(`scene ${scene} stays at rest, arm and objects`, () => {
      const bodies = sceneBodies(scene);
      const world = make(bodies);
      const task = new TaskPlay(world, bodies);
      task.wait(3);
      for (const { name, atM, free } of bodies) {
        if (!free) continue;
        const moved = Math.hypot(...task.placeOf(name).map((value, i) => value - atM[i]!));
        assert.ok(moved < 0.003, `${name} moved by ${moved} m`);
      }
      assert.ok(world.jointsRad.every((rad) => Math.abs(rad) < 1e-3));
      world.dispose();
    });

  it('the arm matches the model in robots/ where the table is clear', () => {
    const bodies = sceneBodies(1);
    const world = make(bodies);
    const target = Float64Array.of(0.7, 0.5, -0.8, 0.4, 0.9);
    for (let i = 0; i < 2000; i++) world.step(target);
    assert.ok(world.jointsRad.every((rad, i) => Math.abs(rad - target[i]!) < 2e-3));
    assert.ok(largestGapM(world, bodies, world.jointsRad) < 1e-4);
    world.dispose();
  });

  it('Slam Dunk: the hand closes on the ball, lifts it, carries it and drops it into the cup', () => {
    const task = play(2);
    const [cupX, cupY] = task.placeOf('cup_up');
    task.move(HAND, 60);
    task.move(ELBOW, 20);
    task.move(SHOULDER, -23.5);
    task.move(ELBOW, 0);
    task.move(HAND, -10, 0.5);
    task.move(ELBOW, 30);
    assert.ok(task.placeOf('ball')[2] > 0.25, `lifted to ${task.placeOf('ball')[2]}`);
    task.wait(3);
    assert.ok(task.placeOf('ball')[2] > 0.25, 'and held');
    task.move(WRIST_ROTATE, 40);
    task.move(WRIST_ROTATE, 0);
    task.move(SHOULDER, 28.5);
    task.move(ELBOW, 8, 0.5);
    task.move(HAND, 60, 0.3);
    task.wait(2);
    const [x, y, z] = task.placeOf('ball');
    assert.ok(Math.hypot(x - cupX, y - cupY) < 0.03 && z < 0.06, `the ball is at ${x}, ${y}, ${z}`);
  });

  it('Bento Block Stacking: a block is picked up from the table and set down elsewhere', () => {
    const task = play(5);
    task.move(HAND, 50);
    task.move(WRIST_FLEX, -25);
    task.move(SHOULDER, 2);
    task.move(WRIST_FLEX, -40, 0.5);
    task.move(HAND, -10, 0.5);
    task.move(ELBOW, 25);
    assert.ok(task.placeOf('block_n')[2] > 0.12, 'lifted');
    task.move(SHOULDER, 11);
    task.move(ELBOW, 2, 0.5);
    task.move(HAND, 50, 0.5);
    task.wait(1);
    const [, y, z] = task.placeOf('block_n');
    assert.ok(y < -0.03 && Math.abs(z - 0.0127) < 0.003, `set down at ${y}, ${z}`);
  });

  it('Cup Stacking: a cup is lifted', () => {
    const task = play(6);
    task.move(HAND, 66);
    task.move(ELBOW, 30);
    task.move(SHOULDER, 5);
    task.move(WRIST_FLEX, -20);
    task.move(ELBOW, 0, 0.5);
    task.move(HAND, -10, 0.5);
    task.move(ELBOW, 30);
    assert.ok(task.placeOf('cup_middle')[2] > 0.15, `at ${task.placeOf('cup_middle')[2]}`);
  });

  it('a released ball falls onto the table and stays there', () => {
    const task = play(2);
    task.move(SHOULDER, -40);
    task.move(SHOULDER, 40);
    task.wait(2);
    const [x, , z] = task.placeOf('ball');
    assert.ok(Math.abs(z - BALL_RADIUS_M) < 0.003 || z < -0.1 || x > 0.59, `knocked off: ${x}, ${z}`);
  });

  it('the arm does not push its fingers through the table', () => {
    const task = play(1);
    task.move(WRIST_FLEX, -100);
    // Pointing down, a finger reaches 106 mm below its joint; without a table that would be 40 mm above it.
    const [, , z] = task.placeOf('hand');
    assert.ok(z > 0.09, `the hand's joint is ${z} m above the table`);
  });
});
