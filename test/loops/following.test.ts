import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OUTCOMES, type TraceRecord } from '../../src/messages/trace-record.ts';
import { oneWayNs, segmentsNs } from '../../src/trace/segments.ts';
import { xorshift } from '../xorshift.ts';
import { isApplied, MS, SimulatedRig, TestHand } from './simulated-rig.ts';

const outcomeOf = (record: TraceRecord): string => OUTCOMES[record.outcome]!;

/** Every command sent is closed exactly once, and the totals match. */
function assertClosedOnce(rig: SimulatedRig): void {
  const { closed, loop } = rig.operator;
  const seqs = closed.map((record) => record.seq).sort((a, b) => a - b);
  assert.deepEqual(
    seqs,
    Array.from({ length: seqs.length }, (_, i) => i + 1),
  );
  assert.equal(loop.link.open, 0);
  const { commands, applied, late, dropped, rejected, lost } = loop.link.totals;
  assert.equal(commands, closed.length);
  assert.equal(applied + dropped + rejected + lost, commands);
  const count = (outcome: string) => closed.filter((record) => outcomeOf(record) === outcome).length;
  assert.deepEqual(
    [applied, late, dropped, rejected, lost],
    [
      count('applied') + count('late'),
      count('late'),
      count('dropped-stale'),
      count('rejected'),
      count('lost'),
    ],
  );
}

function assertNeverBack(rig: SimulatedRig): void {
  const seqs = rig.appliedSeqs();
  for (let i = 1; i < seqs.length; i++) assert.ok(seqs[i]! > seqs[i - 1]!, `${seqs[i]} after ${seqs[i - 1]}`);
}

describe('both roles on a good link', () => {
  it('connect, arm, engage and follow the hand', async () => {
    const rig = await SimulatedRig.create();
    const tookMs = rig.runUntil(() => rig.state === 'engaged', 1000);
    assert.ok(tookMs < 300, `${tookMs} ms to engage`);
    assert.deepEqual(rig.path, ['idle', 'armed', 'engaged']);
    rig.runFor(8000);
    assert.equal(rig.state, 'engaged');
    const { writes } = rig.robot.driver;
    const swept = rig.model.joints.map((_, j) => {
      const all = writes.map(({ positionsRad }) => positionsRad[j]!);
      return Math.max(...all) - Math.min(...all);
    });
    assert.ok(swept.filter((rad) => rad > 0.1).length >= 3, `the arm moved by ${swept}`);
    assert.ok(rig.maxSpeedRadS() < 2, `${rig.maxSpeedRadS()} rad/s`);
    const applied = rig.robot.answers.filter(({ outcome }) => isApplied(outcome)).length;
    assert.ok(applied > 790, `${applied} of 800 ticks`);
  });

  it('keep the arm at the operator’s command, delayed by the link', async () => {
    const rig = await SimulatedRig.create();
    rig.runFor(5000);
    const target = rig.robot.loop.supervisor.targetRad;
    const measured = rig.robot.loop.supervisor.reading.positionsRad;
    target.forEach((rad, i) => {
      assert.ok(Math.abs(rad - measured[i]!) < 0.05);
    });
    const seen = rig.operator.loop.robot.state;
    seen.targetRad.forEach((rad, i) => {
      assert.ok(Math.abs(rad - target[i]!) < 0.02);
    });
  });

  it('close every command exactly once', async () => {
    const rig = await SimulatedRig.create();
    rig.runFor(3000);
    rig.windDown();
    assertClosedOnce(rig);
    assertNeverBack(rig);
    assert.equal(rig.operator.loop.link.totals.lost, 0);
    assert.ok(rig.operator.closed.length > 250);
  });

  it('hold the arm when the operator leaves, and accept the next one immediately', async () => {
    const rig = await SimulatedRig.create();
    rig.runFor(1000);
    const writes = () => rig.robot.driver.writes.length;
    rig.windDown();
    rig.runFor(50);
    assert.equal(rig.state, 'disconnected');
    const before = writes();
    rig.runFor(500);
    assert.equal(writes(), before);
    await rig.startOperator(2002);
    const tookMs = rig.runUntil(() => rig.state === 'engaged', 3000);
    assert.ok(tookMs < 500, `${tookMs} ms`);
  });

  for (const [operatorOffsetNs, robotOffsetNs] of [
    [0, 1e12],
    [1e12, 0],
    [-99e9, 3.7e12],
  ] as const)
    it(`measure the one-way time for any clock offsets (${operatorOffsetNs}, ${robotOffsetNs})`, async () => {
      const rig = await SimulatedRig.create({
        operatorOffsetNs,
        robotOffsetNs,
        delayMs: 7,
        overrides: ['robot.playout=none'],
      });
      rig.runFor(3000);
      rig.windDown();
      const applied = rig.operator.closed.filter((record) => isApplied(outcomeOf(record)));
      assert.ok(applied.length > 250);
      const segments = new Float64Array(6);
      for (const record of applied) {
        assert.equal(record.offsetNs, robotOffsetNs - operatorOffsetNs);
        // Half the round trip, plus 50 µs for the stamps.
        assert.equal(record.uncertaintyNs, 7.05 * MS);
        assert.equal(oneWayNs(record), 7 * MS);
        segmentsNs(record, segments);
        assert.deepEqual([...segments], [0, 0, 7 * MS, 0, 0, 0]);
      }
      assertClosedOnce(rig);
    });

  it('measure an asymmetric path within the stated uncertainty', async () => {
    const rig = await SimulatedRig.create({ robotOffsetNs: -50e9, overrides: ['robot.playout=none'] });
    rig.impair = (from) => (rig.operator.peers.includes(from) ? 9 : 3) * MS;
    rig.runFor(3000);
    const applied = rig.operator.closed.filter((record) => isApplied(outcomeOf(record)));
    for (const record of applied) {
      // True: 9 ms. Biased by half the asymmetry, which no exchange can detect.
      assert.ok(Math.abs(oneWayNs(record) - 6 * MS) <= 2);
      assert.ok(Math.abs(oneWayNs(record) - 9 * MS) <= record.uncertaintyNs);
    }
    assert.ok(applied.length > 250);
  });

  it('apply commands at a fixed delay after the operator’s tick', async () => {
    const rig = await SimulatedRig.create({ robotOffsetNs: 5e9, delayMs: 10 });
    const chance = xorshift(11);
    rig.impair = () => (10 + 30 * chance()) * MS;
    rig.runFor(4000);
    const applied = rig.operator.closed.filter((record) => isApplied(outcomeOf(record)));
    assert.ok(applied.length > 250);
    for (const record of applied.slice(100)) {
      assert.equal(outcomeOf(record), 'applied');
      // The offset changes slightly over the run.
      assert.ok(Math.abs(oneWayNs(record) - 60 * MS) <= MS, `${oneWayNs(record) / MS} ms`);
    }
    assertNeverBack(rig);
  });
});

