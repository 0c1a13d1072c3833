import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { TeleopError } from '../../core/errors.ts';
import { fixedPolicy } from './fixed.ts';
import { nonePolicy } from './none.ts';
import { createPolicy } from './policy.ts';

const sampledRobotNs = fc.integer({ min: -1e15, max: 1e15 });
const D_NS = 60e6;

describe('playout none', () => {
  it('applies on arrival, for any stamp', () => {
    const policy = nonePolicy();
    fc.assert(
      fc.property(fc.oneof(sampledRobotNs, fc.constant(Number.NaN)), sampledRobotNs, (stamp, received) => {
        assert.equal(policy.schedule(stamp, received), received);
      }),
    );
    assert.equal(policy.name, 'none');
  });
});

describe('playout fixed', () => {
  const policy = fixedPolicy(60);

  it('applies a constant delay after the operator’s tick', () => {
    fc.assert(
      fc.property(sampledRobotNs, fc.nat(1e9), (stamp, onTheWay) => {
        assert.equal(policy.schedule(stamp, stamp + onTheWay), stamp + D_NS);
      }),
    );
  });

  it('counts from arrival before the clocks are synchronized', () => {
    assert.equal(policy.schedule(Number.NaN, 5e9), 5e9 + D_NS);
  });

  it('never waits longer than its delay, even for a stamp from the future', () => {
    fc.assert(
      fc.property(sampledRobotNs, sampledRobotNs, (stamp, received) => {
        assert.ok(policy.schedule(stamp, received) <= received + D_NS);
      }),
    );
  });

  it('keeps the order of commands that arrive in order', () => {
    const pair = fc.tuple(sampledRobotNs, fc.nat(1e9), fc.nat(1e9), fc.nat(1e9));
    fc.assert(
      fc.property(pair, ([stamp, later, wait, more]) => {
        const first = policy.schedule(stamp, stamp + wait);
        const second = policy.schedule(stamp + later, stamp + later + wait + more);
        assert.ok(second >= first);
      }),
    );
  });
});

describe('choosing a policy', () => {
  it('creates none and fixed', () => {
    assert.equal(createPolicy('none').name, 'none');
    assert.equal(createPolicy('fixed:60').name, 'fixed:60');
    assert.equal(createPolicy('fixed:2.5').schedule(0, 1e6), 2.5e6);
    assert.equal(createPolicy('fixed:0').schedule(7, 9), 7);
    assert.equal(createPolicy('fixed:1000').schedule(0, 0), 1e9);
  });

  it('rejects an unknown policy and lists the known ones', () => {
    const wrong = [
      '',
      'None',
      'fixed',
      'fixed:',
      'fixed:-1',
      'fixed:1e3',
      'fixed:60ms',
      'fixed:1001',
      'fixed:60 ',
    ];
    for (const text of wrong)
      assert.throws(
        () => createPolicy(text),
        (error) =>
          error instanceof TeleopError &&
          error.code === 'bad-config' &&
          error.message.includes(`"${text}"`) &&
          error.hint.includes('fixed:<ms>'),
        text,
      );
  });
});
