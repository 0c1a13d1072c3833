import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TeleopError } from '../../src/core/errors.ts';
import { createChain } from '../../src/geometry/chain.ts';
import { quatMultiply, TURN_RAD } from '../../src/geometry/frames.ts';
import type { RobotModel } from '../../src/geometry/robot-model.ts';
import type { ClosedSolver, SolverOptions } from '../../src/mapping/ik/contract.ts';
import { createSolver, isClosed, METHODS, type Method, methodsOf } from '../../src/mapping/ik/solver.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { scaled } from '../fuzz/scale.ts';
import { armOf, farthest, ROBOTS, randoms } from './poses.ts';

const POSES = scaled(100_000);
const pairs = ROBOTS.flatMap((name) =>
  methodsOf(loadModel(name)).map((method) => [name, method] as [string, Method]),
);
const closed = pairs.filter(([name, method]) => isClosed(loadModel(name), method));
const closedSolver = (model: RobotModel, method: Method, options?: SolverOptions): ClosedSolver =>
  createSolver(model, method, options) as ClosedSolver;

describe('FK ∘ IK', () => {
  for (const [name, method] of closed)
    it(`is the identity on ${POSES} reachable poses from any seed: ${name} ${method}`, () => {
      const arm = armOf(name, method);
      const solver = createSolver(arm.model, method, { switchAtLimit: true });
      const random = randoms(11);
      const [qRad, seedRad, outRad] = [0, 1, 2].map(() => new Float64Array(arm.joints)) as [
        Float64Array,
        Float64Array,
        Float64Array,
      ];
      const { positionM, quatXyzw } = arm.poseOf(arm.homeRad);
      let clamped = 0;
      for (let i = 0; i < POSES; i++) {
        arm.randomInto(random, qRad);
        arm.randomInto(random, seedRad);
        arm.poseInto(qRad, positionM, quatXyzw);
        const status = solver.solve(positionM, quatXyzw, seedRad, outRad);
        if (status !== 'ok') clamped++;
        const [offM, offRad] = arm.off(outRad, positionM, quatXyzw);
        if (offM > 1e-6 || offRad > 1e-6 || !arm.within(outRad))
          assert.fail(`${status} ${offM} m ${offRad} rad, from ${seedRad} to ${qRad}: ${outRad}`);
      }
      // The decoupled solver keeps a micrometre from full stretch and fold, and reports it.
      assert.ok(clamped <= (method === 'decoupled' ? 0.003 * POSES : 0), `${clamped} clamped`);
    });

  for (const name of ROBOTS)
    it(`holds for the numeric solver from seeds within 0.3 rad: ${name}`, () => {
      const arm = armOf(name, 'numeric');
      const solver = createSolver(arm.model, 'numeric');
      const random = randoms(12);
      const [qRad, seedRad, outRad] = [0, 1, 2].map(() => new Float64Array(arm.joints)) as [
        Float64Array,
        Float64Array,
        Float64Array,
      ];
      const { positionM, quatXyzw } = arm.poseOf(arm.homeRad);
      let arrived = 0;
      for (let i = 0; i < POSES; i++) {
        arm.randomInto(random, qRad);
        arm.nearInto(random, qRad, 0.3, seedRad);
        arm.poseInto(qRad, positionM, quatXyzw);
        const status = solver.solve(positionM, quatXyzw, seedRad, outRad);
        if (!arm.within(outRad)) assert.fail(`${outRad}`);
        const [offM, offRad] = arm.off(outRad, positionM, quatXyzw);
        if (offM <= 1e-4 && offRad <= 1e-4) arrived++;
        assert.ok(status !== 'ok' || (offM <= 1e-4 && offRad <= 1e-4), 'ok means on target');
        assert.ok(Math.abs(solver.residual[0]! - offM) < 1e-9, 'the residual is the remaining error');
        assert.ok(Math.abs(solver.residual[1]! - offRad) < 1e-7);
      }
      assert.ok(arrived >= 0.995 * POSES, `${arrived} of ${POSES} arrived`);
    });

  it('reaches nearly every pose without a good seed if restarts are enabled', () => {
    const arm = armOf('openarm', 'numeric');
    const solver = createSolver(arm.model, 'numeric', { restarts: 20 });
    const random = randoms(5);
    const qRad = new Float64Array(arm.joints);
    let arrived = 0;
    for (let i = 0; i < 500; i++) {
      arm.randomInto(random, qRad);
      const { positionM, quatXyzw } = arm.poseOf(qRad);
      if (solver.solve(positionM, quatXyzw, arm.homeRad, qRad) === 'ok') arrived++;
    }
    assert.ok(arrived >= 495, `${arrived} of 500`);
  });
});

