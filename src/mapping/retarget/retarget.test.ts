import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { quatNormalise, quatRotate } from '../../geometry/frames.ts';
import { robotModelSchema } from '../../geometry/robot-model.ts';
import { HAND_POINTS, takeHandPoints } from '../../hand/points.ts';
import { createHandMeter, HAND_ANGLES } from './hand-angles.ts';
import { createRetargeter, retargetConfig } from './retargeter.ts';

const ANGLES = HAND_ANGLES.length;
const WRIST = HAND_ANGLES.indexOf('wrist');
const indexOf = (name: string): number => HAND_ANGLES.indexOf(name as 'wrist');

/**
 * A right hand, palm down, fingers along −z, thumb to the left (−x). Fingers bend down (−y) by `bend` at MCP and PIP
 * and spread by `spread` about the vertical, positive toward the thumb.
 */
function hand(bend = 0, spread: readonly number[] = [0, 0, 0, 0]): Float64Array {
  const points = new Float64Array(HAND_POINTS * 3);
  const put = (i: number, x: number, y: number, z: number) => points.set([x, y, z], 3 * i);
  put(1, -0.03, 0, -0.03);
  put(2, -0.05, 0, -0.06);
  put(3, -0.06, 0, -0.085);
  put(4, -0.068, 0, -0.105);
  [5, 9, 13, 17].forEach((mcp, f) => {
    const acrossM = -0.025 + 0.018 * f;
    put(mcp, acrossM, 0, -0.09);
    let [x, y, z, angle] = [acrossM, 0, -0.09, 0];
    for (let i = 1; i < 4; i++) {
      angle += i < 3 ? bend : 0;
      const forward = Math.cos(angle) * 0.025;
      x -= forward * Math.sin(spread[f]!);
      z -= forward * Math.cos(spread[f]!);
      y -= Math.sin(angle) * 0.025;
      put(mcp + i, x, y, z);
    }
  });
  return points;
}

const meter = createHandMeter();
function measured(points: Float64Array, isLeft = false): Float64Array {
  const out = new Float64Array(ANGLES);
  assert.equal(meter.measure(points, isLeft, out), null);
  return out;
}

const noise = fc.float64Array({
  minLength: 63,
  maxLength: 63,
  min: -0.006,
  max: 0.006,
  noNaN: true,
});
/** Hands with random but valid geometry. */
const anyHand = fc
  .tuple(fc.double({ min: 0, max: 1.4, noNaN: true }), noise)
  .map(([bend, off]) => hand(bend).map((value, i) => value + off[i]!));
const anyQuat = fc
  .tuple(...Array.from({ length: 4 }, () => fc.double({ min: -1, max: 1, noNaN: true })))
  .map((raw) => {
    const q = Float64Array.from(raw);
    return quatNormalise(q, q) ? q : Float64Array.of(0, 0, 0, 1);
  });

function moved(
  points: Float64Array,
  quat: Float64Array,
  scale: number,
  byM: readonly number[],
): Float64Array {
  const out = points.slice();
  for (let i = 0; i < HAND_POINTS; i++) {
    const point = points.slice(3 * i, 3 * i + 3);
    quatRotate(quat, point, point);
    for (let k = 0; k < 3; k++) out[3 * i + k] = scale * point[k]! + byM[k]!;
  }
  return out;
}

function near(actual: ArrayLike<number>, expected: ArrayLike<number>, count: number, tolerance = 1e-7): void {
  for (let i = 0; i < count; i++)
    assert.ok(
      Math.abs(actual[i]! - expected[i]!) <= tolerance,
      `${HAND_ANGLES[i]}: ${actual[i]} is not ${expected[i]}`,
    );
}

