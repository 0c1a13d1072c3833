import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { StreamReference } from './reference.ts';

const MS = 1e6;
const limits = {
  minRad: Float64Array.of(-50),
  maxRad: Float64Array.of(50),
  velocityRadS: Float64Array.of(100),
  accelerationRadS2: Float64Array.of(1000),
  jerkRadS3: Float64Array.of(10_000),
};

interface Sample {
  ms: number;
  rad: number;
  radS: number;
}

/** Commands every 10 ms along `path`, delayed by `lateMs`; samples the reference every ms. */
function run(
  path: (ms: number) => number,
  untilMs: number,
  lateMs: (ms: number) => number,
  carriesOn = true,
): (ms: number) => Sample {
  const reference = new StreamReference(limits, carriesOn);
  reference.restart(Float64Array.of(path(0)), 0);
  const commands: { stampMs: number; atMs: number }[] = [];
  for (let ms = 0; ms <= untilMs; ms += 10) commands.push({ stampMs: ms, atMs: ms + lateMs(ms) });
  const samples: Sample[] = [];
  const [rad, radS] = [new Float64Array(1), new Float64Array(1)];
  let newest = -1;
  for (let ms = 0; ms <= untilMs; ms++) {
    // Like playout: use the newest of those that have arrived.
    const due = commands.filter(({ stampMs, atMs }) => atMs === ms && stampMs > newest).at(-1);
    if (due !== undefined) {
      newest = due.stampMs;
      reference.aim(Float64Array.of(path(due.stampMs)), due.stampMs * MS, ms * MS);
    }
    reference.at(ms * MS, rad, radS);
    samples.push({ ms, rad: rad[0]!, radS: radS[0]! });
  }
  return (ms) => samples[ms]!;
}

const never = () => Number.POSITIVE_INFINITY;

