import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { parse } from 'yaml';
import { TeleopError } from '../../core/errors.ts';
import { createChain } from '../../geometry/chain.ts';
import { quatAngleRad, quatMultiply } from '../../geometry/frames.ts';
import { robotModelSchema } from '../../geometry/robot-model.ts';
import { createDecoupledSolver, SHELL_MARGIN_M } from './decoupled.ts';
import { HOLD } from './singular.ts';

const model = robotModelSchema.parse(parse(readFileSync('robots/ur3.yaml', 'utf8')));
const chain = createChain(model);
const solver = createDecoupledSolver(model);
const shoulderM = model.joints[0]!.dh!.dM;
const stretchM = 0.24365 + 0.21325;
const foldM = 0.24365 - 0.21325;

function targetOf(qRad: ArrayLike<number>) {
  const positionM = new Float64Array(3);
  const quatXyzw = new Float64Array(4);
  chain.frame(qRad, 6, positionM, quatXyzw);
  chain.frame(qRad, 3, positionM, new Float64Array(4));
  return { positionM, quatXyzw };
}

const gapM = (a: Float64Array, b: Float64Array) => Math.hypot(a[0]! - b[0]!, a[1]! - b[1]!, a[2]! - b[2]!);
const farthest = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  Math.max(...Array.from(a, (value, i) => Math.abs(value - b[i]!)));
const spanM = (p: Float64Array) => Math.hypot(p[0]!, p[1]!, p[2]! - shoulderM);

const joints = fc
  .tuple(...model.joints.map(({ minRad, maxRad }) => fc.double({ min: minRad, max: maxRad, noNaN: true })))
  .map((q) => Float64Array.from(q));
/** Uniform, unlike `joints`, which are mostly tiny: fc.double is uniform over bit patterns. */
const spread = fc.tuple(...model.joints.map(() => fc.noBias(fc.integer({ min: 0, max: 1e9 })))).map((n) =>
  Float64Array.from(n, (value, i) => {
    const { minRad, maxRad } = model.joints[i]!;
    return minRad + (value / 1e9) * (maxRad - minRad);
  }),
);
const regular = spread.filter(
  (q) => Math.abs(Math.sin(q[4]!)) > 0.01 && Math.abs(Math.sin(q[2]!)) > 0.02 && axisM(q) > 0.01,
);
function axisM(q: Float64Array): number {
  const { positionM } = targetOf(q);
  return Math.hypot(positionM[0]!, positionM[1]!);
}

test('FK ∘ IK is the identity on poses, from any seed', () => {
  fc.assert(
    fc.property(fc.oneof(spread, joints), fc.oneof(spread, joints), (pose, seed) => {
      const { positionM, quatXyzw } = targetOf(pose);
      const out = new Float64Array(6);
      const status = solver.solve(positionM, quatXyzw, seed, out);
      out.forEach((angle, i) => {
        assert.ok(angle >= model.joints[i]!.minRad && angle <= model.joints[i]!.maxRad);
      });
      const span = spanM(positionM);
      const inShell = span < stretchM - 2 * SHELL_MARGIN_M && span > foldM + 2 * SHELL_MARGIN_M;
      const clear = seed.every((angle, i) => Math.abs(angle) < model.joints[i]!.maxRad - 0.25);
      if (inShell && clear) assert.equal(status, 'ok');
      if (status !== 'ok') return;
      const reached = targetOf(out);
      assert.ok(gapM(reached.positionM, positionM) < 1e-6);
      assert.ok(quatAngleRad(reached.quatXyzw, quatXyzw) < 1e-6);
    }),
    { numRuns: 10_000 },
  );
});

test('IK ∘ FK is the identity on joints seeded with themselves, singular ones included', () => {
  const special = fc.constantFrom(
    0,
    1e-12,
    1e-9,
    -1e-8,
    1e-7,
    -1e-6,
    1e-5,
    1e-4,
    Math.PI,
    -Math.PI,
    Math.PI / 2,
  );
  const nearSingular = fc
    .tuple(joints, fc.array(fc.option(special), { minLength: 6, maxLength: 6 }))
    .map(([q, edits]) => q.map((angle, i) => edits[i] ?? angle));
  fc.assert(
    fc.property(fc.oneof(spread, joints, nearSingular), (q) => {
      const { positionM, quatXyzw } = targetOf(q);
      const out = q.slice();
      assert.equal(solver.solve(positionM, quatXyzw, out, out), 'ok');
      assert.ok(farthest(out, q) < 1e-9, `${out} is not ${q}`);
    }),
    { numRuns: 10_000 },
  );
});

