import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { JointFeedback } from './joint-feedback.ts';
import type { JointState } from './ros2.ts';

const state = (names: string[], positions: number[], velocities: number[] = []): JointState => ({
  stampNs: 0,
  frameId: '',
  names,
  positions,
  velocities,
  efforts: [],
});

describe('joint feedback', () => {
  it('is reordered to the joints, ignoring other names in the message', () => {
    const feedback = new JointFeedback(['a', 'b', 'c']);
    assert.equal(feedback.take(state(['c', 'x', 'a', 'b'], [3, 9, 1, 2], [30, 90, 10, 20]), 5e9), null);
    assert.deepEqual([...feedback.positionsRad], [1, 2, 3]);
    assert.deepEqual([...feedback.velocitiesRadS], [10, 20, 30]);
    assert.equal(feedback.take(state(['a', 'b', 'c'], [4, 5, 6], [1, 1, 1]), 6e9), null, 'another order');
    assert.deepEqual([...feedback.positionsRad], [4, 5, 6]);
    assert.equal(feedback.receivedNs, 6e9);
  });

  it('without names is taken in order, if the count matches', () => {
    const feedback = new JointFeedback(['a', 'b']);
    assert.equal(feedback.take(state([], [1, 2]), 1e9), null);
    assert.deepEqual([...feedback.positionsRad], [1, 2]);
    assert.equal(feedback.take(state([], [1, 2, 3]), 2e9), 'joint-count');
  });

  it('without velocities derives them from the positions', () => {
    const feedback = new JointFeedback(['a']);
    feedback.take(state(['a'], [1]), 1e9);
    assert.equal(feedback.velocitiesRadS[0], 0);
    feedback.take(state(['a'], [1.1]), 1.1e9);
    assert.ok(Math.abs(feedback.velocitiesRadS[0]! - 1) < 1e-6);
  });

  it('that is incomplete changes nothing', () => {
    const feedback = new JointFeedback(['a', 'b']);
    feedback.take(state(['a', 'b'], [1, 2], [3, 4]), 1e9);
    for (const [bad, reason] of [
      [state(['a'], [9]), 'joint-missing'],
      [state(['a', 'b'], [9]), 'joint-count'],
      [state(['a', 'b'], [9, Number.NaN]), 'non-finite'],
      [state(['a', 'b'], [Number.POSITIVE_INFINITY, 9]), 'non-finite'],
      [state([], []), 'joint-count'],
    ] as const)
      assert.equal(feedback.take(bad, 2e9), reason);
    assert.deepEqual(
      [...feedback.positionsRad, ...feedback.velocitiesRadS, feedback.receivedNs],
      [1, 2, 3, 4, 1e9],
    );
  });
});
