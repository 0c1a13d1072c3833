import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { TeleopError } from '../../core/errors.ts';
import { createPolicy } from './policy.ts';

const ALL = ['none', 'fixed:60', 'rfc3550', 'neteq', 'adaptive', 'adaptive:smooth', 'adaptive:fast,cap=80'];
/** These move their delay; the others have none to move. */
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

/** Commands with the stamps of an even sender, arriving in order. */
const evenStream = fc.array(fc.oneof(fc.nat(20e6), fc.nat(400e6)), { minLength: 50, maxLength: 600 });

describe('every policy', () => {
  it('is named by the text that makes it', () => {
    for (const text of ALL) assert.equal(createPolicy(text).name, text);
    assert.equal(createPolicy('adaptive:balanced').name, 'adaptive');
  });

  it('refuses a text that names none, and says what there is', () => {
    for (const text of ['adaptiv', 'adaptive:', 'adaptive:quick', 'adaptive,cap=', 'rfc', 'neteq:1'])
      assert.throws(
        () => createPolicy(text),
        (error) => error instanceof TeleopError && error.code === 'bad-config' && /adaptive/.test(error.hint),
        text,
      );
    for (const text of ['adaptive,cap=4', 'adaptive:fast,cap=401'])
      assert.throws(
        () => createPolicy(text),
        (error) => error instanceof TeleopError && /from 5 to 400 ms/.test(error.message),
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

  it('tells a number in the end, whatever came before', () => {
    const sane = { stampNs: 0, receivedNs: 0 };
    const stream = fc.array(
      fc.record({ stamp: hostileStamp, relative: fc.boolean(), stepNs: fc.nat(50e6) }),
      {
        maxLength: 80,
      },
    );
    fc.assert(
      fc.property(fc.constantFrom(...ALL.slice(4)), stream, (text, commands) => {
        const policy = createPolicy(text);
        let receivedNs = 1e15;
        for (const { stamp, relative, stepNs } of commands) {
          receivedNs += stepNs;
          const dueNs = policy.schedule(relative ? receivedNs + stamp : stamp, receivedNs);
          assert.ok(Number.isFinite(dueNs), `${dueNs}`);
          assert.ok(dueNs <= receivedNs + 1e9, `waits ${dueNs - receivedNs}`);
        }
        // Whoever sends well afterwards is served well.
        for (let i = 0; i < 400; i++) {
          sane.stampNs = receivedNs + 5e9 + i * PERIOD_NS;
          sane.receivedNs = sane.stampNs + 3e6;
          const waitNs = policy.schedule(sane.stampNs, sane.receivedNs) - sane.receivedNs;
          // The most that it ever holds, to the microsecond: instants are rounded.
          if (i > 200) assert.ok(waitNs <= 400e6 + 1e3, `${waitNs}`);
        }
        for (const value of [policy.delayNs, policy.floorNs, policy.needNs])
          assert.ok(Number.isFinite(value));
      }),
      { numRuns: 150 },
    );
  });

  it('moves by no more than the time warp allows', () => {
    fc.assert(
      fc.property(fc.constantFrom(...MOVING), evenStream, (text, delays) => {
        const policy = createPolicy(text);
        let receivedNs = 0;
        let lastNs = Number.NaN;
        delays.forEach((delayNs, i) => {
          const stampNs = 1e12 + i * PERIOD_NS;
          receivedNs = Math.max(receivedNs, stampNs + delayNs);
          const dueNs = policy.schedule(stampNs, receivedNs) - stampNs;
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

  it('keeps commands in order that are in order', () => {
    fc.assert(
      fc.property(fc.constantFrom(...ALL), evenStream, (text, delays) => {
        const policy = createPolicy(text);
        let receivedNs = 0;
        let lastDueNs = Number.NEGATIVE_INFINITY;
        delays.forEach((delayNs, i) => {
          const stampNs = 1e12 + i * PERIOD_NS;
          receivedNs = Math.max(receivedNs, stampNs + delayNs);
          const dueNs = policy.schedule(stampNs, receivedNs);
          assert.ok(dueNs >= lastDueNs, `${text} ${i}`);
          lastDueNs = dueNs;
        });
      }),
      { numRuns: 100 },
    );
  });

  it('is the same whenever it is given the same', () => {
    fc.assert(
      fc.property(fc.constantFrom(...ALL), evenStream, (text, delays) => {
        const [one, two] = [createPolicy(text), createPolicy(text)];
        delays.forEach((delayNs, i) => {
          const stampNs = 1e12 + i * PERIOD_NS;
          assert.equal(one.schedule(stampNs, stampNs + delayNs), two.schedule(stampNs, stampNs + delayNs));
        });
      }),
      { numRuns: 30 },
    );
  });
});