test('a seed close to the pose converges to it', () => {
  const nudge = fc.array(fc.double({ min: -0.005, max: 0.005, noNaN: true }), { minLength: 6, maxLength: 6 });
  fc.assert(
    fc.property(regular, nudge, (q, off) => {
      const { positionM, quatXyzw } = targetOf(q);
      const seed = q.map((angle, i) => angle + off[i]!);
      const out = new Float64Array(6);
      assert.equal(solver.solve(positionM, quatXyzw, seed, out), 'ok');
      const reached = targetOf(out);
      assert.ok(gapM(reached.positionM, positionM) < 1e-9);
      assert.ok(quatAngleRad(reached.quatXyzw, quatXyzw) < 1e-7);
      // Joint 1 stays at its seed where turning it moves link 3 by less than HOLD; the wrist undoes that turn,
      // by as much more as it is close to straight.
      const heldRad = (HOLD / axisM(q) + HOLD) / Math.abs(Math.sin(q[4]!));
      assert.ok(farthest(out, q) < 1e-9 + heldRad, `${out} is not ${q}`);
    }),
    { numRuns: 3000 },
  );
});

test('turning the target about the base turns only joint 1', () => {
  const yaw = fc.double({ min: -0.3, max: 0.3, noNaN: true });
  const calm = regular.filter((q) => Math.abs(q[0]!) < 5.9);
  fc.assert(
    fc.property(calm, yaw, (q, yawRad) => {
      const { positionM, quatXyzw } = targetOf(q);
      const [x, y] = [positionM[0]!, positionM[1]!];
      positionM[0] = x * Math.cos(yawRad) - y * Math.sin(yawRad);
      positionM[1] = x * Math.sin(yawRad) + y * Math.cos(yawRad);
      quatMultiply(Float64Array.of(0, 0, Math.sin(yawRad / 2), Math.cos(yawRad / 2)), quatXyzw, quatXyzw);
      const out = new Float64Array(6);
      assert.equal(solver.solve(positionM, quatXyzw, q, out), 'ok');
      assert.ok(farthest(out, [q[0]! + yawRad, ...q.subarray(1)]) < 1e-9);
    }),
  );
});

test('a target mirrored left to right is solved by the mirrored joints', () => {
  fc.assert(
    fc.property(regular, (q) => {
      const { positionM, quatXyzw } = targetOf(q);
      positionM[1]! *= -1;
      quatXyzw[0]! *= -1; // y → −y of a rotation, then half a turn about the tool's x to make it proper
      quatXyzw[2]! *= -1;
      quatMultiply(quatXyzw, Float64Array.of(1, 0, 0, 0), quatXyzw);
      const mirrored = q.map((angle, i) => (i === 0 || i === 4 ? -angle : angle));
      const out = new Float64Array(6);
      assert.equal(solver.solve(positionM, quatXyzw, mirrored, out), 'ok');
      assert.ok(farthest(out, mirrored) < 1e-9);
    }),
  );
});

test('out of reach, the arm stops just inside the shell on the same ray', () => {
  const direction = fc
    .tuple(...[1, 2, 3].map(() => fc.double({ min: -1, max: 1, noNaN: true })))
    .filter((v) => Math.hypot(v[0]!, v[1]!) > 0.1);
  const radius = fc.oneof(
    fc.double({ min: stretchM + 1e-6, max: 3, noNaN: true }),
    fc.double({ min: 1e-3, max: foldM - 1e-6, noNaN: true }),
  );
  const seed = Float64Array.from(model.homeRad);
  fc.assert(
    fc.property(direction, radius, (ray, radiusM) => {
      const length = Math.hypot(...ray);
      const unit = ray.map((value) => value / length);
      const shellM = radiusM > stretchM ? stretchM - SHELL_MARGIN_M : foldM + SHELL_MARGIN_M;
      const at = (m: number) => Float64Array.of(unit[0]! * m, unit[1]! * m, shoulderM + unit[2]! * m);
      const out = new Float64Array(6);
      const { quatXyzw } = targetOf(seed);
      assert.equal(solver.solve(at(radiusM), quatXyzw, seed, out), 'clamped');
      const reached = targetOf(out);
      assert.ok(gapM(reached.positionM, at(shellM)) < 1e-9);
      assert.ok(quatAngleRad(reached.quatXyzw, quatXyzw) < 1e-9);
    }),
  );
});

test('absurd and degenerate but finite targets are clamped', () => {
  const seed = Float64Array.from(model.homeRad);
  const { quatXyzw } = targetOf(seed);
  for (const far of [
    [0, 0, shoulderM],
    [1e308, -1e308, 1e308],
    [0, 0, 1e200],
    [5e-324, 0, shoulderM],
  ]) {
    const out = new Float64Array(6);
    assert.equal(solver.solve(Float64Array.from(far), quatXyzw, seed, out), 'clamped');
    assert.ok(out.every(Number.isFinite));
  }
});

