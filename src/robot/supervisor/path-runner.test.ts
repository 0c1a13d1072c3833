import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { JointLimits } from './limits.ts';
import { PathRunner, STEP_S } from './path-runner.ts';

const limits: JointLimits = {
  minRad: Float64Array.of(-2, -2),
  maxRad: Float64Array.of(2, 2),
  velocityRadS: Float64Array.of(2, 3),
  accelerationRadS2: Float64Array.of(10, 20),
  jerkRadS3: Float64Array.of(500, 1000),
};
const STEP_NS = STEP_S * 1e9;
/** How far ahead the runner is stepped: what the smoothing delays. */
const LEAD_NS = 20e6;

/** Runs a runner and judges every step by its positions alone. */
class Judged {
  readonly runner: PathRunner;
  steps = 0;
  #before = [0, 0];
  #speed = [0, 0];

  constructor(extrapolates = true, maxLagS = 3) {
    this.runner = new PathRunner(limits, () => true, extrapolates, maxLagS);
    this.runner.restart(new Float64Array(2), 0);
  }

  get nowNs(): number {
    return this.steps * STEP_NS;
  }

  step(brakes = false): void {
    this.steps++;
    if (brakes) this.runner.brake();
    else {
      this.runner.atNs = this.nowNs + LEAD_NS;
      this.runner.step();
    }
    this.runner.rawRad.forEach((rad, i) => {
      const speed = (rad - this.#before[i]!) / STEP_S;
      const change = (speed - this.#speed[i]!) / STEP_S;
      assert.ok(Math.abs(speed) <= limits.velocityRadS[i]! + 1e-6, `${speed} rad/s`);
      assert.ok(Math.abs(change) <= limits.accelerationRadS2[i]! + 1e-3, `${change} rad/s²`);
      assert.ok(rad >= limits.minRad[i]! && rad <= limits.maxRad[i]!, `${rad} rad`);
      this.#before[i] = rad;
      this.#speed[i] = speed;
    });
  }
}

const place = fc.integer({ min: -1900, max: 1900 }).map((mrad) => mrad / 1000);
/** A minimum-jerk stroke to a place in some time, or a pause, a resume, braking, a gap in the stream. */
const stroke = fc.record({
  to: fc.tuple(place, place),
  forMs: fc.integer({ min: 50, max: 1200 }),
  everyMs: fc.constantFrom(5, 10, 14, 20, 50),
  ending: fc.constantFrom('', '', '', 'brake', 'silence', 'resume', 'doubt'),
});

describe('running along a drawn path', () => {
  it('keeps velocity, acceleration and range in every step, for any stream; and ends where the stream does', () => {
    fc.assert(
      fc.property(fc.array(stroke, { minLength: 1, maxLength: 6 }), (strokes) => {
        const judged = new Judged();
        const { runner } = judged;
        let at = [0, 0];
        for (const { to, forMs, everyMs, ending } of strokes) {
          const from = ending === 'resume' ? [...runner.rawRad] : at;
          if (ending === 'resume') runner.resume(judged.nowNs);
          const startNs = judged.nowNs;
          for (let ms = 0; ms <= forMs; ms += everyMs) {
            while (judged.nowNs < startNs + ms * 1e6) judged.step();
            const s = Math.min(1, ms / forMs);
            const share = s * s * s * (10 - 15 * s + 6 * s * s);
            at = from.map((rad, i) => rad + share * (to[i]! - rad));
            runner.add(at, startNs + ms * 1e6);
          }
          if (ending === 'doubt') runner.doubt();
          for (let n = 0; n < 80 && ending === 'silence'; n++) judged.step();
          for (let n = 0; n < 300 && ending === 'brake'; n++) judged.step(true);
          if (ending === 'brake') assert.ok(runner.isAtRest);
        }
        // The stream ends at a pose: the arm ends there.
        const farthest = [0, 0].map(() => 0);
        for (let n = 0; n < 3000; n++) {
          if (n % 4 === 0) runner.add(at, judged.nowNs);
          judged.step();
          if (n < 2600) continue;
          at.forEach((rad, i) => {
            farthest[i] = Math.max(farthest[i]!, Math.abs(runner.rawRad[i]! - rad));
          });
        }
        assert.ok(Math.max(...farthest) < 1e-3, `${farthest} rad from its end`);
      }),
      { numRuns: 60 },
    );
  });

  it('does not pass the end of a stroke, however fast the hand was', () => {
    fc.assert(
      fc.property(
        place,
        fc.integer({ min: 150, max: 1500 }),
        fc.constantFrom(10, 14, 20),
        (to, forMs, everyMs) => {
          const judged = new Judged();
          let past = 0;
          for (let ms = 0; ms <= 6000; ms += everyMs) {
            while (judged.nowNs < ms * 1e6) {
              judged.step();
              past = Math.max(past, (judged.runner.rawRad[0]! - to) * Math.sign(to));
            }
            const s = Math.min(1, ms / forMs);
            judged.runner.add([to * s * s * s * (10 - 15 * s + 6 * s * s), 0], ms * 1e6);
          }
          assert.ok(past < 2e-3, `${past} rad past the end`);
          assert.ok(Math.abs(judged.runner.rawRad[0]! - to) < 1e-4);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('soon catches up with a hand that set off abruptly and moves on evenly', () => {
    const judged = new Judged();
    // 6 of 10 rad/s² for 0.15 s, then 0.9 rad/s.
    const handRad = (s: number) => (s < 0.15 ? 3 * s * s : 0.0675 + 0.9 * (s - 0.15));
    const behindMs = (ms: number) =>
      (1e3 * (handRad(ms / 1e3 + LEAD_NS / 1e9) - judged.runner.rawRad[0]!)) / 0.9;
    for (let ms = -200; ms <= 400; ms += 14) {
      while (judged.nowNs < (ms + 200) * 1e6) judged.step();
      judged.runner.add([ms < 0 ? 0 : handRad(ms / 1e3), 0], (ms + 200) * 1e6);
    }
    assert.ok(behindMs(judged.nowNs / 1e6 - 200) < 20, `${behindMs(judged.nowNs / 1e6 - 200)} ms behind`);
  });

  it('keeps both joints on the path when one of them limits', () => {
    const judged = new Judged();
    let off = 0;
    for (let ms = 0; ms <= 4000; ms += 10) {
      while (judged.nowNs < ms * 1e6) {
        judged.step();
        off = Math.max(off, Math.abs(judged.runner.rawRad[0]! - 3 * judged.runner.rawRad[1]!));
      }
      const s = Math.min(1, ms / 400);
      const share = s * s * s * (10 - 15 * s + 6 * s * s);
      judged.runner.add([1.5 * share, 0.5 * share], ms * 1e6);
    }
    assert.ok(judged.runner.rawRad[0]! > 1.499);
    assert.ok(off < 1e-3, `${off} rad off`);
  });

  it('stays on a path that it knows ahead while one joint turns back as hard as it can', () => {
    for (const rad of [8, 9, 10]) {
      // The second joint turns round where the first passes 0.7.
      const second = (first: number) => {
        const d = Math.abs(first - 0.7);
        return rad * (d < 0.12 ? d * d : 0.24 * d - 0.0144);
      };
      const judged = new Judged();
      for (let n = 0; n < 94; n++) {
        const s = Math.min(1, n / 86);
        const first = 1.4 * s * s * s * (10 - 15 * s + 6 * s * s);
        judged.runner.add([first, second(first) - second(0)], (n / 72) * 1e9 + 1e6);
      }
      let off = 0;
      for (let n = 0; n < 2000; n++) {
        judged.step();
        const [a, b] = judged.runner.rawRad;
        off = Math.max(off, Math.abs(b! + second(0) - second(a!)));
      }
      assert.ok(Math.abs(judged.runner.rawRad[0]! - 1.4) < 1e-6);
      assert.ok(off < 6e-3, `${off} rad off`);
    }
  });

  it('leaves the path once it is too far behind, and reports it', () => {
    const judged = new Judged(true, 0.3);
    let reported = false;
    for (let ms = 0; ms <= 5000; ms += 10) {
      while (judged.nowNs < ms * 1e6) {
        judged.step();
        reported ||= judged.runner.limitedBy === 'backlog';
        assert.ok(judged.runner.lagS < 0.5, `${judged.runner.lagS} s`);
      }
      judged.runner.add([1.5 * Math.sin(ms / 80), 0], ms * 1e6);
    }
    assert.ok(reported);
  });
});