describe('a hand with a clutch', () => {
  it('moves the arm only while the clutch is closed', async () => {
    const hand = new TestHand();
    const rig = await SimulatedRig.create({ hand });
    rig.runFor(500);
    assert.equal(rig.state, 'armed');
    hand.hand.positionM[0] = 0.05;
    rig.runFor(300);
    assert.equal(rig.robot.driver.writes.length, 0);
    hand.hand.clutch = true;
    rig.runFor(300);
    assert.equal(rig.state, 'engaged');
    const before = [...rig.robot.loop.supervisor.targetRad];
    for (let i = 0; i < 50; i++) {
      hand.hand.positionM[0]! += 0.001;
      rig.runFor(10);
    }
    hand.hand.clutch = false;
    rig.runFor(500);
    assert.equal(rig.state, 'hold');
    const after = [...rig.robot.loop.supervisor.targetRad];
    assert.ok(after.some((rad, i) => Math.abs(rad - before[i]!) > 0.05));
    const writes = rig.robot.driver.writes.length;
    hand.hand.positionM[0] = 0.2;
    rig.runFor(500);
    assert.equal(rig.robot.driver.writes.length, writes, 'an open clutch moves nothing');
  });

  it('holds in the same tick when tracking is lost, ahead of what is queued', async () => {
    const hand = new TestHand();
    const rig = await SimulatedRig.create({ hand, delayMs: 2 });
    rig.grip(hand);
    rig.runFor(200);
    assert.ok(rig.robot.loop.queue.depth >= 5, '60 ms of commands are waiting');
    hand.hand.tracking = false;
    const tookMs = rig.runUntil(() => rig.state === 'hold', 100);
    assert.ok(tookMs <= 13, `${tookMs} ms: a tick and the one-way delay`);
    hand.hand.tracking = true;
    rig.runFor(500);
    assert.equal(rig.state, 'hold', 'the clutch must be opened first');
    hand.hand.clutch = false;
    rig.runFor(100);
    hand.hand.clutch = true;
    rig.runUntil(() => rig.state === 'engaged', 300);
  });

  it('stops the robot when the hand requests it', async () => {
    const hand = new TestHand();
    const rig = await SimulatedRig.create({ hand });
    rig.grip(hand);
    hand.hand.estop = true;
    assert.ok(rig.runUntil(() => rig.state === 'stopped', 100) <= 13);
  });
});

describe('a link that loses 30 %', () => {
  it('loses only those commands, and never applies out of order', async () => {
    const rig = await SimulatedRig.create({ overrides: ['link.redundancy=0'] });
    const chance = xorshift(2024);
    rig.impair = () => (chance() < 0.3 ? null : (2 + 20 * chance()) * MS);
    rig.runFor(20_000);
    rig.impair = () => 2 * MS;
    rig.runFor(2500);
    rig.windDown();
    assertClosedOnce(rig);
    assertNeverBack(rig);
    const { totals } = rig.operator.loop.link;
    // Either direction may lose it: 1 − 0.7² of them have no receipt.
    assert.ok(totals.lost > 0.4 * 2000 && totals.lost < 0.6 * 2000, `${totals.lost} lost`);
    assert.ok(rig.appliedSeqs().length > 0.6 * 2000);
    assert.ok(rig.maxSpeedRadS() < 6.3);
  });

  it('has no effect by duplicating and reordering', async () => {
    const rig = await SimulatedRig.create();
    const chance = xorshift(7);
    rig.impair = () => (2 + 50 * chance()) * MS;
    rig.runFor(5000);
    rig.impair = () => 2 * MS;
    rig.windDown();
    assertClosedOnce(rig);
    assertNeverBack(rig);
    assert.equal(rig.operator.loop.link.totals.lost, 0);
    assert.ok(rig.operator.loop.link.totals.applied > 350);
  });
});
