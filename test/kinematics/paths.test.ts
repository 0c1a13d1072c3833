import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSolver, type Method, methodsOf } from '../../src/mapping/ik/solver.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { armOf, farthest, ROBOTS, randoms } from './poses.ts';

const pairs = ROBOTS.flatMap((name) =>
  methodsOf(loadModel(name)).map((method) => [name, method] as [string, Method]),
);

/** Whether elbow and wrist are away from straight, the family's singularities. */
function isRegular(name: string, qRad: ArrayLike<number>): boolean {
  if (name === 'openarm')
    return qRad[3]! > 0.3 && qRad[3]! < 2.2 && Math.abs(qRad[5]!) < 0.6 && qRad[1]! > 0.3;
  const elbow = name.startsWith('ur') ? Math.abs(Math.sin(qRad[2]!)) : Math.abs(Math.sin(qRad[2]! - 0.3));
  return Math.abs(Math.sin(qRad[4]!)) > 0.2 && elbow > 0.2;
}

/** Decoupled, a redundant arm's elbow goes its own way, and the wrist alone may not be able to follow. */
const followed = pairs.filter(([name, method]) => name !== 'openarm' || method !== 'decoupled');

describe('a smooth path of targets', () => {
  for (const [name, method] of followed)
    it(`is followed smoothly: ${name} ${method}`, () => {
      const arm = armOf(name, method);
      const solver = createSolver(arm.model, method);
      const random = randoms(21);
      const [from, to, wanted] = [0, 1, 2].map(() => new Float64Array(arm.joints)) as [
        Float64Array,
        Float64Array,
        Float64Array,
      ];
      const { positionM, quatXyzw } = arm.poseOf(arm.homeRad);
      let paths = 0;
      for (let path = 0; path < (name === 'openarm' ? 3000 : 400); path++) {
        arm.randomInto(random, from);
        arm.nearInto(random, from, 0.8, to);
        const at = (share: number, j: number) => from[j]! + share * (to[j]! - from[j]!);
        const course = Array.from({ length: 201 }, (_, i) => from.map((_, j) => at(i / 200, j)));
        const isClear = course.every(
          (q) => isRegular(name, q) && (name === 'openarm' ? isOffLimits(arm, q) : isOffAxis(arm, q)),
        );
        if (!isClear) continue;
        paths++;
        const localRad = farthest(from, to) / 200;
        const q = from.slice();
        for (const each of course) {
          wanted.set(each);
          arm.poseInto(wanted, positionM, quatXyzw);
          const before = q.slice();
          assert.equal(solver.solve(positionM, quatXyzw, q, q), 'ok', `path ${path}`);
          const stepRad = farthest(q, before);
          if (stepRad > 5 * localRad + 1e-9 && !(name === 'openarm' && isAtLimit(arm, q)))
            assert.fail(`path ${path}: ${stepRad} where the path does ${localRad}`);
        }
        const [offM, offRad] = arm.off(q, positionM, quatXyzw);
        assert.ok(offM < 1e-4 && offRad < 1e-4);
      }
      assert.ok(paths >= 20, `${paths} paths were clear of singularities`);
    });
});

/** A redundant arm that reached a limit on its path must turn its other joints faster. */
const isAtLimit = (arm: ReturnType<typeof armOf>, qRad: ArrayLike<number>): boolean =>
  arm.model.joints.some(({ minRad, maxRad }, i) => qRad[i]! < minRad + 0.02 || qRad[i]! > maxRad - 0.02);

const isOffLimits = (arm: ReturnType<typeof armOf>, qRad: ArrayLike<number>): boolean =>
  arm.model.joints.every(({ minRad, maxRad }, i) => qRad[i]! > minRad + 0.2 && qRad[i]! < maxRad - 0.2);

/** Neither link 3 nor wrist nor flange near the base axis. */
function isOffAxis(arm: ReturnType<typeof armOf>, qRad: ArrayLike<number>): boolean {
  const origins = new Float64Array(3 * (arm.joints + 1));
  arm.chain.linkOrigins(qRad, origins);
  return [3, 4, 5, arm.joints].every((link) => {
    const axisM = Math.hypot(origins[3 * link]!, origins[3 * link + 1]!);
    return axisM > 0.18;
  });
}

describe('out of reach and back', () => {
  for (const [name, method] of pairs)
    it(`goes as far as it can, without a jump, and returns: ${name} ${method}`, () => {
      const arm = armOf(name, method);
      const solver = createSolver(arm.model, method, { singularStepRad: 0.03 });
      const { positionM, quatXyzw } = arm.poseOf(arm.homeRad);
      const startM = positionM.slice();
      // Away from the shoulder, so that the path leads straight out of the shell.
      const shoulder = arm.poseOf(arm.homeRad).positionM;
      arm.chain.frame(arm.homeRad, 1, shoulder, new Float64Array(4));
      const away = startM.map((value, i) => value - shoulder[i]!);
      const length = Math.hypot(...away);
      const q = arm.homeRad.slice();
      const seen = new Set<string>();
      for (let tick = 0; tick <= 1200; tick++) {
        const outM = 0.002 * Math.min(tick, 1200 - tick);
        for (let i = 0; i < 3; i++) positionM[i] = startM[i]! + (away[i]! / length) * outM;
        const before = q.slice();
        const status = solver.solve(positionM, quatXyzw, q, q);
        seen.add(status);
        assert.ok(arm.within(q), `${q}`);
        const stepRad = farthest(q, before);
        // Near full stretch, the elbow's rate grows without bound: 2 mm may need a quarter turn there.
        if (stepRad > 0.35) assert.fail(`${status} at ${outM} m out: step of ${stepRad}`);
      }
      const stays = method === 'decoupled' ? ['clamped'] : ['unreachable'];
      assert.ok(seen.has('ok') && stays.every((each) => seen.has(each)), [...seen].join());
      const [offM, offRad] = arm.off(q, startM, quatXyzw);
      assert.ok(offM < 1e-4 && offRad < 1e-4, `back home by ${offM} m ${offRad} rad`);
    });

  it('stays beside the cylinder that a UR cannot enter', () => {
    const arm = armOf('ur3', 'analytic');
    const solver = createSolver(arm.model, 'analytic', { singularStepRad: 0.03 });
    const { positionM, quatXyzw } = arm.poseOf(arm.homeRad);
    const startM = positionM.slice();
    const q = arm.homeRad.slice();
    for (let tick = 0; tick <= 300; tick++) {
      const share = Math.min(tick, 300 - tick) / 150;
      for (let i = 0; i < 2; i++) positionM[i] = startM[i]! * (1 - share);
      const before = q.slice();
      const status = solver.solve(positionM, quatXyzw, q, q);
      assert.ok(farthest(q, before) < 0.35, `${status} at ${share}: ${farthest(q, before)}`);
      assert.ok(arm.within(q));
    }
    assert.ok(arm.off(q, startM, quatXyzw)[0] < 1e-6);
  });
});
