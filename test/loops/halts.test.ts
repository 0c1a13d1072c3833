import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createReport, type TraceReport } from '../../src/trace/report.ts';
import { verdictOf } from '../../src/trace/verdict.ts';
import { peerPort } from '../../src/wire/reactor.ts';
import { MS, SimulatedRig, TestHand } from './simulated-rig.ts';

function reportOf(rig: SimulatedRig): TraceReport {
  const report = createReport();
  for (const record of rig.operator.closed) report.add(record);
  return report.finish();
}

/** What the robot itself did, by its own account. */
const went = (rig: SimulatedRig, to: 'hold' | 'stopped') =>
  rig.robot.transitions.filter((transition) => transition.to === to).length;

describe('halts in the trace are those of the robot', () => {
  for (const who of ['network', 'operator', 'robot'] as const)
    it(`with stalls of 300 ms every 2.5 s: ${who}`, async () => {
      const rig = await SimulatedRig.create();
      rig.runFor(12_000);
      for (let i = 0; i < 10; i++) {
        if (who === 'network') {
          const fromNs = rig.nowNs;
          rig.impair = (_from, _to, nowNs) => (nowNs < fromNs + 300 * MS ? null : 2 * MS);
          rig.runFor(300);
        } else rig.stall(who, 300);
        rig.runFor(2200);
      }
      rig.windDown();
      const report = reportOf(rig);
      assert.equal(went(rig, 'hold'), 11, 'ten stalls, and the release at the end');
      assert.equal(report.feel.holds, 10);
      assert.ok(report.feel.badWindows >= 10, `${report.feel.badWindows} of ${report.feel.windows}`);
      const causes = new Set(report.feel.spells.map(({ cause }) => cause));
      const expected = { network: 'outage', operator: 'missed-tick', robot: 'robot-stall' } as const;
      assert.deepEqual([...causes], [expected[who]]);
      assert.equal(verdictOf(report).tone, 'bad');
    });

  it('a link silent for over a second is one stop; resetting and arming again is not bad', async () => {
    const rig = await SimulatedRig.create();
    rig.runFor(12_000);
    rig.impair = () => null;
    rig.runFor(1500);
    rig.impair = () => 2 * MS;
    rig.runFor(15_000);
    assert.equal(rig.state, 'stopped');
    rig.operator.loop.ask('reset', rig.nowNs);
    rig.runFor(300);
    rig.operator.loop.ask('arm', rig.nowNs);
    rig.runFor(10_000);
    const { feel } = reportOf(rig);
    assert.equal(feel.stops, 1);
    assert.ok(feel.badWindows >= 10 && feel.badWindows <= 13, `${feel.badWindows}`);
  });

  it('a person who releases the clutch, hides the hand or presses e-stop causes none', async () => {
    const hand = new TestHand();
    const rig = await SimulatedRig.create({ hand });
    const press = (clutch: boolean) => {
      hand.hand.clutch = clutch;
      rig.runFor(1500);
    };
    press(false);
    for (let i = 0; i < 10; i++) {
      press(true);
      assert.equal(rig.state, 'engaged');
      press(false);
    }
    press(true);
    hand.hand.tracking = false;
    rig.runFor(1500);
    hand.hand.tracking = true;
    press(false);
    press(true);
    assert.equal(rig.state, 'engaged');
    rig.operator.loop.ask('estop', rig.nowNs);
    rig.runFor(1000);
    assert.equal(rig.state, 'stopped');
    const { holds, stops, refused, badWindows } = reportOf(rig).feel;
    assert.deepEqual([holds, stops, refused, badWindows], [0, 0, 0, 0]);
  });

  it('a robot whose states are late for a moment is a hold that no person asked for', async () => {
    const rig = await SimulatedRig.create();
    rig.runFor(12_000);
    const { statePort } = rig.rig.link;
    const untilNs = rig.nowNs + 240 * MS;
    rig.impair = (from, _to, nowNs) => (peerPort(from) === statePort && nowNs < untilNs ? null : 2 * MS);
    rig.runFor(2000);
    const [hold] = rig.robot.transitions.filter(({ to }) => to === 'hold');
    assert.equal(hold?.cause, 'clutch released', 'the robot cannot tell it from a person');
    assert.equal(reportOf(rig).feel.holds, 1);
  });

  it('an input that falls silent is a hold of its own cause', async () => {
    const hand = new TestHand();
    const rig = await SimulatedRig.create({ hand });
    rig.runFor(1000);
    hand.hand.clutch = true;
    rig.runFor(11_000);
    assert.equal(rig.state, 'engaged');
    hand.status = 'stale';
    rig.runFor(500);
    const { feel } = reportOf(rig);
    assert.equal(feel.holds, 1);
    assert.equal(feel.spells[0]?.cause, 'input');
  });
});
