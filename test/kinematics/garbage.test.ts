import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSolver, type Method, methodsOf } from '../../src/mapping/ik/solver.ts';
import { collectGarbage } from '../../src/native/garbage.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { armOf, randoms } from './poses.ts';

const SOLVES = 20_000;
/** One boxed number per solve would be 16 bytes; the rest is code still warming up. */
const MOST_BYTES = 8;
const ROUNDS = 50;

describe('a solve leaves no garbage', () => {
  for (const [name, method] of ['ur3', 'piper', 'openarm'].flatMap((name) =>
    methodsOf(loadModel(name)).map((method) => [name, method] as [string, Method]),
  ))
    it(`${name} ${method}`, () => {
      const arm = armOf(name, method);
      const solver = createSolver(arm.model, method);
      const random = randoms(8);
      const targets = Array.from({ length: 500 }, (_, target) => {
        const qRad = new Float64Array(arm.joints);
        arm.randomInto(random, qRad);
        const seedRad = new Float64Array(arm.joints);
        arm.nearInto(random, qRad, 0.05, seedRad);
        const pose = arm.poseOf(qRad);
        // Every tenth is out of reach.
        if (target % 10 === 0) pose.positionM[0]! += 2;
        return { ...pose, seedRad };
      });
      const outRad = new Float64Array(arm.joints);
      const go = (count: number) => {
        for (let i = 0; i < count; i++) {
          const { positionM, quatXyzw, seedRad } = targets[i % targets.length]!;
          solver.solve(positionM, quatXyzw, seedRad, outRad);
        }
      };
      go(5 * SOLVES);
      let least = Infinity;
      // The compiler works in the background, and on a busy machine it takes longer.
      for (let round = 0; round < ROUNDS && least >= MOST_BYTES; round++) {
        collectGarbage();
        const before = process.memoryUsage().heapUsed;
        go(SOLVES);
        least = Math.min(least, (process.memoryUsage().heapUsed - before) / SOLVES);
      }
      assert.ok(least < MOST_BYTES, `${least} bytes per solve`);
    });
});
