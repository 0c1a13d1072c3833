import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { HAND_NUMBERS } from '../../hand/points.ts';
import { HandTransform, handTransformConfig } from './transform.ts';

const transform = (values: Record<string, unknown> = {}) =>
  new HandTransform(handTransformConfig.parse(values));
const filled = (value: number): Float64Array => new Float64Array(HAND_NUMBERS).fill(value);

describe('hand transform', () => {
  it('leaves the points unchanged by default', () => {
    const points = fc.float64Array({ minLength: 63, maxLength: 63, min: -2, max: 2, noNaN: true });
    fc.assert(
      fc.property(points, (pointsM) => {
        const out = filled(Number.NaN);
        assert.equal(transform().apply(pointsM, 1, out), 'ok');
        assert.deepEqual(
          [...out],
          [...pointsM].map((value) => value + 0),
        );
      }),
    );
  });

  it('applies the mean of the last samples, then scale, then offset', () => {
    const stage = transform({ movingAverage: 3, scale: 2, offsetM: [1, 0, -1] });
    const out = filled(0);
    const seen = [1, 2, 6, 4].map((value, i) => {
      stage.apply(filled(value), i + 1, out);
      return out.slice(0, 3);
    });
    assert.deepEqual(
      seen.map(([x]) => x),
      [3, 4, 7, 9],
    );
    assert.deepEqual([...seen[3]!], [9, 8, 7]);
    stage.apply(filled(100), 4, out);
    assert.equal(out[0], 9, 'a repeated sample gives the same result');
  });

  it('restarts the mean when the wrist leaves its bounds', () => {
    const stage = transform({ movingAverage: 4, bounds: { minM: [0, 0, 0], maxM: [1, 1, 1] } });
    const out = filled(0);
    stage.apply(filled(0.2), 1, out);
    assert.equal(stage.apply(filled(1.5), 2, out), 'out-of-bounds');
    assert.equal(out[0], 0.2);
    stage.apply(filled(0.8), 3, out);
    assert.equal(out[0], 0.8);
  });
});
