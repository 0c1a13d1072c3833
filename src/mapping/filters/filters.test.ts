import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { quatAngleRad, quatNormalise, wrapRad } from '../../geometry/frames.ts';
import { chooseFilter, filterSetting } from './choose.ts';
import type { HandPose, PoseFilter } from './filter.ts';

const PERIOD_NS = 1e7;
const ALL = [
  'none',
  'moving-average:1',
  'moving-average:9',
  'ema:0.25',
  'ema:1',
  'one-euro:1,0',
  'one-euro:0.5,2',
];

function pose(sample: number, xM = 0, rollRad = 0): HandPose {
  return {
    takenNs: sample * PERIOD_NS,
    positionM: Float64Array.of(xM, 1, -0.3),
    quatXyzw: Float64Array.of(Math.sin(rollRad / 2), 0, 0, Math.cos(rollRad / 2)),
  };
}

const rollOf = (quat: Float64Array) => 2 * Math.atan2(quat[0]!, quat[3]!);

/** Lag of position and roll behind a hand that moves at `mPerS` and turns at `radPerS`, after `samples`. */
function rampLagS(filter: PoseFilter, mPerS: number, radPerS: number, samples: number): [number, number] {
  filter.reset(pose(0));
  let at = pose(0);
  for (let i = 1; i <= samples; i++) {
    at = pose(i, (mPerS * i * PERIOD_NS) / 1e9, (radPerS * i * PERIOD_NS) / 1e9);
    filter.apply(at);
  }
  const endS = (samples * PERIOD_NS) / 1e9;
  return [endS - at.positionM[0]! / mPerS, wrapRad(radPerS * endS - rollOf(at.quatXyzw)) / radPerS];
}

test('none passes everything through and reports no delay', () => {
  const filter = chooseFilter('none')!;
  const at = pose(1, 0.5, 0.5);
  filter.apply(at);
  assert.deepEqual(at, pose(1, 0.5, 0.5));
  assert.ok(Number.isNaN(filter.delayNs));
});

test('moving average: a step takes n samples, a ramp lags by (n − 1) / 2', () => {
  const filter = chooseFilter('moving-average:5')!;
  filter.reset(pose(0));
  const seen: number[] = [];
  for (let i = 1; i <= 6; i++) {
    const at = pose(i, 1);
    filter.apply(at);
    seen.push(at.positionM[0]!);
  }
  // The pose it was reset to counts as the first sample.
  for (const [i, expected] of [1 / 2, 2 / 3, 3 / 4, 4 / 5, 1, 1].entries())
    assert.ok(Math.abs(seen[i]! - expected) < 1e-12);
  const [placeS, turnS] = rampLagS(filter, 0.5, 0.5, 50);
  assert.ok(Math.abs(filter.delayNs - 2 * PERIOD_NS) < 1);
  assert.ok(Math.abs(placeS - 0.02) < 1e-9 && Math.abs(turnS - 0.02) < 1e-5, `${placeS}, ${turnS}`);
});

test('exponential: a step closes by alpha each sample, a ramp lags by (1 − alpha) / alpha', () => {
  const filter = chooseFilter('ema:0.2')!;
  filter.reset(pose(0));
  for (let i = 1; i <= 20; i++) {
    const at = pose(i, 1);
    filter.apply(at);
    assert.ok(Math.abs(at.positionM[0]! - (1 - 0.8 ** i)) < 1e-12);
  }
  const [placeS, turnS] = rampLagS(filter, 0.5, 0.5, 200);
  assert.ok(Math.abs(filter.delayNs - 4 * PERIOD_NS) < 1);
  assert.ok(Math.abs(placeS - 0.04) < 1e-9 && Math.abs(turnS - 0.04) < 1e-4, `${placeS}, ${turnS}`);
});

