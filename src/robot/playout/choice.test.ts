import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { NS_PER_MS } from '../../core/time/clock.ts';
import { PLAYOUT_MODES } from '../../messages/playout-request.ts';
import { PlayoutChoice } from './choice.ts';
import { createPolicy } from './policy.ts';

const PERIOD_NS = 10 * NS_PER_MS;
const TRANSIT_NS = 3 * NS_PER_MS;

/** Due times of a link with a constant delay; `act` may switch before each command. */
function dues(policy: PlayoutChoice, commands: number, act: (index: number) => void): number[] {
  return Array.from({ length: commands }, (_, i) => {
    act(i);
    return policy.schedule(i * PERIOD_NS, i * PERIOD_NS + TRANSIT_NS);
  });
}

const stepsMs = (due: readonly number[]): number[] => due.slice(1).map((ns, i) => (ns - due[i]!) / NS_PER_MS);

describe('a choice of playout', () => {
  it('is the robot’s own until another is chosen', () => {
    const own = createPolicy('adaptive');
    const choice = new PlayoutChoice(createPolicy('adaptive'));
    for (let i = 0; i < 500; i++) {
      const [sampledRobotNs, receivedNs] = [i * PERIOD_NS, i * PERIOD_NS + TRANSIT_NS + (i % 7) * NS_PER_MS];
      assert.equal(choice.schedule(sampledRobotNs, receivedNs), own.schedule(sampledRobotNs, receivedNs));
    }
    assert.equal(choice.name, 'adaptive');
  });

  it('moves to the chosen mode and back to its own, which kept learning meanwhile', () => {
    const choice = new PlayoutChoice(createPolicy('adaptive'));
    const twin = createPolicy('adaptive');
    let sent = 0;
    const delayAfter = (mode: (typeof PLAYOUT_MODES)[number] | null) => {
      choice.choose(mode);
      for (let i = 0; i < 300; i++, sent++) {
        twin.schedule(sent * PERIOD_NS, sent * PERIOD_NS + TRANSIT_NS);
        choice.schedule(sent * PERIOD_NS, sent * PERIOD_NS + TRANSIT_NS);
      }
      return choice.delayNs / NS_PER_MS;
    };
    assert.equal(delayAfter('fixed'), 60);
    assert.equal(choice.name, 'fixed:60');
    assert.equal(delayAfter('none'), 3);
    assert.equal(delayAfter(null), twin.delayNs! / NS_PER_MS);
  });

  it('never jumps, however often it is switched: time runs 5 % fast to 10 % slow', () => {
    const switches = fc.array(
      fc.record({ at: fc.integer({ min: 50, max: 900 }), mode: fc.constantFrom(...PLAYOUT_MODES, null) }),
      { minLength: 1, maxLength: 12 },
    );
    fc.assert(
      fc.property(fc.constantFrom('adaptive', 'fixed:40', 'none', 'rfc3550'), switches, (own, list) => {
        const choice = new PlayoutChoice(createPolicy(own));
        const due = dues(choice, 1000, (i) => {
          for (const { at, mode } of list) if (at === i) choice.choose(mode);
        });
        for (const ms of stepsMs(due).slice(20)) assert.ok(ms > 9.49 && ms < 11.01, `${ms} ms to the next`);
      }),
      { numRuns: 60 },
    );
  });

  it('works without synchronized clocks', () => {
    const choice = new PlayoutChoice(createPolicy('adaptive'));
    dues(choice, 100, () => {});
    choice.choose('fixed');
    assert.equal(choice.schedule(Number.NaN, 1e9), 1e9 + 60 * NS_PER_MS);
    choice.choose('none');
    assert.equal(choice.schedule(Number.NaN, 2e9), 2e9);
  });
});
