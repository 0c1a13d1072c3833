import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { NS_PER_MS, NS_PER_S } from '../core/time/clock.ts';
import { ClockSync } from './clock-sync.ts';
import { commonOffset } from './shared-clock.ts';

/** Lower bound on the error assumed for each exchange. */
const STAMP_ERROR_NS = 50e3;

/** One exchange on a simulated link: time since the previous one, and the delay in each direction. */
interface Trip {
  pauseNs: number;
  forwardNs: number;
  backNs: number;
  robotNs: number;
}

/** A robot clock: `offset + drift · t` away from the operator's, with steps at given instants. */
interface RobotClock {
  offsetNs: number;
  drift: number;
  steps?: { atNs: number; byNs: number }[];
}

function offsetOf(clock: RobotClock, atNs: number): number {
  const stepped = (clock.steps ?? []).filter((step) => step.atNs <= atNs);
  return clock.offsetNs + clock.drift * atNs + stepped.reduce((sum, step) => sum + step.byNs, 0);
}

/** Runs the exchanges; `check` sees the state after each, at the reply and just before the next probe. */
function simulate(
  clock: RobotClock,
  trips: readonly Trip[],
  check: (sync: ClockSync, atNs: number, sinceNs: number, trip: Trip) => void,
): ClockSync {
  const sync = new ClockSync();
  let nowNs = 1e9;
  for (const trip of trips) {
    const t0 = nowNs;
    const arrivedNs = t0 + trip.forwardNs;
    const answeredNs = arrivedNs + trip.robotNs;
    const t3 = answeredNs + trip.backNs;
    const t1 = arrivedNs + offsetOf(clock, arrivedNs);
    const t2 = answeredNs + offsetOf(clock, answeredNs);
    assert.equal(sync.add(t0, Math.round(t1), Math.round(t2), t3), true);
    const referenceNs = (t0 + t3) / 2;
    nowNs = t3 + trip.pauseNs;
    check(sync, t3, t3 - referenceNs, trip);
    check(sync, nowNs, nowNs - referenceNs, trip);
  }
  return sync;
}

/**
 * The law: the offset error never exceeds the uncertainty plus what the clocks may have moved since the
 * newest exchange: two quartzes of 100 ppm each, and an estimate with its own drift. Stamps are whole
 * nanoseconds: 2 ns.
 */
function assertWithin(sync: ClockSync, clock: RobotClock, atNs: number, sinceNs: number): void {
  const errorNs = Math.abs(sync.offsetAt(atNs) - offsetOf(clock, atNs));
  const allowedNs = sync.uncertaintyNs + (200e-6 + Math.abs(sync.driftPpm) * 1e-6) * sinceNs + 2;
  assert.ok(errorNs <= allowedNs, `error ${errorNs} > ${allowedNs} at ${atNs}`);
}

const ns = (min: number, max: number) => fc.integer({ min, max });
const tripOn = (forward: fc.Arbitrary<number>, back: fc.Arbitrary<number>): fc.Arbitrary<Trip> =>
  fc.record({ pauseNs: ns(50e6, 2e9), forwardNs: forward, backNs: back, robotNs: ns(0, 1e6) });
const heavyTail = fc
  .double({ min: 0, max: 0.9999, noNaN: true })
  .map((u) => Math.round(0.3 * NS_PER_MS * (1 - u) ** -1.2));
const clockOf = (drift: fc.Arbitrary<number>): fc.Arbitrary<RobotClock> =>
  fc.record({ offsetNs: ns(-1e15, 1e15), drift });
const anyClock = clockOf(fc.double({ min: -100e-6, max: 100e-6, noNaN: true }));
const trips = (trip: fc.Arbitrary<Trip>) => fc.array(trip, { minLength: 1, maxLength: 60 });

/** Delays per exchange; `fixed` links keep theirs for the whole run. */
const LINKS: Record<string, fc.Arbitrary<Trip[]>> = {
  symmetric: ns(20e3, 50e6).chain((transitNs) =>
    trips(tripOn(fc.constant(transitNs), fc.constant(transitNs))),
  ),
  asymmetric: fc
    .tuple(ns(20e3, 50e6), ns(20e3, 50e6))
    .chain(([there, back]) => trips(tripOn(fc.constant(there), fc.constant(back)))),
  'jittery one way': trips(tripOn(ns(100e3, 20e6), fc.constant(100e3))),
  'jittery both ways': trips(tripOn(ns(100e3, 20e6), ns(100e3, 20e6))),
  'heavy-tailed': trips(tripOn(heavyTail, heavyTail)),
  'changing its asymmetry at a constant round trip': trips(
    ns(0, 10e6).chain((there) => tripOn(fc.constant(there), fc.constant(10e6 - there))),
  ),
};

