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

  it('stops on e-stop and fault in every state', () => {
    for (const state of OTHERS) {
      assert.equal(TRANSITIONS[state].estop, 'stopped');
      assert.equal(TRANSITIONS[state].fault, 'stopped');
    }
  });

  it('leaves stopped only by reset, without power', () => {
    assert.deepEqual(TRANSITIONS.stopped, { reset: 'idle' });
    assert.deepEqual(
      edges.filter((edge) => edge.event === 'reset'),
      [{ from: 'stopped', event: 'reset', to: 'idle' }],
    );
    assert.equal(POWERED.idle, false);
  });

  it('enters engaged only from armed or hold, by engaging', () => {
    assert.deepEqual(sources('engaged'), [
      { from: 'armed', event: 'engage', to: 'engaged' },
      { from: 'hold', event: 'engage', to: 'engaged' },
    ]);
  });

  it('powers the joints only by arming, and arms only from idle', () => {
    assert.deepEqual(
      edges.filter(({ from, to }) => !POWERED[from] && POWERED[to]),
      [{ from: 'idle', event: 'arm', to: 'arming' }],
    );
    assert.deepEqual(sources('armed'), [{ from: 'arming', event: 'powered', to: 'armed' }]);
    assert.equal(shownState('arming'), 'idle', 'not shown as armed before that');
  });

  it('cuts power when the operator is lost, leaves, is replaced or disarms', () => {
    for (const state of ['arming', 'armed', 'engaged', 'hold'] as const)
      for (const event of ['operator-lost', 'operator-left', 'operator-joined', 'disarm'] as const) {
        const to = TRANSITIONS[state][event];
        assert.ok(to !== undefined && !POWERED[to], `${state} ${event}`);
      }
    assert.equal(TRANSITIONS.idle['operator-lost'], 'disconnected');
    assert.equal(TRANSITIONS.idle['operator-left'], 'disconnected');
  });

  it('latches the stop when a powered robot loses its operator, not when the operator leaves', () => {
    for (const state of OTHERS) {
      if (POWERED[state]) assert.equal(TRANSITIONS[state]['operator-lost'], 'stopped');
      assert.notEqual(TRANSITIONS[state]['operator-left'], 'stopped');
    }
  });

  it('holds only when an engagement ends', () => {
    assert.deepEqual(
      sources('hold')
        .map(({ from, event }) => `${from} ${event}`)
        .sort(),
      ['engaged release', 'engaged tracking-lost', 'engaged watchdog'],
    );
  });
});