test('One-Euro: a ramp lags by 1 / (2π cutoff), and less the faster it is', () => {
  for (const [mPerS, radPerS] of [
    [0.1, 0.1],
    [0.5, 0.5],
    [2, 2],
  ] as const) {
    const filter = chooseFilter('one-euro:2,3')!;
    const [placeS, turnS] = rampLagS(filter, mPerS, radPerS, 600);
    const statedS = 1 / (2 * Math.PI * (2 + 3 * mPerS));
    assert.ok(Math.abs(placeS - statedS) < 1e-6, `${placeS} s, stated ${statedS}`);
    assert.ok(Math.abs(turnS - statedS) < 1e-3 * statedS + 1e-4, `${turnS} s, stated ${statedS}`);
    assert.ok(Math.abs(filter.delayNs / 1e9 - statedS) < 1e-6);
  }
  // At rest only the minimum cutoff counts; the slower of position and orientation is reported.
  const filter = chooseFilter('one-euro:2,3')!;
  rampLagS(filter, 1, 1e-9, 600);
  assert.ok(Math.abs(filter.delayNs / 1e9 - 1 / (4 * Math.PI)) < 1e-6);
});

test('One-Euro: a step rises without overshoot and arrives', () => {
  const filter = chooseFilter('one-euro:1,0')!;
  filter.reset(pose(0));
  let before = 0;
  for (let i = 1; i <= 300; i++) {
    const at = pose(i, 1);
    filter.apply(at);
    assert.ok(at.positionM[0]! > before && at.positionM[0]! <= 1);
    before = at.positionM[0]!;
  }
  assert.ok(before > 0.999);
});

for (const text of ALL) {
  test(`${text}: passes a hand at rest exactly, forgets on reset, ignores a repeated sample`, () => {
    const filter = chooseFilter(text)!;
    const number = fc.double({ min: -2, max: 2, noNaN: true });
    fc.assert(
      fc.property(fc.array(number, { minLength: 7, maxLength: 7 }), (values) => {
        fc.pre(Math.hypot(...values.slice(3)) > 0.1);
        const still: HandPose = {
          takenNs: 5e9,
          positionM: Float64Array.from(values.slice(0, 3)),
          quatXyzw: Float64Array.from(values.slice(3)),
        };
        quatNormalise(still.quatXyzw, still.quatXyzw);
        filter.reset(pose(0, 1, 1));
        filter.apply(pose(1, 2, 2));
        filter.reset(still);
        for (let i = 0; i < 20; i++) {
          const at: HandPose = {
            takenNs: 5e9 + Math.floor(i / 2) * PERIOD_NS,
            positionM: still.positionM.slice(),
            // q and −q are the same rotation.
            quatXyzw: still.quatXyzw.map((value) => (i % 3 === 0 ? -value : value)),
          };
          filter.apply(at);
          assert.ok(at.positionM.every((m, axis) => Math.abs(m - still.positionM[axis]!) < 1e-12));
          assert.ok(quatAngleRad(at.quatXyzw, still.quatXyzw) < 1e-9);
        }
      }),
    );
    filter.reset(pose(0));
    filter.apply(pose(1, 1, 1));
    const first = pose(2, 1, 1);
    filter.apply(first);
    const again = pose(2, 7, 2);
    filter.apply(again);
    if (text !== 'none') assert.deepEqual(again, first, 'not newer, so not a new sample');
  });

  test(`${text}: the quaternion stays normalised through noise and sign flips`, () => {
    const filter = chooseFilter(text)!;
    let nowNs = 0;
    filter.reset(pose(0));
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 4, maxLength: 4 }),
        (q) => {
          const at = pose(1);
          nowNs += 1e9 * Math.abs(q[0]!);
          at.takenNs = nowNs;
          at.quatXyzw.set(q);
          fc.pre(quatNormalise(at.quatXyzw, at.quatXyzw));
          filter.apply(at);
          assert.ok(Math.abs(Math.hypot(...at.quatXyzw) - 1) < 1e-9);
        },
      ),
    );
  });
}

test('settings: an unknown filter is rejected', () => {
  for (const text of [...ALL, 'one-euro:1.5,0.01']) assert.ok(filterSetting.safeParse(text).success, text);
  for (const text of [
    '',
    'ema',
    'ema:',
    'ema:0',
    'ema:1.1',
    'ema:x',
    'ema:0.5,1',
    'moving-average:0',
    'moving-average:2.5',
    'moving-average:101',
    'one-euro:1',
    'one-euro:0,1',
    'one-euro:1,-1',
    'one-euro:1,2,3',
    'one-euro:,1',
    'median:3',
  ])
    assert.equal(filterSetting.safeParse(text).success, false, text);
});
