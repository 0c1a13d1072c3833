import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { TeleopError } from '../../core/errors.ts';
import { createPolicy } from './policy.ts';

const ALL = ['none', 'fixed:60', 'rfc3550', 'neteq', 'adaptive', 'adaptive:smooth', 'adaptive:fast,cap=80'];
/** Policies with a variable delay. */
const MOVING = ['rfc3550', 'neteq', 'adaptive', 'adaptive:smooth', 'adaptive:fast'];
const PERIOD_NS = 10e6;

const hostileStamp = fc.oneof(
  fc.constantFrom(
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    0,
    -0,
    Number.MAX_VALUE,
    -Number.MAX_VALUE,
    Number.MIN_VALUE,
    2 ** 53,
  ),
  fc.double(),
  fc.integer({ min: -1e10, max: 1e10 }),
);

/** Policies with a bounded wait, and their caps. */
const CAP_NS: Record<string, number> = {
  adaptive: 150e6,
  'adaptive:smooth': 150e6,
  'adaptive:fast,cap=80': 80e6,
  'adaptive,cap=5': 5e6,
  'adaptive,cap=400': 400e6,
};
const ADAPTIVE = Object.keys(CAP_NS);
/** docs/playout.md, "The longest wait". */
const LARGEST_FALL_NS = 200e6;
/** Times near 1e15 are multiples of 1/8 ns; a sum of a few is off by a few of those. */
const ROUNDING_NS = 10;

interface Hostile {
  stamp: number;
  /** Stamp relative to the arrival. */
  relative: boolean;
  stepNs: number;
}

/** Wild stamps, and runs whose apparent delay creeps down too slowly to be detected as a step. */
const hostileStream: fc.Arbitrary<Hostile[]> = fc.oneof(
  fc.array(fc.record({ stamp: hostileStamp, relative: fc.boolean(), stepNs: fc.nat(50e6) }), {
    maxLength: 80,
  }),
  fc
    .tuple(
      fc.nat(20e9),
      fc.array(fc.tuple(fc.integer({ min: -250e6, max: 199e6 }), fc.nat(20e6)), { maxLength: 80 }),
    )
    .map(([delayNs, moves]) => {
      let behindNs = delayNs;
      return moves.map(([fallNs, stepNs]) => {
        behindNs -= fallNs;
        return { stamp: -behindNs, relative: true, stepNs };
      });
    }),
);

const STEP_IN_STEP: Hostile[] = [-488501001, -496501002].map((stamp) => ({
  stamp,
  relative: true,
  stepNs: PERIOD_NS,
}));

/** Plays hostile commands, then 400 from a regular sender; returns the wait of the last. */
function assertBounded(text: string, commands: readonly Hostile[]): number {
  const policy = createPolicy(text);
  const capNs = CAP_NS[text]!;
  const longestNs = capNs + LARGEST_FALL_NS;
  let receivedNs = 1e15;
  for (const { stamp, relative, stepNs } of commands) {
    receivedNs += stepNs;
    const waitNs = policy.schedule(relative ? receivedNs + stamp : stamp, receivedNs) - receivedNs;
    assert.ok(waitNs <= longestNs + ROUNDING_NS, `waits ${waitNs}`);
    assert.ok(Number.isFinite(waitNs), `waits ${waitNs}`);
  }
  let waitNs = Number.NaN;
  for (let i = 0; i < 400; i++) {
    const sampledRobotNs = receivedNs + 5e9 + i * PERIOD_NS;
    waitNs = policy.schedule(sampledRobotNs, sampledRobotNs + 3e6) - sampledRobotNs - 3e6;
    const restNs = Math.max(0, LARGEST_FALL_NS - 0.05 * PERIOD_NS * Math.max(0, i - SETTLED));
    assert.ok(waitNs <= capNs + restNs + ROUNDING_NS, `${waitNs} at ${i}`);
  }
  for (const value of [policy.delayNs, policy.floorNs, policy.needNs]) assert.ok(Number.isFinite(value));
  return waitNs;
}

/**
 * Commands of a regular sender until its stamps are the newest and no step is pending: one second plus 20.
 */
const SETTLED = 120;

/** Commands with the stamps of a regular sender, arriving in order. */
const evenStream = fc.array(fc.oneof(fc.nat(20e6), fc.nat(400e6)), { minLength: 50, maxLength: 600 });

