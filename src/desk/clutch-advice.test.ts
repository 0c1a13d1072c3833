import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SupervisorState } from '../messages/robot-state.ts';
import type { Telemetry } from '../messages/telemetry.ts';
import { clutchAdvice } from './clutch-advice.ts';

const arm = (state: SupervisorState, mustOpenClutch: boolean) => ({
  robot: { state },
  operator: { mustOpenClutch },
});
const seen = (telemetry: object) => telemetry as Telemetry;

describe('advice about a closed clutch', () => {
  it('is given while the robot would follow an open one that closes', () => {
    const ADVICE = 'open the clutch, then close it again';
    for (const state of ['armed', 'hold'] as const) {
      assert.equal(clutchAdvice(seen(arm(state, true))), ADVICE);
      assert.equal(clutchAdvice(seen(arm(state, false))), '');
    }
    for (const state of ['idle', 'stopped', 'engaged', 'disconnected'] as const)
      assert.equal(clutchAdvice(seen(arm(state, true))), '');
    assert.equal(clutchAdvice(seen({ robot: { state: 'hold' }, operator: {} })), '', 'an older operator');
  });

  it('names the arm that waits, also while the other one follows', () => {
    const left = { side: 'left', ...arm('engaged', false) };
    const right = { side: 'right', ...arm('hold', true) };
    const ofBoth = (...arms: object[]) => clutchAdvice(seen({ ...arm('engaged', false), arms }));
    assert.match(ofBoth(left, right), /^right arm: open the clutch/);
    assert.match(ofBoth({ ...left, ...arm('hold', true) }, right), /^both arms: open the clutch/);
    assert.equal(ofBoth(left, { ...right, ...arm('engaged', false) }), '');
  });
});
