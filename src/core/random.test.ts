import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Random, TimeNoise } from './random.ts';

const SEED = fc.integer({ min: 0, max: 2 ** 31 });

const take = (random: Random, count: number) => Array.from({ length: count }, () => random.uniform());

function moments(values: readonly number[]): { mean: number; sd: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  return { mean, sd: Math.sqrt(variance) };
}

describe('Random', () => {
  it('repeats for the same seed and purpose and differs between them', () => {
    fc.assert(
      fc.property(SEED, (seed) => {
        const numbers = take(new Random(seed, 'loss'), 20);
        assert.deepEqual(take(new Random(seed, 'loss'), 20), numbers);
        assert.notDeepEqual(take(new Random(seed, 'copies'), 20), numbers);
        assert.notDeepEqual(take(new Random(seed + 1, 'loss'), 20), numbers);
        assert.ok(numbers.every((value) => value >= 0 && value < 1));
      }),
    );
  });

  it('gives the same numbers on every machine', () => {
    assert.deepEqual(
      take(new Random(1, 'loss'), 3).map((value) => Math.round(value * 2 ** 32)),
      [1_263_441_571, 23_827_950, 1_079_231_760],
    );
  });

  it('has the documented moments', () => {
    const random = new Random(7, 'moments');
    const draw = (one: () => number) => moments(Array.from({ length: 50_000 }, one));
    const near = (got: number, wanted: number) =>
      assert.ok(Math.abs(got - wanted) < 0.02, `${got} ${wanted}`);
    const uniform = draw(() => random.uniform());
    near(uniform.mean, 0.5);
    near(uniform.sd, Math.sqrt(1 / 12));
    const normal = draw(() => random.normal());
    near(normal.mean, 0);
    near(normal.sd, 1);
    const exponential = draw(() => random.exponential(1));
    near(exponential.mean, 1);
    near(exponential.sd, 1);
  });
});

describe('TimeNoise', () => {
  const STEP_NS = 1e6;

  it('is a function of time: the order and number of reads change nothing', () => {
    const times = Array.from({ length: 500 }, (_, i) => i * 0.37 * STEP_NS);
    const forwards = new TimeNoise(3, 'jitter', STEP_NS);
    const backwards = new TimeNoise(3, 'jitter', STEP_NS);
    const values = times.map((timeNs) => forwards.at(timeNs));
    assert.deepEqual(
      times.toReversed().map((timeNs) => backwards.at(timeNs)),
      values.toReversed(),
    );
  });

  it('is continuous, of mean 0 and spread 1, and uncorrelated after two steps', () => {
    const noise = new TimeNoise(5, 'jitter', STEP_NS);
    const at = (i: number) => noise.at(i * 0.1 * STEP_NS);
    const values = Array.from({ length: 100_000 }, (_, i) => at(i));
    const { mean, sd } = moments(values);
    assert.ok(Math.abs(mean) < 0.05 && Math.abs(sd - 1) < 0.03, `${mean} ${sd}`);
    for (let i = 1; i < values.length; i++) assert.ok(Math.abs(values[i]! - values[i - 1]!) < 1.2);
    const lagged = (lag: number) =>
      values.slice(lag).reduce((sum, value, i) => sum + value * values[i]!, 0) / (values.length - lag);
    assert.ok(lagged(1) > 0.9);
    assert.ok(Math.abs(lagged(20)) < 0.05);
  });

  it('is constant within a step', () => {
    const noise = new TimeNoise(5, 'routes', STEP_NS);
    assert.equal(noise.stepAt(0.1 * STEP_NS), noise.stepAt(0.9 * STEP_NS));
    assert.notEqual(noise.stepAt(0.9 * STEP_NS), noise.stepAt(1.1 * STEP_NS));
  });
});
