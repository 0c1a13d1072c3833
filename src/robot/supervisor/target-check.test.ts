import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { robotModelSchema } from '../../geometry/robot-model.ts';
import { jointLimits } from './limits.ts';
import { supervisorConfig } from './supervisor-config.ts';
import { TargetCheck } from './target-check.ts';

const MS = 1e6;
const dh = { aM: 0, dM: 0, alphaRad: 0 };
const elbow = { minRad: -2, maxRad: 2, maxVelocityRadS: 2, maxAccelerationRadS2: 10, maxJerkRadS3: 500, dh };
const model = robotModelSchema.parse({
  name: 'two',
  title: 'two joints',
  family: 'ur',
  homeRad: [0, 0],
  joints: [
    { name: 'base', ...elbow },
    { name: 'elbow', ...elbow },
  ],
});

function begun(rad = 0, startNs = 1e9): TargetCheck {
  const check = new TargetCheck(model, jointLimits(model, supervisorConfig.parse({})));
  assert.ok(check.canBegin(startNs, Float64Array.of(0, rad)));
  check.begin(startNs, Float64Array.of(0, rad));
  return check;
}

/** Index of the first target that fails, sampling `rad` every 5 ms; −1: all pass. */
function stopsAt(check: TargetCheck, rad: (s: number) => number, seconds: number): number {
  for (let n = 1; n <= seconds * 200; n++)
    if (!check.passes(1e9 + n * 5 * MS, Float64Array.of(0, rad(n * 0.005)))) return n;
  return -1;
}

/** From rest at constant jerk up to an acceleration, then up to a speed, then at constant speed. */
function ramp(jerk: number, acceleration: number, speed: number): (s: number) => number {
  const jerkS = acceleration / jerk;
  const evenS = speed / acceleration - jerkS;
  return (s) => {
    const moved = (t: number) => (jerk * Math.max(0, t) ** 3) / 6;
    return moved(s) - moved(s - jerkS) - moved(s - jerkS - evenS) + moved(s - 2 * jerkS - evenS);
  };
}

describe('the final target check', () => {
  it('passes a motion at all of its limits, and a target at rest', () => {
    assert.equal(stopsAt(begun(), ramp(500, 10, 2), 0.8), -1);
    assert.equal(
      stopsAt(begun(0.3), () => 0.3, 2),
      -1,
    );
  });

  it('fails a motion slightly beyond one of them, and names joint, value and limit', () => {
    for (const [motion, figure] of [
      [ramp(500, 10, 2.01), /^limit check: joint "elbow" would move at 2\.0\d+ rad\/s, limit 2\.000$/],
      [ramp(500, 10.1, 2), /^limit check: joint "elbow" would accelerate at 10\.\d+ rad\/s², limit 10\.00$/],
      [ramp(510, 10, 2), /^limit check: joint "elbow" would jerk at 5[01]\d\.\d rad\/s³, limit 500\.0$/],
    ] as const) {
      const check = begun();
      assert.notEqual(stopsAt(check, motion, 0.8), -1);
      assert.match(check.breach, figure);
    }
  });

  it('fails a jump, however short the time', () => {
    for (const ms of [0, 0.001, 1, 5, 50, 150]) {
      const check = begun();
      assert.ok(check.passes(1e9 + 10 * MS, Float64Array.of(0, 0)));
      assert.ok(!check.passes(1e9 + (10 + ms) * MS, Float64Array.of(0, 0.002 * ms + 1e-6)), `${ms} ms`);
    }
  });

  it('treats a target at rest as at rest after any time', () => {
    const check = begun();
    for (let n = 1; n < 2000; n++) assert.ok(check.passes(1e9 + n * 5 * MS, Float64Array.of(0, 0)));
    assert.ok(!check.passes(1e9 + 10_000 * MS, Float64Array.of(0, 7e-5)));
  });

  it('fails targets outside the range, except a joint found outside that moves in', () => {
    const inside = begun(2);
    assert.ok(!inside.passes(1e9 + 5 * MS, Float64Array.of(0, 2 + 1e-7)));
    assert.match(inside.breach, /joint "elbow" would be at 2\.000 rad, limit 2\.000/);
    const outside = begun(2.5);
    const slowly = ramp(100, 5, 0.5);
    assert.equal(
      stopsAt(outside, (s) => 2.5 - slowly(s), 0.5),
      -1,
    );
    assert.notEqual(
      stopsAt(begun(2.5), (s) => 2.5 + slowly(s), 0.5),
      -1,
    );
  });

  it('fails NaN targets, and any target before it has begun', () => {
    for (const rad of [Number.NaN, Number.POSITIVE_INFINITY]) {
      const check = begun();
      assert.ok(!check.passes(1e9 + 5 * MS, Float64Array.of(0, rad)));
      assert.match(check.breach, /joint "elbow" would be at (NaN|Infinity)/);
    }
    const check = new TargetCheck(model, jointLimits(model, supervisorConfig.parse({})));
    assert.ok(!check.passes(1e9, Float64Array.of(0, 0)));
  });

  it('accounts for late and uneven cycles', () => {
    const gapsMs = fc.array(fc.double({ min: 0, max: 120, noNaN: true }), { minLength: 4, maxLength: 60 });
    fc.assert(
      fc.property(gapsMs, (gaps) => {
        const check = begun();
        const motion = ramp(500, 10, 2);
        let ns = 1e9;
        for (const gap of gaps) {
          ns += Math.round(gap * MS);
          const rad = motion((ns - 1e9) / 1e9);
          if (rad > 2) return;
          assert.ok(check.passes(ns, Float64Array.of(0, rad)), check.breach);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('lets an arm begin again at a pose once it could have got there within its limits', () => {
    const check = begun();
    const motion = ramp(500, 10, 2);
    assert.equal(stopsAt(check, motion, 0.5), -1);
    const [stoppedNs, stoppedRad] = [1.5e9, motion(0.5)];
    const readyMs = (rad: number) => {
      for (let ms = 0; ms < 5000; ms++)
        if (check.canBegin(stoppedNs + ms * MS, Float64Array.of(0, rad))) return ms;
      return Number.POSITIVE_INFINITY;
    };
    // Braking alone takes 0.2 s and 0.2 rad.
    assert.ok(readyMs(stoppedRad) > 200 && readyMs(stoppedRad) < 1000, `${readyMs(stoppedRad)} ms`);
    assert.ok(readyMs(stoppedRad + 1) > readyMs(stoppedRad) + 300);
    const stood = begun(0.3);
    assert.ok(stood.canBegin(1e9, Float64Array.of(0, 0.3)), 'may continue from where it was at rest');
    assert.ok(!stood.canBegin(1e9 + 5 * MS, Float64Array.of(0, 0.31)));
    stood.begin(1e9 + 5 * MS, Float64Array.of(0, 0.31));
    assert.ok(!stood.passes(1e9 + 5 * MS, Float64Array.of(0, 0.31)), 'begun there anyway');
    assert.ok(stood.canBegin(1e9 + 200 * MS, Float64Array.of(0, 0.31)));
  });
});