describe('clock offset', () => {
  for (const [name, link] of Object.entries(LINKS))
    it(`stays within its uncertainty and epoch on a ${name} link, for drift up to 100 ppm`, () => {
      fc.assert(
        fc.property(link, anyClock, (exchanges, clock) => {
          const sync = simulate(clock, exchanges, (state, atNs, sinceNs) => {
            assertWithin(state, clock, atNs, sinceNs);
          });
          assert.equal(sync.epoch, 0, 'there was no step');
        }),
        { numRuns: 200 },
      );
    });

  it('is off by exactly half the asymmetry on a steady path', () => {
    const clock = { offsetNs: 7e9, drift: 0 };
    const trip = { pauseNs: 1e9, forwardNs: 5e6, backNs: 1e6, robotNs: 2e4 };
    simulate(clock, new Array(40).fill(trip), (sync, atNs) => {
      assert.ok(Math.abs(sync.offsetAt(atNs) - 7e9 - 2e6) <= 1);
      assert.equal(sync.uncertaintyNs, 3e6 + STAMP_ERROR_NS);
    });
  });

  it('is exact on a symmetric path', () => {
    simulate({ offsetNs: -3e12, drift: 0 }, new Array(40).fill(steady(80e3)), (sync, atNs) => {
      assert.equal(sync.offsetAt(atNs), -3e12);
      assert.equal(sync.uncertaintyNs, 80e3 + STAMP_ERROR_NS);
    });
  });

  it('learns the drift of a steady link', () => {
    for (const ppm of [-100, -20, 0, 50, 100]) {
      const clock = { offsetNs: 1e12, drift: ppm * 1e-6 };
      const sync = simulate(clock, new Array(30).fill(steady(100e3)), () => {});
      assert.ok(Math.abs(sync.driftPpm - ppm) < 0.1, `${sync.driftPpm} is not ${ppm}`);
    }
  });

  it('keeps drift at 0 on a link too noisy to measure it', () => {
    fc.assert(
      fc.property(trips(tripOn(ns(1e6, 200e6), ns(1e6, 200e6))), anyClock, (exchanges, clock) => {
        const sync = simulate(clock, exchanges, () => {});
        assert.ok(Math.abs(sync.driftPpm) <= 200);
      }),
    );
  });

  it('stays within its uncertainty on a very short link with stamps off by tens of microseconds', () => {
    const error = ns(-STAMP_ERROR_NS / 2, STAMP_ERROR_NS / 2);
    const exchange = fc.tuple(ns(2e3, 60e3), ns(2e3, 60e3), error, error);
    fc.assert(
      fc.property(fc.array(exchange, { minLength: 1, maxLength: 40 }), (exchanges) => {
        const sync = new ClockSync();
        exchanges.forEach(([thereNs, backNs, e1, e3], i) => {
          const t0 = 1e9 + i * 1e9;
          const t2 = t0 + thereNs + 30e3;
          sync.add(t0, Math.min(t2, t0 + thereNs + e1), t2, Math.max(t0, t2 + backNs + e3));
          if (sync.synchronized) assert.ok(Math.abs(sync.offsetAt(t0)) <= sync.uncertaintyNs);
        });
        assert.equal(sync.epoch, 0);
      }),
    );
  });

  it('ignores a single bad exchange', () => {
    const bad = { ...steady(1e6), forwardNs: 400e6 };
    const exchanges = Array.from({ length: 30 }, (_, i) => (i % 7 === 3 ? bad : steady(1e6)));
    simulate({ offsetNs: 0, drift: 0 }, exchanges, (sync, atNs) => {
      assert.equal(sync.offsetAt(atNs), 0);
      // Right after the bad exchange, the best one is a little over a second old.
      assert.ok(sync.uncertaintyNs <= 1e6 + STAMP_ERROR_NS + 200e-6 * 1.5e9);
    });
  });
});

const steady = (transitNs: number): Trip => ({
  pauseNs: 1e9,
  forwardNs: transitNs,
  backNs: transitNs,
  robotNs: 2e4,
});

