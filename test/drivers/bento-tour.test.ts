import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { createKinematicWorld } from '../../sim/bento/kinematic-world.ts';
import { loadMujoco } from '../../sim/bento/mujoco-world.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { emptyReading } from '../../src/robot/driver.ts';
import { xorshift } from '../xorshift.ts';
import { BentoBench, type Impairment, VirtualArm } from './bento-bench.ts';

const { joints } = loadModel('bento');
/** With physics if installed. */
const world = await loadMujoco().catch(() => createKinematicWorld);
const WITHIN_RAD = 0.012;
const GIVEN_UP_MS = 20_000;

/** Each joint to both ends, alone and all together; the elbow up, to stay clear of the table. */
function grandTour(): number[][] {
  const rest = joints.map((_, i) => (i === 1 ? 0.75 : 0));
  const alone = joints.flatMap(({ minRad, maxRad }, joint) =>
    [maxRad, minRad].map((end) => rest.map((rad, i) => (i === joint ? end : rad))),
  );
  const together = joints.map(({ minRad, maxRad }, i) => (i === 3 ? minRad / 2 : i === 1 ? 0.75 : maxRad));
  return [...alone, together, rest];
}

/** Loses a tenth, repeats a tenth, delays by 4 to 40 ms, and so reorders neighbours. */
function badLink(seed: number): Impairment {
  const random = xorshift(seed);
  return () => {
    const share = random();
    if (share < 0.1) return [];
    const delays = [4 + 36 * random()];
    return share > 0.9 ? [...delays, 4 + 36 * random()] : delays;
  };
}

describe('driver bento drives the virtual arm', () => {
  let bench: BentoBench;
  const reading = emptyReading(joints.length);
  afterEach(() => bench.close());

  const start = async (options: Record<string, unknown> = {}, impair: Impairment = () => [0]) => {
    const arm = new VirtualArm(world);
    bench = new BentoBench(arm, options);
    bench.impair = impair;
    await bench.open();
    return arm;
  };
  /** Drives to a pose; returns the time taken. */
  function goTo(pose: readonly number[]): number {
    const { driver, clock } = bench;
    const target = Float64Array.from(pose);
    const isThere = () => pose.every((rad, i) => Math.abs(rad - reading.positionsRad[i]!) < WITHIN_RAD);
    for (let ms = 0; ms < GIVEN_UP_MS; ms += 5) {
      driver.read(clock.nowNs(), reading);
      if (isThere()) return ms;
      driver.write(clock.nowNs(), target, 0);
      bench.run(5);
    }
    return assert.fail(`${pose} missed: ${reading.positionsRad}; ${driver.fault}`);
  }

  for (const control of ['simultaneous', 'sequential'])
    it(`every joint goes to its ends and back, ${control}`, async () => {
      await start({ control });
      assert.equal(bench.driver.enable(bench.clock.nowNs()), 'ok');
      for (const pose of grandTour()) goTo(pose);
    });

  for (const seed of [1, 7, 99])
    it(`a link that loses, reorders and repeats datagrams costs only smoothness (seed ${seed})`, async () => {
      // A lower gain: the link's delay is part of the control loop.
      await start({ gainPerS: 4 }, badLink(seed));
      assert.equal(bench.driver.enable(bench.clock.nowNs()), 'ok');
      for (const pose of grandTour()) goTo(pose);
      assert.equal(bench.driver.fault, '');
    });

  it('the arm rests within the dead-man timeout when its controller dies', async () => {
    const { simulation } = await start();
    bench.driver.enable(bench.clock.nowNs());
    const target = Float64Array.from(joints, ({ maxRad }, i) => (i === 0 ? maxRad : 0));
    bench.run(500, () => bench.driver.write(bench.clock.nowNs(), target, 0));
    const shoulder = () => simulation.status(bench.clock.nowNs()).counts[0]!;
    const at = shoulder();
    assert.ok(at > 2100, 'the shoulder turns');
    bench.impair = () => [];
    bench.run(150);
    assert.ok(shoulder() > at, 'keeps moving at first');
    bench.run(60);
    const rest = shoulder();
    bench.run(2000);
    assert.ok(Math.abs(shoulder() - rest) < 8, `${shoulder()} is not ${rest}: it settles within 0.7 degrees`);
    assert.equal(simulation.deadManStops, 1);
  });
});