describe('every policy', () => {
  it('has the name it is created from', () => {
    for (const text of ALL) assert.equal(createPolicy(text).name, text);
    assert.equal(createPolicy('adaptive:balanced').name, 'adaptive');
  });

  it('rejects an unknown name and lists the known ones', () => {
    for (const text of ['adaptiv', 'adaptive:', 'adaptive:quick', 'adaptive,cap=', 'rfc', 'neteq:1'])
      assert.throws(
        () => createPolicy(text),
        (error) => error instanceof TeleopError && error.code === 'bad-config' && /adaptive/.test(error.hint),
        text,
      );
    for (const text of ['adaptive,cap=4', 'adaptive:fast,cap=401'])
      assert.throws(
        () => createPolicy(text),
        (error) => error instanceof TeleopError && /must be 5 to 400 ms/.test(error.message),
        text,
      );
    assert.throws(
      () => createPolicy('adaptve'),
      (error) => error instanceof TeleopError && error.hint.startsWith('Did you mean adaptive?'),
    );
  });

  it('counts from arrival while the clocks are not synchronized', () => {
    for (const text of ALL) {
      const policy = createPolicy(text);
      for (let i = 0; i < 5; i++) {
        const receivedNs = 1e9 + i * PERIOD_NS;
        const waitNs = policy.schedule(Number.NaN, receivedNs) - receivedNs;
        assert.ok(waitNs >= 0 && waitNs <= 100e6, `${text}: ${waitNs}`);
      }
    }
  });

  it('holds no command longer than its cap plus 200 ms, for any earlier stamps', () => {
    fc.assert(
      fc.property(fc.constantFrom(...ADAPTIVE), hostileStream, (text, commands) => {
        assertBounded(text, commands);
      }),
      {
        numRuns: 150,
        // Two stamps 8 ms apart and far behind, then an exact clock: the small step used to hide the large
        // one.
        examples: ADAPTIVE.map((text): [string, Hostile[]] => [text, STEP_IN_STEP]),
      },
    );
  });

  it('detects a large clock step while a smaller one is pending', () => {
    for (const text of ADAPTIVE)
      assert.equal(assertBounded(text, STEP_IN_STEP), Math.min(20e6, CAP_NS[text]!), text);
  });

  it('changes its delay no faster than the time warp allows', () => {
    fc.assert(
      fc.property(fc.constantFrom(...MOVING), evenStream, (text, delays) => {
        const policy = createPolicy(text);
        let receivedNs = 0;
        let lastNs = Number.NaN;
        delays.forEach((delayNs, i) => {
          const sampledRobotNs = 1e12 + i * PERIOD_NS;
          receivedNs = Math.max(receivedNs, sampledRobotNs + delayNs);
          const dueNs = policy.schedule(sampledRobotNs, receivedNs) - sampledRobotNs;
          const stepNs = dueNs - lastNs;
          assert.ok(
            !(stepNs > 0.1 * PERIOD_NS + 1) && !(stepNs < -0.05 * PERIOD_NS - 1),
            `${stepNs} at ${i}`,
          );
          lastNs = dueNs;
        });
      }),
      { numRuns: 100 },
    );
  });

  it('keeps the order of commands that arrive in order', () => {
    fc.assert(
      fc.property(fc.constantFrom(...ALL), evenStream, (text, delays) => {
        const policy = createPolicy(text);
        let receivedNs = 0;
        let lastDueNs = Number.NEGATIVE_INFINITY;
        delays.forEach((delayNs, i) => {
          const sampledRobotNs = 1e12 + i * PERIOD_NS;
          receivedNs = Math.max(receivedNs, sampledRobotNs + delayNs);
          const dueNs = policy.schedule(sampledRobotNs, receivedNs);
          assert.ok(dueNs >= lastDueNs, `${text} ${i}`);
          lastDueNs = dueNs;
        });
      }),
      { numRuns: 100 },
    );
  });

  it('is deterministic', () => {
    fc.assert(
      fc.property(fc.constantFrom(...ALL), evenStream, (text, delays) => {
        const [one, two] = [createPolicy(text), createPolicy(text)];
        delays.forEach((delayNs, i) => {
          const sampledRobotNs = 1e12 + i * PERIOD_NS;
          assert.equal(
            one.schedule(sampledRobotNs, sampledRobotNs + delayNs),
            two.schedule(sampledRobotNs, sampledRobotNs + delayNs),
          );
        });
      }),
      { numRuns: 30 },
    );
  });
});