describe('clock step', () => {
  const step = fc.constantFrom(-NS_PER_S, NS_PER_S, -20e6, 15e6);
  const drift = fc.double({ min: -100e-6, max: 100e-6, noNaN: true });
  const links = fc.array(tripOn(ns(100e3, 3e6), ns(100e3, 3e6)), { minLength: 40, maxLength: 60 });

  it('starts a new epoch at the next exchange, and the law holds again', () => {
    fc.assert(
      fc.property(links, step, drift, ns(0, 39), (exchanges, byNs, ppm, before) => {
        const until = exchanges
          .slice(0, before + 1)
          .reduce((sum, t) => sum + t.forwardNs + t.backNs + t.robotNs + t.pauseNs, 1e9);
        // In the pause before exchange `before + 1`, with nothing in flight.
        const stepNs = until - 1;
        const clock = { offsetNs: 5e9, drift: ppm, steps: [{ atNs: stepNs, byNs }] };
        const sync = simulate(clock, exchanges, (state, atNs, sinceNs) => {
          const measured = atNs - sinceNs > stepNs;
          if (measured === atNs > stepNs) assertWithin(state, clock, atNs, sinceNs);
          assert.equal(state.epoch, measured ? 1 : 0);
        });
        assert.equal(sync.epoch, exchanges.length > before + 1 ? 1 : 0);
      }),
    );
  });
});

describe('clock sync', () => {
  it('is unknown before the first exchange', () => {
    const sync = new ClockSync();
    assert.equal(sync.synchronized, false);
    for (const value of [sync.offsetAt(5), sync.toRobotNs(5), sync.toOperatorNs(5), sync.uncertaintyNs])
      assert.ok(Number.isNaN(value));
    assert.deepEqual([sync.driftPpm, sync.epoch], [0, 0]);
  });

  it('gives the documented offset and delay of one exchange', () => {
    const sync = new ClockSync();
    // ((t1 − t0) + (t2 − t3)) / 2 = ((1300 − 100) + (1350 − 250)) / 2; delay (250 − 100) − (1350 − 1300) = 100.
    assert.equal(sync.add(100, 1300, 1350, 250), true);
    assert.equal(sync.synchronized, true);
    assert.equal(sync.offsetAt(123), 1150);
    assert.equal(sync.uncertaintyNs, 50 + STAMP_ERROR_NS);
    assert.equal(sync.toRobotNs(200), 1350);
    assert.equal(sync.toOperatorNs(1350), 200);
  });

  it('is the median of the last sixteen exchanges', () => {
    const sync = new ClockSync();
    const offsets = [5, 1, 9, 3, 7, 2, 8, 6, 4, 0, 11, 15, 13, 12, 14, 10, 20, 21, 22];
    offsets.forEach((us, i) => {
      // 2 µs apart with a round trip of 100: practically the same instant, equal weight.
      const t0 = i * 2000;
      sync.add(t0, t0 + 50_000 + us * 1000, t0 + 50_000 + us * 1000, t0 + 100_000);
      const window = offsets.slice(Math.max(0, i - 15), i + 1).sort((a, b) => a - b);
      const mid = window.length >> 1;
      const median = window.length % 2 ? window[mid]! : (window[mid - 1]! + window[mid]!) / 2;
      assert.equal(sync.offsetAt(t0), median * 1000);
    });
    assert.equal(sync.epoch, 0);
  });

  it('rejects impossible exchanges and keeps its state', () => {
    const impossible: [string, number, number, number, number][] = [
      ['a reply before its probe', 1000, 5000, 5010, 900],
      ['a robot that answers before it receives', 1000, 5010, 5000, 1100],
      ['more time in the robot than the whole round trip', 1000, 5000, 205_000, 1100],
      ['no number', Number.NaN, 5000, 5000, 1100],
      ['no number', 1000, Number.NaN, 5000, 1100],
      ['no number', 1000, 5000, Number.NaN, 1100],
      ['no number', 1000, 5000, 5000, Number.NaN],
      ['a robot clock out of range', 1000, 1.7e308, 1.7e308, 1100],
      ['never', 1000, 5000, 5000, Number.POSITIVE_INFINITY],
    ];
    const sync = new ClockSync();
    for (const [why, ...stamps] of impossible) assert.equal(sync.add(...stamps), false, why);
    assert.equal(sync.synchronized, false);
    sync.add(100, 1300, 1350, 250);
    for (const [why, ...stamps] of impossible) assert.equal(sync.add(...stamps), false, why);
    assert.deepEqual([sync.offsetAt(100), sync.uncertaintyNs, sync.epoch], [1150, 50 + STAMP_ERROR_NS, 0]);
  });

  it('accepts a delay that is negative by no more than the errors of the stamps', () => {
    const sync = new ClockSync();
    assert.equal(sync.add(1000, 5000, 25_000, 11_000), true);
    assert.deepEqual([sync.offsetAt(6000), sync.uncertaintyNs], [9000, STAMP_ERROR_NS]);
  });

  it('is finite or unknown, for any stamps', () => {
    const stamp = fc.oneof(fc.double(), ns(-1e15, 1e15));
    fc.assert(
      fc.property(fc.array(fc.tuple(stamp, stamp, stamp, stamp)), (fed) => {
        const sync = new ClockSync();
        for (const stamps of fed) sync.add(...stamps);
        assert.equal(sync.synchronized, Number.isFinite(sync.offsetAt(0)));
        assert.equal(sync.synchronized, sync.uncertaintyNs >= 0);
      }),
    );
  });

  it('converts to robot time and back', () => {
    fc.assert(
      fc.property(anyClock, ns(0, 1e12), (clock, laterNs) => {
        const sync = simulate(clock, new Array(20).fill(steady(100e3)), () => {});
        const operatorNs = 20e9 + laterNs;
        // The drift is taken at a slightly different instant on the return conversion: its square, 1e-8 of
        // the span.
        assert.ok(Math.abs(sync.toOperatorNs(sync.toRobotNs(operatorNs)) - operatorNs) <= 1 + laterNs * 4e-8);
      }),
    );
  });

  it('clears all state on reset', () => {
    const sync = new ClockSync();
    sync.add(100, 1300, 1350, 250);
    sync.reset();
    assert.equal(sync.synchronized, false);
    assert.ok(Number.isNaN(sync.uncertaintyNs));
    assert.equal(sync.epoch, 1);
    sync.add(100, 900_300, 900_350, 250);
    assert.equal(sync.offsetAt(0), 900_150);
    assert.equal(sync.epoch, 1);
  });
});

