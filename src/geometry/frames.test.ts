import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  baseFromVr,
  compose,
  matrixFromQuat,
  quatAngleRad,
  quatConjugate,
  quatFromMatrix,
  quatMultiply,
  quatNormalise,
  quatRotate,
  rotvecFromQuat,
  transform,
  wrapRad,
} from './frames.ts';

const component = fc.double({ min: -1, max: 1, noNaN: true });
const vector = fc.tuple(component, component, component).map((v) => Float64Array.from(v));
const unitQuat = fc.tuple(component, component, component, component).map((raw) => {
  const q = Float64Array.from(raw);
  return quatNormalise(q, q) ? q : Float64Array.of(0, 0, 0, 1);
});
const pose = <To extends string, From extends string>() =>
  fc.tuple(vector, unitQuat).map(([p, q]) => transform<To, From>(p, q));

function near(actual: ArrayLike<number>, expected: ArrayLike<number>, tolerance = 1e-12): void {
  assert.equal(actual.length, expected.length);
  for (let i = 0; i < actual.length; i++)
    assert.ok(
      Math.abs(actual[i]! - expected[i]!) <= tolerance,
      `[${i}] ${Array.from(actual)} is not ${Array.from(expected)}`,
    );
}

test('a quaternion product applies the right factor first, also in place', () => {
  fc.assert(
    fc.property(unitQuat, unitQuat, vector, (a, b, v) => {
      const ab = new Float64Array(4);
      quatMultiply(a, b, ab);
      const once = new Float64Array(3);
      quatRotate(ab, v, once);
      const twice = Float64Array.from(v);
      quatRotate(b, twice, twice);
      quatRotate(a, twice, twice);
      near(once, twice);
      const inPlace = Float64Array.from(a);
      quatMultiply(inPlace, b, inPlace);
      near(inPlace, ab, 0);
    }),
  );
});

test('the conjugate undoes a rotation', () => {
  fc.assert(
    fc.property(unitQuat, vector, (q, v) => {
      const back = new Float64Array(4);
      quatConjugate(q, back);
      const moved = new Float64Array(3);
      quatRotate(q, v, moved);
      quatRotate(back, moved, moved);
      near(moved, v);
    }),
  );
});

test('quaternion → matrix → quaternion is the same rotation, including half turns', () => {
  const halfTurns = [
    [1, 0, 0, 0],
    [0, 1, 0, 0],
    [0, 0, 1, 0],
    [0.6, -0.8, 0, 1e-9],
  ].map((q) => fc.constant(Float64Array.from(q)));
  fc.assert(
    fc.property(fc.oneof(unitQuat, ...halfTurns), vector, (q, v) => {
      const m = new Float64Array(9);
      matrixFromQuat(q, m);
      const back = new Float64Array(4);
      quatFromMatrix(m, back);
      assert.ok(quatAngleRad(q, back) < 1e-12);
      const rotated = new Float64Array(3);
      quatRotate(q, v, rotated);
      const row = (i: number) => m[3 * i]! * v[0]! + m[3 * i + 1]! * v[1]! + m[3 * i + 2]! * v[2]!;
      near(rotated, [row(0), row(1), row(2)]);
    }),
  );
});

test('a rotation vector is axis times angle, for either sign of the quaternion', () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-9, max: 3.1, noNaN: true }), fc.boolean(), (angle, negated) => {
      const sign = negated ? -1 : 1;
      const q = Float64Array.of(0, sign * Math.sin(angle / 2), 0, sign * Math.cos(angle / 2));
      const out = new Float64Array(3);
      rotvecFromQuat(q, out);
      near(out, [0, angle, 0], 1e-12);
      assert.ok(Math.abs(quatAngleRad(q, Float64Array.of(0, 0, 0, 1)) - angle) < 1e-12);
    }),
  );
});

test('normalising rejects a quaternion without direction and leaves the output untouched', () => {
  for (const bad of [
    [0, 0, 0, 0],
    [Number.NaN, 0, 0, 1],
    [0, Infinity, 0, 1],
  ]) {
    const out = Float64Array.of(7, 7, 7, 7);
    assert.equal(quatNormalise(Float64Array.from(bad), out), false);
    near(out, [7, 7, 7, 7], 0);
  }
});

test('composition is associative and consistent with transforming a point', () => {
  fc.assert(
    fc.property(pose<'a', 'b'>(), pose<'b', 'c'>(), pose<'c', 'd'>(), (ab, bc, cd) => {
      const left = compose(compose(ab, bc), cd);
      const right = compose(ab, compose(bc, cd));
      near(left.positionM, right.positionM);
      assert.ok(quatAngleRad(left.quatXyzw, right.quatXyzw) < 1e-12);
      const point = new Float64Array(3);
      quatRotate(ab.quatXyzw, bc.positionM, point);
      near(
        compose(ab, bc).positionM,
        point.map((value, i) => value + ab.positionM[i]!),
      );
    }),
  );
});

test('a mismatched inner frame does not compile', () => {
  const baseFromTool = transform<'base', 'tool'>();
  const toolFromTip = transform<'tool', 'tip'>();
  const baseFromTip: ReturnType<typeof transform<'base', 'tip'>> = compose(baseFromTool, toolFromTip);
  // @ts-expect-error tool is not tip
  compose(toolFromTip, baseFromTool);
  // @ts-expect-error the outer frames carry over
  const wrong: ReturnType<typeof transform<'base', 'tool'>> = compose(baseFromTool, toolFromTip);
  near(baseFromTip.positionM, wrong.positionM);
});

test('device world in the base frame: right is −Y, up is Z, forward (−Z) is X', () => {
  const seen = (v: number[]) => {
    const out = new Float64Array(3);
    quatRotate(baseFromVr.quatXyzw, Float64Array.from(v), out);
    return out;
  };
  near(seen([1, 0, 0]), [0, -1, 0], 0);
  near(seen([0, 1, 0]), [0, 0, 1], 0);
  near(seen([0, 0, -1]), [1, 0, 0], 0);
});

test('wrapping keeps the angle and gives a value within half a turn', () => {
  fc.assert(
    fc.property(fc.double({ min: -50, max: 50, noNaN: true }), (angle) => {
      const wrapped = wrapRad(angle);
      assert.ok(Math.abs(wrapped) <= Math.PI + 1e-12);
      assert.ok(Math.abs(Math.sin(wrapped - angle)) < 1e-12 && Math.cos(wrapped - angle) > 0.99);
    }),
  );
});