describe('the reference of a stream', () => {
  it('matches the hand while commands are on time', () => {
    const at = run(
      (ms) => ms / 1000,
      500,
      () => 0,
    );
    for (let ms = 100; ms <= 500; ms++) {
      assert.ok(Math.abs(at(ms).rad - ms / 1000) < 1e-4, `${at(ms).rad} at ${ms}`);
      assert.ok(Math.abs(at(ms).radS - 1) < 0.01);
    }
  });

  it('continues at the recent velocity for 40 ms, then slows to rest by 80 ms', () => {
    const at = run(
      (ms) => ms / 1000,
      400,
      (ms) => (ms > 100 ? never() : 0),
    );
    for (const ms of [105, 120, 140]) assert.ok(Math.abs(at(ms).rad - ms / 1000) < 1e-3, `${at(ms).rad}`);
    // Half the velocity is left in the middle of the fade: 40 + 20 − 5 ms.
    assert.ok(Math.abs(at(160).rad - 0.155) < 1e-3 && Math.abs(at(160).radS - 0.5) < 0.01);
    for (const ms of [180, 185, 200, 400])
      assert.ok(Math.abs(at(ms).rad - 0.16) < 1e-3 && at(ms).radS === 0, `${at(ms).rad} at ${ms}`);
  });

  it('keeps the last command as the goal, at rest, when extrapolation is off', () => {
    const at = run(
      (ms) => ms / 1000,
      200,
      (ms) => (ms > 100 ? never() : 0),
      false,
    );
    assert.ok(Math.abs(at(110).rad - 0.11) < 1e-3);
    for (const ms of [116, 130, 200]) assert.deepEqual([at(ms).rad, at(ms).radS], [0.1, 0]);
  });

  it('returns to the commands over 25 ms, without a jump', () => {
    // The hand stops while commands are missing, so 30 ms of the extrapolation were wrong.
    const path = (ms: number) => Math.min(ms, 100) / 1000;
    const at = run(path, 300, (ms) => (ms > 100 && ms < 140 ? never() : 0));
    assert.ok(Math.abs(at(139).rad - 0.139) < 1e-3);
    for (let ms = 101; ms < 300; ms++)
      assert.ok(Math.abs(at(ms).rad - at(ms - 1).rad) < 0.006, `${at(ms).rad} at ${ms}`);
    for (const ms of [200, 250]) assert.ok(Math.abs(at(ms).rad - 0.1) < 1e-3, `${at(ms).rad}`);
  });

  it('does not mistake the blend-out of an error for the velocity of the hand', () => {
    // One command is 20 ms late, the others are on time: the hand continues as before.
    const at = run(
      (ms) => ms / 1000,
      300,
      (ms) => (ms > 100 && ms < 130 ? 130 - ms : 0),
    );
    for (let ms = 60; ms <= 300; ms++) {
      assert.ok(Math.abs(at(ms).rad - ms / 1000) < 1.5e-3, `${at(ms).rad} at ${ms}`);
      assert.ok(Math.abs(at(ms).radS - 1) < 0.1, `${at(ms).radS} rad/s at ${ms}`);
    }
  });

  it('extrapolates a late command from its due time', () => {
    const reference = new StreamReference(limits, true);
    const [rad, radS] = [new Float64Array(1), new Float64Array(1)];
    for (let ms = 0; ms <= 300; ms += 10) {
      // Every third is 25 ms late and delays those behind it.
      const nowMs = ms + (ms > 100 && ms % 30 === 0 ? 25 : 0);
      reference.aim(Float64Array.of(ms / 1000), ms * MS, nowMs * MS, ms * MS);
      reference.at(nowMs * MS, rad, radS);
      if (ms > 100) assert.ok(Math.abs(rad[0]! - nowMs / 1000) < 1e-3, `${rad[0]} at ${nowMs}`);
    }
    reference.aim(Float64Array.of(0.31), 310 * MS, 320 * MS, Number.NaN);
    reference.at(320 * MS, rad, radS);
    assert.ok(Number.isFinite(rad[0]!) && Number.isFinite(radS[0]!), 'due time unknown');
    reference.aim(Float64Array.of(0.32), 320 * MS, 900 * MS, 320 * MS);
    reference.at(900 * MS, rad, radS);
    assert.ok(rad[0]! <= 0.32 + 0.061, 'at most 60 ms of motion');
  });

  it('does not extrapolate from fewer than four commands, or after a pause', () => {
    const at = run(
      (ms) => ms / 1000,
      100,
      (ms) => (ms > 20 ? never() : 0),
    );
    for (let ms = 36; ms <= 100; ms++) assert.deepEqual([at(ms).rad, at(ms).radS], [0.02, 0]);
    const reference = new StreamReference(limits, true);
    const [rad, radS] = [new Float64Array(1), new Float64Array(1)];
    for (let ms = 0; ms <= 50; ms += 10) reference.aim(Float64Array.of(ms / 1000), ms * MS, ms * MS);
    reference.pause();
    reference.at(80 * MS, rad, radS);
    assert.deepEqual([rad[0], radS[0]], [0.05, 0]);
  });

  it('treats a stamp that does not increase as a new stream', () => {
    const reference = new StreamReference(limits, true);
    const [rad, radS] = [new Float64Array(1), new Float64Array(1)];
    for (let ms = 0; ms <= 50; ms += 10) reference.aim(Float64Array.of(ms / 1000), ms * MS, ms * MS);
    reference.aim(Float64Array.of(0), 10 * MS, 60 * MS);
    reference.at(90 * MS, rad, radS);
    assert.deepEqual([rad[0], radS[0]], [0, 0]);
  });

  it('stays finite, in range, and continuous across overdue commands, for any input', () => {
    const step = fc.record({
      rad: fc.double({ min: -0.05, max: 0.05, noNaN: true }),
      stampMs: fc.integer({ min: -5, max: 150 }),
      gapMs: fc.integer({ min: 0, max: 200 }),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 5, maxLength: 40 }), (steps) => {
        const reference = new StreamReference(limits, true);
        const [before, after, radS] = [new Float64Array(1), new Float64Array(1), new Float64Array(1)];
        let [nowMs, stampMs, rad, streak] = [0, 0, 0, 0];
        for (const { rad: by, stampMs: spacingMs, gapMs } of steps) {
          [nowMs, stampMs, rad] = [nowMs + gapMs, stampMs + spacingMs, rad + by];
          reference.at(nowMs * MS, before, radS);
          reference.aim(Float64Array.of(rad), stampMs * MS, nowMs * MS);
          reference.at(nowMs * MS, after, radS);
          assert.ok(Number.isFinite(after[0]!) && Number.isFinite(radS[0]!));
          assert.ok(Math.abs(after[0]!) <= 50);
          if (streak >= 4 && gapMs > 30) assert.ok(Math.abs(after[0]! - before[0]!) < 1e-9);
          streak = spacingMs >= 1 && spacingMs <= 100 ? streak + 1 : 1;
        }
      }),
    );
  });
});