describe('a common clock', () => {
  const sync = (common: { offsetNs: number; errorNs: number } | null, forwardNs: number, backNs: number) => {
    const clock = new ClockSync();
    for (let i = 0; i < 20; i++) {
      const t0 = 1e9 + i * 1e9;
      clock.add(t0, t0 + forwardNs, t0 + forwardNs + 1e4, t0 + forwardNs + backNs + 1e4, common);
    }
    return clock;
  };

  it('removes the bias of an asymmetric path, which an exchange alone cannot', () => {
    const alone = sync(null, 2e6, 30e6);
    assert.equal(alone.offsetAt(5e9), -14e6);
    assert.ok(alone.uncertaintyNs >= 14e6);
    const shared = sync({ offsetNs: 0, errorNs: STAMP_ERROR_NS }, 2e6, 30e6);
    assert.deepEqual([shared.offsetAt(5e9), shared.uncertaintyNs], [0, STAMP_ERROR_NS]);
  });

  it('is not used if the exchanges contradict it', () => {
    const wrong = sync({ offsetNs: 50e6, errorNs: 100e3 }, 2e6, 30e6);
    assert.equal(wrong.offsetAt(5e9), -14e6);
  });

  it('is the same kernel, or wall clocks that a person declares synchronized', () => {
    const here = { id: 'a', wallUs: () => 5_000 };
    assert.deepEqual(commonOffset(here, 'a', Number.NaN, null), { offsetNs: 0, errorNs: STAMP_ERROR_NS });
    assert.equal(commonOffset(here, 'b', 3_000, null), null);
    assert.equal(commonOffset({ ...here, id: '' }, '', Number.NaN, 1e5), null);
    const wall = commonOffset(here, 'b', 3_000, 1e5);
    assert.deepEqual(wall, { offsetNs: 2e6, errorNs: 1e5 + STAMP_ERROR_NS });
  });

  it('each direction bounds the offset by its own fastest exchange', () => {
    const clock = new ClockSync();
    const add = (i: number, forwardNs: number, backNs: number) =>
      clock.add(1e9 + i, 1e9 + i + forwardNs, 1e9 + i + forwardNs, 1e9 + i + forwardNs + backNs);
    add(0, 10e6, 1e6);
    add(1, 1e6, 10e6);
    // Each alone is known to ±5.5 ms; together the offset is between −1 and +1 ms.
    assert.ok(clock.uncertaintyNs < 1e6 + 2 * STAMP_ERROR_NS, `${clock.uncertaintyNs}`);
    assert.ok(Math.abs(clock.offsetAt(1e9)) <= clock.uncertaintyNs);
  });
});