describe('angles of a hand', () => {
  it('are zero for a straight, parallel hand', () => {
    const parallel = hand();
    // Knuckles straight ahead of the wrist, so that the metacarpals are parallel too.
    const angles = measured(parallel);
    for (const name of ['index_pip', 'middle_mcp', 'middle_pip', 'ring_pip', 'pinky_pip', 'wrist'])
      assert.ok(Math.abs(angles[indexOf(name)]!) < 0.1, name);
    for (const finger of ['index', 'middle', 'ring', 'pinky'])
      assert.ok(Math.abs(angles[indexOf(`${finger}_pip`)]!) < 1e-7);
  });

  it('grow with the bend, joint by joint', () => {
    const angles = measured(hand(0.7));
    for (const finger of ['index', 'middle', 'ring', 'pinky'])
      assert.ok(Math.abs(angles[indexOf(`${finger}_pip`)]! - 0.7) < 1e-9);
  });

  it('have abduction that is positive toward the thumb for every finger', () => {
    const straight = measured(hand());
    const spread = measured(hand(0, [0.2, 0.1, -0.1, -0.2]));
    const by = (name: string) => spread[indexOf(name)]! - straight[indexOf(name)]!;
    for (const [name, rad] of Object.entries({
      index_abd: 0.2,
      middle_abd: 0.1,
      ring_abd: -0.1,
      pinky_abd: -0.2,
    }))
      assert.ok(Math.abs(by(name) - rad) < 1e-9, `${name} ${by(name)}`);
  });

  it('have a positive wrist angle when the fingers point down', () => {
    const down = moved(hand(), Float64Array.of(-Math.sin(0.3), 0, 0, Math.cos(0.3)), 1, [0, 0, 0]);
    assert.ok(measured(down)[WRIST]! > 0.5);
    const up = moved(hand(), Float64Array.of(Math.sin(0.3), 0, 0, Math.cos(0.3)), 1, [0, 0, 0]);
    assert.ok(measured(up)[WRIST]! < -0.5);
  });

  it('do not change with position, size, or rotation about gravity', () => {
    fc.assert(
      fc.property(
        anyHand,
        fc.double({ min: -3, max: 3, noNaN: true }),
        fc.double({ min: 0.6, max: 2, noNaN: true }),
        fc.tuple(...Array.from({ length: 3 }, () => fc.double({ min: -2, max: 2, noNaN: true }))),
        (points, turn, scale, byM) => {
          const about = Float64Array.of(0, Math.sin(turn / 2), 0, Math.cos(turn / 2));
          near(measured(moved(points, about, scale, byM)), measured(points), ANGLES, 1e-6);
        },
      ),
    );
  });

  it('except the wrist, do not change with any rotation', () => {
    fc.assert(
      fc.property(anyHand, anyQuat, (points, quat) => {
        near(measured(moved(points, quat, 1, [0, 0, 0])), measured(points), ANGLES - 1, 1e-6);
      }),
    );
  });

  it('of a mirrored left hand equal the right hand’s', () => {
    fc.assert(
      fc.property(anyHand, (points) => {
        const left = points.map((value, i) => (i % 3 === 0 ? -value : value));
        near(measured(left, true), measured(points), ANGLES, 1e-12);
      }),
    );
  });

  it('are rejected for an invalid hand, and the output is untouched', () => {
    const out = new Float64Array(ANGLES).fill(7);
    const broken = (change: (points: Float64Array) => void) => {
      const points = hand(0.3);
      change(points);
      return meter.measure(points, false, out);
    };
    for (const value of [Number.NaN, Infinity, -Infinity])
      for (const i of [0, 31, 62])
        assert.equal(
          broken((points) => {
            points[i] = value;
          }),
          'non-finite',
        );
    for (let i = 1; i < HAND_POINTS; i++)
      assert.equal(
        broken((points) => points.copyWithin(3 * i, i % 4 === 1 ? 0 : 3 * i - 3, i % 4 === 1 ? 3 : 3 * i)),
        'degenerate',
        `bone to ${i}`,
      );
    // All points on one line: there is no palm.
    assert.equal(
      broken((points) => {
        for (let i = 0; i < HAND_POINTS; i++) points.set([0, 0, -0.02 * i], 3 * i);
      }),
      'degenerate',
    );
    assert.ok(out.every((value) => value === 7));
  });
});

const LIMIT = { maxVelocityRadS: 5, maxAccelerationRadS2: 50, origin: {} };
const names = {
  v1: 'thumb_mcp thumb_abd thumb_pip thumb_dip index_abd index_mcp index_pip middle_abd middle_mcp middle_pip ring_abd ring_mcp ring_pip pinky_abd pinky_mcp pinky_pip wrist',
  v2: 'wrist thumb_cmc thumb_abd thumb_mcp thumb_dip index_abd index_mcp index_pip middle_abd middle_mcp middle_pip ring_abd ring_mcp ring_pip pinky_abd pinky_mcp pinky_pip',
};
const modelOf = (list: string) =>
  robotModelSchema.parse({
    name: 'test-hand',
    title: 'hand',
    family: 'serial',
    homeRad: list.split(' ').map(() => 0.05),
    joints: list.split(' ').map((name) => ({ name, minRad: -0.5, maxRad: 1.2, ...LIMIT })),
  });

