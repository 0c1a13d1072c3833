import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ObservedState } from './observation.ts';
import { StateHistory } from './state-history.ts';

const state = (measuredNs: number, rad: number): ObservedState => ({
  ...{ positionsRad: [rad], gripper: rad / 10, effort: null, supervisor: 'engaged', measuredNs },
});

describe('history of states', () => {
  it('gives the state of an instant, between the two around it', () => {
    const history = new StateHistory();
    for (let i = 0; i < 10; i++) history.add(state(i * 10, i));
    assert.deepEqual(history.at(45), state(45, 4.5));
    assert.deepEqual(history.at(40), state(40, 4));
  });

  it('gives the oldest or newest for an instant outside, and null without any', () => {
    const history = new StateHistory();
    assert.equal(history.at(5), null);
    history.add(null);
    history.add(state(10, 1));
    history.add(state(20, 2));
    history.add(state(20, 9));
    assert.equal(history.at(5)!.positionsRad[0], 1);
    assert.equal(history.at(99)!.positionsRad[0], 2);
  });

  it('forgets what is old', () => {
    const history = new StateHistory();
    for (let i = 0; i < 1000; i++) history.add(state(i, i));
    assert.equal(history.at(0)!.positionsRad[0], 850);
  });
});