describe('all solutions', () => {
  for (const [name, method] of closed)
    it(`reach the target, obey the limits, differ, and include the original pose: ${name} ${method}`, () => {
      const arm = armOf(name, method);
      const solver = closedSolver(arm.model, method);
      const random = randoms(3);
      const qRad = new Float64Array(6);
      const out = new Float64Array(solver.allSize);
      const counts = new Set<number>();
      for (let i = 0; i < 3000; i++) {
        arm.randomInto(random, qRad);
        const { positionM, quatXyzw } = arm.poseOf(qRad);
        const count = solver.all(positionM, quatXyzw, out);
        counts.add(count);
        // Within a micrometre of full stretch and fold the decoupled solver has no solution.
        if (count === 0 && method === 'decoupled' && Math.abs(Math.sin(qRad[2]!)) < 0.01) continue;
        const found = Array.from({ length: count }, (_, k) => out.slice(6 * k, 6 * k + 6));
        for (const each of found) {
          const [offM, offRad] = arm.off(each, positionM, quatXyzw);
          assert.ok(offM < 1e-9 && offRad < 1e-9 && arm.within(each), `${each}`);
        }
        const apart = (a: Float64Array, b: Float64Array) =>
          Math.max(...a.map((angle, j) => Math.abs(Math.sin((angle - b[j]!) / 2))));
        assert.ok(
          found.every((a, k) => found.slice(k + 1).every((b) => apart(a, b) > 1e-8)),
          'distinct',
        );
        assert.ok(
          found.some((each) => apart(each, qRad) < 1e-6),
          `${qRad} is among ${found.length}`,
        );
      }
      assert.equal(Math.max(...counts), 8);
    });

  it('number 0 out of reach, and −1 for bad input', () => {
    const { model, homeRad, poseOf } = armOf('ur3', 'analytic');
    const solver = createSolver(model, 'analytic');
    const out = new Float64Array(solver.allSize);
    const { quatXyzw } = poseOf(homeRad);
    assert.equal(solver.all(Float64Array.of(3, 0, 0), quatXyzw, out), 0);
    assert.equal(solver.all(Float64Array.of(0, 0, 0.4), quatXyzw, out), 0, 'on the base axis');
    assert.equal(solver.all(Float64Array.of(Number.NaN, 0, 0), quatXyzw, out), -1);
  });
});

