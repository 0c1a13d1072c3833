import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Extrapolation } from './extrapolation.ts';

const MS = 1e6;

/** Commands every 10 ms along `path`, applied at their instants, with those in `missing` left out. */
function run(path: (ms: number) => number, untilMs: number, missing: (ms: number) => boolean) {
  const bridge = new Extrapolation(1);
  const out = new Float64Array(1);
  const targets: { ms: number; rad: number; guessed: boolean }[] = [];
  let target = path(0);
  for (let ms = 0; ms <= untilMs; ms += 5) {
    let guessed = false;
    if (ms % 10 === 0 && !missing(ms)) {
      out[0] = path(ms);
      bridge.take(out, ms * MS, ms * MS);
      target = out[0];
    } else if (bridge.propose(ms * MS, out)) {
      guessed = true;
      target = out[0]!;
    }
    targets.push({ ms, rad: target, guessed });
  }
  return (ms: number) => targets.find((entry) => entry.ms === ms)!;
}

describe('extrapolation', () => {
  it('keeps its hands off while commands come in time', () => {
    const at = run(
      (ms) => Math.sin(ms / 100),
      500,
      () => false,
    );
    for (let ms = 0; ms <= 500; ms += 5) assert.equal(at(ms).guessed, false);
  });

  it('goes on at the recent velocity for 40 ms, has faded out at 80 ms, then stands', () => {
    const at = run(
      (ms) => ms / 1000,
      400,
      (ms) => ms > 100,
    );
    assert.ok(Math.abs(at(120).rad - 0.12) < 1e-12);
    assert.ok(Math.abs(at(140).rad - 0.14) < 1e-12);
    // Half the velocity is left in the middle of the fade: 40 + 20 − 5 ms.
    assert.ok(Math.abs(at(160).rad - 0.155) < 1e-12);
    for (const ms of [180, 185, 200, 400]) assert.ok(Math.abs(at(ms).rad - 0.16) < 1e-12);
  });

  it('leads back to the commands over 25 ms', () => {
    // The hand stops while commands are missing: 30 ms of the guess were wrong.
    const path = (ms: number) => Math.min(ms, 100) / 1000;
    const at = run(path, 300, (ms) => ms > 100 && ms < 140);
    assert.ok(Math.abs(at(135).rad - 0.135) < 1e-12);
    assert.ok(Math.abs(at(140).rad - 0.135) < 1e-12, 'no jump when they come back');
    assert.ok(Math.abs(at(150).rad - (0.1 + 0.035 * 0.6)) < 1e-12);
    for (let ms = 140; ms < 165; ms += 5) assert.ok(at(ms + 5).rad < at(ms).rad + 1e-12);
    for (const ms of [170, 175, 200]) assert.ok(Math.abs(at(ms).rad - 0.1) < 1e-12);
  });

  it('does not guess from fewer than four commands, nor across a reset', () => {
    const at = run(
      (ms) => ms / 1000,
      100,
      (ms) => ms > 20,
    );
    for (let ms = 0; ms <= 100; ms += 5) assert.equal(at(ms).guessed, false);
    const bridge = new Extrapolation(1);
    for (let ms = 0; ms <= 50; ms += 10) bridge.take(Float64Array.of(ms), ms * MS, ms * MS);
    bridge.reset();
    assert.equal(bridge.propose(80 * MS, new Float64Array(1)), false);
  });

  it('takes a stamp that does not grow for another beginning', () => {
    const bridge = new Extrapolation(1);
    for (let ms = 0; ms <= 50; ms += 10) bridge.take(Float64Array.of(ms), ms * MS, ms * MS);
    bridge.take(Float64Array.of(0), 10 * MS, 60 * MS);
    assert.equal(bridge.propose(90 * MS, new Float64Array(1)), false);
  });

  it('is finite, never farther ahead than 60 ms of motion, and continuous when commands return', () => {
    const step = fc.record({
      rad: fc.double({ min: -0.05, max: 0.05, noNaN: true }),
      gapMs: fc.integer({ min: 1, max: 200 }),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 5, maxLength: 40 }), (steps) => {
        const bridge = new Extrapolation(1);
        const out = new Float64Array(1);
        let nowMs = 0;
        let rad = 0;
        let fastest = 0;
        for (const { rad: by, gapMs } of steps) {
          fastest = Math.max(fastest, Math.abs(by) / 0.01);
          let last: number | null = null;
          for (let ms = 5; ms < gapMs; ms += 5)
            if (bridge.propose((nowMs + ms) * MS, out)) {
              last = out[0]!;
              assert.ok(Number.isFinite(last));
            }
          nowMs += Math.max(gapMs, 10);
          rad += by;
          const target = Float64Array.of(rad);
          bridge.take(target, nowMs * MS, nowMs * MS);
          assert.ok(Number.isFinite(target[0]!));
          if (last === null) continue;
          // 60 ms of motion ahead of either, and what was left of an earlier guess.
          assert.ok(Math.abs(last - rad) <= 0.06 * fastest * 3 + 0.5, `${last} from ${rad}`);
        }
      }),
    );
  });
});