describe('retargeting', () => {
  const angles = measured(hand(0.7));
  const of = (name: string) => angles[indexOf(name)]! + 0;

  it('orders the joints as the model does; the v2 thumb counts from its CMC joint', () => {
    const [v1, v2] = [names.v1, names.v2].map((list) =>
      createRetargeter(modelOf(list), retargetConfig.parse({}), false),
    );
    const out = new Float64Array(17);
    assert.equal(v1!.retarget(hand(0.7), 21, out), null);
    assert.deepEqual(
      [...out.subarray(0, 4)],
      [of('thumb_mcp'), of('thumb_abd'), of('thumb_pip'), 0.3 * of('thumb_pip')],
    );
    assert.equal(out[16], of('wrist'));
    assert.equal(v2!.retarget(hand(0.7), 21, out), null);
    assert.deepEqual(
      [...out.subarray(0, 5)],
      [of('wrist'), of('thumb_mcp'), of('thumb_abd'), of('thumb_pip'), 0.3 * of('thumb_pip')],
    );
  });

  it('applies gain and bias, then the range of motion', () => {
    const config = retargetConfig.parse({
      gain: { index_pip: 3, index_mcp: 0.5 },
      biasRad: { index_mcp: 0.1 },
    });
    const hands = createRetargeter(modelOf(names.v1), config);
    const out = new Float64Array(17);
    createRetargeter(modelOf(names.v1), config, false).retarget(hand(0.7), 21, out);
    assert.ok(Math.abs(out[6]! - 3 * of('index_pip')) < 1e-12);
    assert.ok(Math.abs(out[5]! - (0.5 * of('index_mcp') + 0.1)) < 1e-12);
    hands.retarget(hand(0.7), 21, out);
    assert.equal(out[6], 1.2);
  });

  it('keeps the wrist at its neutral position without gravity', () => {
    const hands = createRetargeter(modelOf(names.v1), retargetConfig.parse({ enableWrist: false }));
    const out = new Float64Array(17);
    hands.retarget(hand(0.7), 21, out);
    assert.equal(out[16], 0.05);
  });

  it('accepts other point sets and Unity’s frame', () => {
    const points = hand(0.5, [0.1, 0, 0, -0.1]);
    const sources: Record<number, number[]> = {
      24: [0, 3, 4, 5, 19, 6, 7, 8, 20, 9, 10, 11, 21, 12, 13, 14, 22, 16, 17, 18, 23],
      25: [0, 1, 2, 3, 4, 6, 7, 8, 9, 11, 12, 13, 14, 16, 17, 18, 19, 21, 22, 23, 24],
      26: [1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 13, 14, 15, 17, 18, 19, 20, 22, 23, 24, 25],
    };
    const expected = new Float64Array(17);
    createRetargeter(modelOf(names.v1), retargetConfig.parse({})).retarget(points, 21, expected);
    for (const [count, order] of Object.entries(sources)) {
      const other = new Float64Array(3 * Number(count)).fill(9);
      order.forEach((at, i) => {
        other.set([points[3 * i]!, points[3 * i + 1]!, -points[3 * i + 2]!], 3 * at);
      });
      const out = new Float64Array(17);
      const hands = createRetargeter(modelOf(names.v1), retargetConfig.parse({ pointFrame: 'unity' }));
      assert.equal(hands.retarget(other, Number(count), out), null);
      assert.deepEqual(out, expected);
    }
  });

  it('rejects other point counts and unknown joints', () => {
    const out = new Float64Array(63);
    for (const count of [0, 1, 20, 22, 23, 27])
      assert.equal(takeHandPoints(new Float64Array(99), count, 'rh', out), 'point-count');
    assert.equal(takeHandPoints(new Float64Array(60), 21, 'rh', out), 'point-count');
    assert.throws(() => createRetargeter(modelOf('thumb_mcp toe'), retargetConfig.parse({})), {
      code: 'bad-model',
    });
    assert.throws(
      () => createRetargeter(modelOf(names.v1), retargetConfig.parse({ gain: { index_dip: 2 } })),
      {
        code: 'bad-config',
      },
    );
  });
});