describe('bad input', () => {
  for (const [name, method] of pairs)
    it(`is rejected without touching the output: ${name} ${method}`, () => {
      const arm = armOf(name, method);
      const solver = createSolver(arm.model, method);
      const n = arm.joints;
      for (const bad of [Number.NaN, Infinity, -Infinity])
        for (let at = 0; at < 7 + n; at++) {
          const { positionM, quatXyzw } = arm.poseOf(arm.homeRad);
          const seedRad = arm.homeRad.slice();
          if (at < 3) positionM[at] = bad;
          else if (at < 7) quatXyzw[at - 3] = bad;
          else seedRad[at - 7] = bad;
          const outRad = new Float64Array(n).fill(42);
          assert.equal(solver.solve(positionM, quatXyzw, seedRad, outRad), 'bad-input');
          assert.deepEqual(outRad, new Float64Array(n).fill(42));
        }
      const outRad = new Float64Array(n).fill(42);
      const { positionM } = arm.poseOf(arm.homeRad);
      assert.equal(solver.solve(positionM, new Float64Array(4), arm.homeRad, outRad), 'bad-input');
      assert.deepEqual(outRad, new Float64Array(n).fill(42));
    });

  it('finite but absurd targets give finite poses within the limits', () => {
    for (const [name, method] of pairs) {
      const arm = armOf(name, method);
      const solver = createSolver(arm.model, method);
      const { quatXyzw } = arm.poseOf(arm.homeRad);
      for (const at of [
        [0, 0, 0],
        [1e308, -1e308, 1e308],
        [0, 0, 1e200],
        [5e-324, 0, 0.1519],
      ]) {
        const outRad = new Float64Array(arm.joints);
        const status = solver.solve(Float64Array.from(at), quatXyzw, arm.homeRad, outRad);
        assert.match(status, /^(ok|clamped|unreachable)$/);
        assert.ok(arm.within(outRad) && outRad.every(Number.isFinite), `${name} ${method} ${outRad}`);
      }
    }
  });

  it('the seed may be the output', () => {
    for (const [name, method] of pairs) {
      const arm = armOf(name, method);
      const solver = createSolver(arm.model, method);
      const wanted = arm.homeRad.map((angle, i) => angle + 0.01 * (i + 1));
      const { positionM, quatXyzw } = arm.poseOf(wanted);
      const apart = new Float64Array(arm.joints);
      solver.solve(positionM, quatXyzw, arm.homeRad, apart);
      const q = arm.homeRad.slice();
      assert.equal(solver.solve(positionM, quatXyzw, q, q), 'ok');
      assert.deepEqual(q, apart, `${name} ${method}`);
    }
  });
});

describe('methods', () => {
  it('that a model lacks are rejected with a list of those it has', () => {
    for (const name of ROBOTS) {
      const model = loadModel(name);
      const known = methodsOf(model);
      for (const method of METHODS)
        if (known.includes(method)) assert.doesNotThrow(() => createSolver(model, method));
        else
          assert.throws(
            () => createSolver(model, method),
            (error) =>
              error instanceof TeleopError &&
              error.code === 'bad-model' &&
              error.message.includes(method) &&
              known.every((each) => error.hint.includes(each)),
          );
    }
  });

  it('reject a model without the geometry of its declared family', () => {
    const model = structuredClone(loadModel('piper'));
    model.joints[4]!.modifiedDh!.aM = 0.01;
    assert.throws(() => createSolver(model, 'analytic'), /geometry of family "piper"/);
  });

  it('solve for the tool tip if the model has a tool', () => {
    for (const name of ['ur3', 'piper']) {
      const bare = loadModel(name);
      const model: typeof bare = { ...bare, tool: { xyzM: [0.02, -0.03, 0.15], rpyRad: [0.3, -0.4, 0.5] } };
      const chain = createChain(model);
      const homeRad = Float64Array.from(model.homeRad);
      const wantedRad = homeRad.map((angle, i) => angle + 0.02 * (i - 2));
      for (const method of methodsOf(model)) {
        const [positionM, quatXyzw, aside] = [new Float64Array(3), new Float64Array(4), new Float64Array(4)];
        chain.frame(wantedRad, 6, positionM, quatXyzw);
        if (method === 'decoupled') chain.frame(wantedRad, 3, positionM, aside);
        const outRad = new Float64Array(6);
        assert.equal(createSolver(model, method).solve(positionM, quatXyzw, homeRad, outRad), 'ok');
        assert.ok(farthest(outRad, wantedRad) < 1e-6, `${name} ${method}: ${outRad}`);
      }
    }
  });
});

