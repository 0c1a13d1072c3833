import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { WristRates } from './wrist-rates.ts';

const DT_S = 1 / 72;
const JOINTS = 6;
const LAST = JOINTS - 1;
const every = (value: number) => new Float64Array(JOINTS).fill(value);

/** Turns the last joint to a goal as fast as it may; returns its rates. */
function turn(goalRad: number, accelerationRadS2: number): number[] {
  const limits = {
    minRad: every(-6),
    maxRad: every(6),
    velocityRadS: every(3),
    accelerationRadS2: every(accelerationRadS2),
  };
  const rates = new WristRates(JOINTS, limits, 1);
  rates.engage();
  const [qRad, fromRad, left, low, high] = [every(0), every(0), every(0), every(0), every(0)];
  const found: number[] = [];
  for (let n = 0; n < 400; n++) {
    low.fill(-6);
    high.fill(6);
    left[LAST] = goalRad - qRad[LAST]!;
    if (rates.isTrailing) rates.aim(qRad, left, DT_S);
    rates.bound(qRad, DT_S, false, low, high);
    fromRad.set(qRad);
    qRad[LAST] = Math.max(low[LAST]!, Math.min(high[LAST]!, goalRad));
    rates.pace(fromRad, qRad, DT_S, low, high);
    found.push((qRad[LAST]! - fromRad[LAST]!) / DT_S);
  }
  assert.equal(qRad[LAST], goalRad);
  return found;
}

describe('the rates of a wrist', () => {
  it('a trailing joint slows down before its goal, at most twice as hard as the arm can', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 3, max: 5, noNaN: true }),
        fc.boolean(),
        fc.double({ min: 6, max: 30, noNaN: true }),
        (farRad, isBack, accelerationRadS2) => {
          const rates = turn(isBack ? -farRad : farRad, accelerationRadS2).map(Math.abs);
          const braking = rates.map((rate, n) => ((rates[n - 1] ?? 0) - rate) / DT_S);
          assert.ok(Math.max(...braking) <= 2 * accelerationRadS2);
        },
      ),
      { numRuns: 50 },
    );
  });

  it('near a singularity, a joint neither stops nor turns back faster than the arm can, and stays in its range', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: -2, max: 2, noNaN: true }), { minLength: 5, maxLength: 60 }),
        fc.double({ min: 3, max: 30, noNaN: true }),
        (goals, accelerationRadS2) => {
          const limits = {
            minRad: every(-1.5),
            maxRad: every(1.5),
            velocityRadS: every(3),
            accelerationRadS2: every(accelerationRadS2),
          };
          const rates = new WristRates(JOINTS, limits, 1);
          rates.engage();
          const [qRad, fromRad, low, high] = [every(0), every(0), every(0), every(0)];
          let before = 0;
          for (const goal of goals.flatMap((rad) => [rad, rad, rad])) {
            low.fill(-1.5);
            high.fill(1.5);
            rates.bound(qRad, DT_S, true, low, high);
            fromRad.set(qRad);
            for (let i = 0; i < JOINTS; i++) qRad[i] = Math.max(low[i]!, Math.min(high[i]!, goal));
            rates.pace(fromRad, qRad, DT_S, low, high);
            const rate = (qRad[LAST]! - fromRad[LAST]!) / DT_S;
            assert.ok(Math.abs(rate - before) <= 1.01 * accelerationRadS2 * DT_S, `${rate} after ${before}`);
            assert.ok(Math.abs(qRad[LAST]!) <= 1.5);
            before = rate;
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  for (const { isSingular, share } of [
    { isSingular: true, share: 0.5 },
    { isSingular: false, share: 1.2 },
  ])
    it(`of a hand that turns change by ${share} of what the arm can, ${isSingular ? '' : 'not '}near a singularity`, () => {
      const limits = {
        minRad: every(-6),
        maxRad: every(6),
        velocityRadS: every(3),
        accelerationRadS2: every(5),
      };
      const rates = new WristRates(JOINTS, limits, 1);
      rates.engage();
      const [qRad, fromRad, low, high] = [every(0), every(0), every(0), every(0)];
      let before = 0;
      let largest = 0;
      for (let n = 0; n < 300; n++) {
        const halfRad = 0.25 * n * DT_S;
        rates.turn(Float64Array.of(0, 0, Math.sin(halfRad), Math.cos(halfRad)), DT_S);
        low.fill(-6);
        high.fill(6);
        rates.bound(qRad, DT_S, isSingular, low, high);
        fromRad.set(qRad);
        const goal = Math.floor(n / 60) % 2 === 0 ? 1 : -1;
        for (let i = 0; i < JOINTS; i++) qRad[i] = Math.max(low[i]!, Math.min(high[i]!, goal));
        rates.pace(fromRad, qRad, DT_S, low, high);
        const rate = (qRad[LAST]! - fromRad[LAST]!) / DT_S;
        if (n > 1) largest = Math.max(largest, Math.abs(rate - before) / (5 * DT_S));
        before = rate;
      }
      assert.ok(Math.abs(largest - share) < 1e-9, `${largest} of what the arm can`);
    });
});
