import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SUPERVISOR_STATES } from '../../messages/robot-state.ts';
import { type InnerState, POWERED, type SupervisorEvent, shownState, TRANSITIONS } from './states.ts';

const STATES: readonly InnerState[] = [...SUPERVISOR_STATES, 'arming'];
const OTHERS = STATES.filter((state) => state !== 'stopped');
const edges = STATES.flatMap((from) =>
  (Object.entries(TRANSITIONS[from]) as [SupervisorEvent, InnerState][]).map(([event, to]) => ({
    from,
    event,
    to,
  })),
);
const sources = (to: InnerState) => edges.filter((edge) => edge.to === to);

describe('transition table', () => {
  it('has a row for every state and leads only to states', () => {
    assert.deepEqual(Object.keys(TRANSITIONS).sort(), [...STATES].sort());
    assert.deepEqual(Object.keys(POWERED).sort(), [...STATES].sort());
    for (const { to } of edges) assert.ok(STATES.includes(to));
  });

  it('stops on e-stop and fault from everywhere', () => {
    for (const state of OTHERS) {
      assert.equal(TRANSITIONS[state].estop, 'stopped');
      assert.equal(TRANSITIONS[state].fault, 'stopped');
    }
  });

  it('leaves stopped by reset alone, without power', () => {
    assert.deepEqual(TRANSITIONS.stopped, { reset: 'idle' });
    assert.deepEqual(
      edges.filter((edge) => edge.event === 'reset'),
      [{ from: 'stopped', event: 'reset', to: 'idle' }],
    );
    assert.equal(POWERED.idle, false);
  });

  it('follows the operator only from armed or hold, by engaging', () => {
    assert.deepEqual(sources('engaged'), [
      { from: 'armed', event: 'engage', to: 'engaged' },
      { from: 'hold', event: 'engage', to: 'engaged' },
    ]);
  });

  it('puts power on by arming alone, and arms from idle alone', () => {
    assert.deepEqual(
      edges.filter(({ from, to }) => !POWERED[from] && POWERED[to]),
      [{ from: 'idle', event: 'arm', to: 'arming' }],
    );
    assert.deepEqual(sources('armed'), [{ from: 'arming', event: 'powered', to: 'armed' }]);
    assert.equal(shownState('arming'), 'idle', 'nobody is told of an armed robot before that');
  });

  it('takes power off when the operator is lost, gone, replaced or disarms', () => {
    for (const state of ['arming', 'armed', 'engaged', 'hold'] as const)
      for (const event of ['operator-lost', 'operator-left', 'operator-joined', 'disarm'] as const) {
        const to = TRANSITIONS[state][event];
        assert.ok(to !== undefined && !POWERED[to], `${state} ${event}`);
      }
    assert.equal(TRANSITIONS.idle['operator-lost'], 'disconnected');
    assert.equal(TRANSITIONS.idle['operator-left'], 'disconnected');
  });

  it('latches where the operator of a powered robot is lost, not where it says goodbye', () => {
    for (const state of OTHERS) {
      if (POWERED[state]) assert.equal(TRANSITIONS[state]['operator-lost'], 'stopped');
      assert.notEqual(TRANSITIONS[state]['operator-left'], 'stopped');
    }
  });

  it('holds when an engagement ends, and only then', () => {
    assert.deepEqual(
      sources('hold')
        .map(({ from, event }) => `${from} ${event}`)
        .sort(),
      ['engaged release', 'engaged tracking-lost', 'engaged watchdog'],
    );
  });
});