describe('singularities', () => {
  it('a straight Piper wrist keeps joint 4 and puts the rest in joint 6', () => {
    const arm = armOf('piper', 'analytic');
    const solver = createSolver(arm.model, 'analytic');
    const seedRad = Float64Array.of(0.2, 1.2, -1.1, 0.7, 0, 0.1);
    const { positionM, quatXyzw } = arm.poseOf([0.2, 1.2, -1.1, 0.3, 0, 1.1]);
    const outRad = new Float64Array(6);
    assert.equal(solver.solve(positionM, quatXyzw, seedRad, outRad), 'ok');
    assert.ok(farthest(outRad, [0.2, 1.2, -1.1, 0.7, 0, 0.7]) < 1e-9, `${outRad}`);
  });

  it('a straight UR wrist keeps the arm and puts the rest in joint 6', () => {
    const arm = armOf('ur3', 'analytic');
    const solver = createSolver(arm.model, 'analytic');
    const seedRad = Float64Array.of(0.2, -1.2, 1.4, 0.7, 0, 0.1);
    const { positionM, quatXyzw } = arm.poseOf(seedRad);
    const rolled = new Float64Array(4);
    quatMultiply(quatXyzw, Float64Array.of(0, 0, Math.sin(0.2), Math.cos(0.2)), rolled);
    const outRad = new Float64Array(6);
    assert.equal(solver.solve(positionM, rolled, seedRad, outRad), 'ok');
    assert.ok(farthest(outRad, [0.2, -1.2, 1.4, 0.7, 0, 0.5]) < 1e-7, `${outRad}`);
  });

  it('a Piper wrist on the base axis keeps joint 1', () => {
    const arm = armOf('piper', 'analytic');
    const solver = createSolver(arm.model, 'analytic');
    // By bisection: joint 3 at which the wrist is over the base, for a given joint 2.
    const wristOut = (q3: number) => {
      const frames = new Float64Array(84);
      arm.chain.frames([0, 0.9, q3, 0, 0, 0], frames);
      return frames[5 * 12 + 3]!;
    };
    let [low, high] = [-2.9, 0];
    const rising = wristOut(high) > wristOut(low);
    for (let i = 0; i < 80; i++) {
      const middle = (low + high) / 2;
      if (wristOut(middle) > 0 === rising) high = middle;
      else low = middle;
    }
    assert.ok(Math.abs(wristOut(low)) < 1e-9, 'the wrist is over the base');
    const qRad = Float64Array.of(0.4, 0.9, low, 0.3, 0.5, -0.2);
    const { positionM, quatXyzw } = arm.poseOf(qRad);
    const outRad = new Float64Array(6);
    assert.equal(solver.solve(positionM, quatXyzw, qRad, outRad), 'ok');
    assert.ok(farthest(outRad, qRad) < 1e-6, `${outRad}`);
  });

  for (const name of ['ur3', 'piper'] as const)
    it(`a bounded step crosses a straight wrist without a jump and ends on target: ${name}`, () => {
      const arm = armOf(name, 'analytic');
      const solver = createSolver(arm.model, 'analytic', { singularStepRad: 0.03 });
      for (const heading of [0.3, 1.4, 2.5, -2, -0.7]) {
        const startRad = arm.homeRad.slice();
        startRad[4] = 0;
        const { positionM, quatXyzw } = arm.poseOf(startRad);
        const q = startRad.slice();
        let status = '';
        for (let tick = 0; tick <= 120; tick++) {
          const sine = Math.sin(0.0025 * Math.min(tick, 100));
          const tilt = Float64Array.of(
            Math.cos(heading) * sine,
            Math.sin(heading) * sine,
            0,
            Math.sqrt(1 - sine * sine),
          );
          const turned = new Float64Array(4);
          quatMultiply(quatXyzw, tilt, turned);
          const before = q.slice();
          status = solver.solve(positionM, turned, q, q);
          assert.ok(
            farthest(q, before) < 0.25,
            `heading ${heading} tick ${tick}: step ${farthest(q, before)}`,
          );
        }
        assert.equal(status, 'ok', `heading ${heading}`);
      }
    });
});