test('non-finite input is rejected and the output untouched', () => {
  const poison = fc.constantFrom(Number.NaN, Infinity, -Infinity);
  fc.assert(
    fc.property(joints, fc.integer({ min: 0, max: 12 }), poison, (q, at, bad) => {
      const { positionM, quatXyzw } = targetOf(q);
      const seed = q.slice();
      if (at < 3) positionM[at] = bad;
      else if (at < 7) quatXyzw[at - 3] = bad;
      else seed[at - 7] = bad;
      const out = new Float64Array(6).fill(42);
      assert.equal(solver.solve(positionM, quatXyzw, seed, out), 'bad-input');
      assert.deepEqual(out, new Float64Array(6).fill(42));
    }),
  );
  const out = new Float64Array(6).fill(42);
  const seed = Float64Array.from(model.homeRad);
  assert.equal(solver.solve(targetOf(seed).positionM, new Float64Array(4), seed, out), 'bad-input');
  assert.deepEqual(out, new Float64Array(6).fill(42));
});

test('joint 6 keeps turning past ±π, then stops at its limit and returns without unwinding', () => {
  const { positionM, quatXyzw } = targetOf(model.homeRad);
  const q = Float64Array.from(model.homeRad);
  const rolled = new Float64Array(4);
  for (let tick = 0; tick <= 1600; tick++) {
    const rollRad = 0.01 * Math.min(tick, 1600 - tick);
    quatMultiply(quatXyzw, Float64Array.of(0, 0, Math.sin(rollRad / 2), Math.cos(rollRad / 2)), rolled);
    const before = q.slice();
    const status = solver.solve(positionM, rolled, q, q);
    assert.equal(status, rollRad > model.joints[5]!.maxRad ? 'clamped' : 'ok');
    assert.ok(Math.abs(q[5]! - Math.min(rollRad, model.joints[5]!.maxRad)) < 1e-9);
    assert.ok(farthest(q, before) < 0.0101);
  }
});

test('the elbow folds through π using its other solution, within its limits', () => {
  const q = Float64Array.of(0.3, -1, 3.1, 0.4, 1, 0.2);
  for (let tick = 0; tick < 100; tick++) {
    const { positionM, quatXyzw } = targetOf([0.3, -1, 3.1 + 0.001 * tick, 0.4, 1, 0.2]);
    const before = q.slice();
    assert.notEqual(solver.solve(positionM, quatXyzw, q, q), 'bad-input');
    assert.ok(gapM(targetOf(q).positionM, positionM) < 1.1 * SHELL_MARGIN_M);
    assert.ok(farthest(q, before) < 0.03, `step ${farthest(q, before)}`);
    assert.ok(Math.abs(q[2]!) <= model.joints[2]!.maxRad);
  }
});

test('a straight wrist keeps joint 4 and puts the rest in joint 6', () => {
  const seed = Float64Array.of(0.2, -1.2, 1.4, 0.7, 0, 0.1);
  const { positionM, quatXyzw } = targetOf([0.2, -1.2, 1.4, 0.3, 0, 1.1]);
  const out = new Float64Array(6);
  assert.equal(solver.solve(positionM, quatXyzw, seed, out), 'ok');
  assert.ok(farthest(out, [0.2, -1.2, 1.4, 0.7, 0, 0.7]) < 1e-9);
});

test('with a bounded step, moving sideways from a straight wrist is continuous and ends on target', () => {
  const gentle = createDecoupledSolver(model, { singularStepRad: 0.03 });
  fc.assert(
    fc.property(fc.double({ min: -Math.PI, max: Math.PI, noNaN: true }), (heading) => {
      const start = Float64Array.of(0.2, -1.2, 1.4, 0.7, 0, 0.1);
      const { positionM, quatXyzw } = targetOf(start);
      const q = start.slice();
      const turned = new Float64Array(4);
      let status = '';
      for (let tick = 0; tick <= 100; tick++) {
        const sine = Math.sin(0.0025 * tick);
        const tilt = Float64Array.of(
          Math.cos(heading) * sine,
          Math.sin(heading) * sine,
          0,
          Math.sqrt(1 - sine * sine),
        );
        quatMultiply(quatXyzw, tilt, turned);
        const before = q.slice();
        status = gentle.solve(positionM, turned, q, q);
        assert.ok(farthest(q, before) < 0.2, `step ${farthest(q, before)}`);
        assert.ok(quatAngleRad(targetOf(q).quatXyzw, turned) < 0.15);
      }
      assert.equal(status, 'ok');
      assert.ok(quatAngleRad(targetOf(q).quatXyzw, turned) < 1e-6);
    }),
  );
});

test('an arm with another geometry is rejected', () => {
  const other = structuredClone(model);
  other.joints[1]!.dh!.alphaRad = 0.1;
  assert.throws(
    () => createDecoupledSolver(other),
    (error) => error instanceof TeleopError && error.code === 'bad-model',
  );
});