describe('the solution chosen', () => {
  /** Largest move of the first `width` joints from the seed to a solution, modulo turns within the limits. */
  function moveRad(
    { joints }: ReturnType<typeof loadModel>,
    solution: ArrayLike<number>,
    seedRad: ArrayLike<number>,
    width: number,
  ) {
    const moves = joints.slice(0, width).map(({ minRad, maxRad }, j) => {
      const turned = [-2, -1, 0, 1, 2].map((turns) => solution[j]! + turns * TURN_RAD);
      const legal = turned.filter((angle) => angle >= minRad - 1e-9 && angle <= maxRad + 1e-9);
      return Math.min(...legal.map((angle) => Math.abs(angle - seedRad[j]!)));
    });
    return Math.max(...moves);
  }

  for (const [name, method] of closed)
    it(`is the one with the smallest largest move from the seed: ${name} ${method}`, () => {
      const arm = armOf(name, method);
      const solver = closedSolver(arm.model, method, { switchAtLimit: true });
      const random = randoms(31);
      const [qRad, seedRad, outRad] = [0, 1, 2].map(() => new Float64Array(6)) as [
        Float64Array,
        Float64Array,
        Float64Array,
      ];
      const all = new Float64Array(solver.allSize);
      // The decoupled method chooses joints 1 to 3 first.
      const width = method === 'decoupled' ? 3 : 6;
      let several = 0;
      for (let i = 0; i < 3000; i++) {
        arm.randomInto(random, qRad);
        arm.randomInto(random, seedRad);
        const { positionM, quatXyzw } = arm.poseOf(qRad);
        if (solver.solve(positionM, quatXyzw, seedRad, outRad) !== 'ok') continue;
        const count = solver.all(positionM, quatXyzw, all);
        const moves = Array.from({ length: count }, (_, k) =>
          moveRad(arm.model, all.subarray(6 * k, 6 * k + 6), seedRad, width),
        );
        const chosen = farthest(outRad.subarray(0, width), seedRad.subarray(0, width));
        // The bound of the tie-break.
        assert.ok(chosen <= Math.min(...moves) + 4e-5, `${chosen} of ${moves}`);
        if (Math.max(...moves) > chosen + 0.1) several++;
      }
      assert.ok(several > 500, `only ${several} had a choice`);
    });
});

describe('unwrapping', () => {
  it('stays on the turn of the seed', () => {
    const arm = armOf('ur3', 'analytic');
    const solver = createSolver(arm.model, 'analytic');
    const { positionM, quatXyzw } = arm.poseOf(arm.homeRad);
    for (const turns of [-1, 0, 1]) {
      const seedRad = arm.homeRad.slice();
      seedRad[5]! += turns * (TURN_RAD - 0.1);
      const outRad = new Float64Array(6);
      assert.equal(solver.solve(positionM, quatXyzw, seedRad, outRad), 'ok');
      assert.ok(Math.abs(outRad[5]! - turns * TURN_RAD) < 1e-4, `${outRad}`);
    }
  });
});

describe('an arm of fewer than six joints', () => {
  it('reaches the position and gets as close as it can to the orientation', () => {
    const { model, poseOf } = armOf('bento-arm', 'numeric');
    const solver = createSolver(model, 'numeric');
    const outRad = new Float64Array(4);
    const home = Float64Array.from(model.homeRad);
    const quatXyzw = poseOf(home).quatXyzw.slice();
    for (const byRad of [
      [0.2, 0.1, 0, 0],
      [-0.15, -0.1, 0, 0.2],
      [0.1, 0.1, 0, -0.2],
    ]) {
      const target = poseOf(home.map((rad, i) => rad + byRad[i]!)).positionM.slice();
      assert.equal(solver.solve(target, quatXyzw, home, outRad), 'clamped');
      const reached = poseOf(outRad).positionM;
      const awayM = Math.hypot(...reached.map((value, i) => value - target[i]!));
      assert.ok(awayM < 0.003, `${awayM * 1000} mm off after moving ${byRad}`);
    }
  });
});
