import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OUTCOMES, SEGMENTS, type TraceRecord } from '../../src/messages/trace-record.ts';
import { createDriverMemory } from '../../src/robot/driver-thread/driver-boards.ts';
import { DriverLoop } from '../../src/robot/driver-thread/driver-loop.ts';
import { ThreadedDriver } from '../../src/robot/driver-thread/threaded-driver.ts';
import { oneWayNs, segmentsNs } from '../../src/trace/segments.ts';
import { isApplied, MS, SimulatedRig } from './simulated-rig.ts';

/** Commands are due at whole multiples of 10 ms; the thread runs this long after. */
const LATE_MS = 7;
const CYCLE_MS = 5;

/** A robot whose driver thread runs once every `periodMs`, `LATE_MS` after a command was due. */
async function rigWithThread(periodMs: number) {
  let thread: DriverLoop | null = null;
  const rig = await SimulatedRig.create({
    wrapDriver(arm, clock, joints) {
      const memory = createDriverMemory(joints);
      thread = new DriverLoop(arm, memory, joints, clock);
      return new ThreadedDriver(memory, joints);
    },
  });
  let passNs = rig.nowNs + LATE_MS * MS;
  const runFor = (ms: number, isAlive = true) => {
    const untilNs = rig.nowNs + ms * MS;
    for (; passNs <= untilNs && isAlive; passNs += periodMs * MS) {
      rig.network.run(passNs);
      thread!.onWake();
    }
    rig.network.run(untilNs);
  };
  return { rig, runFor };
}

const outcomeOf = (record: TraceRecord): string => OUTCOMES[record.outcome]!;

function assertSegmentsAddUp(record: TraceRecord): void {
  const segments = new Float64Array(SEGMENTS.length);
  segmentsNs(record, segments);
  assert.equal(
    segments.reduce((sum, ns) => sum + ns),
    oneWayNs(record),
  );
}

function assertOneReceiptEach({ robot }: SimulatedRig): void {
  assert.equal(new Set(robot.answers.map(({ seq }) => seq)).size, robot.answers.length);
}

describe('a driver on a thread that writes late', () => {
  it('applies commands late by exactly that, and sends receipts within a cycle of the write', async () => {
    const { rig, runFor } = await rigWithThread(10);
    runFor(3000);
    const applied = rig.operator.closed.filter((record) => isApplied(outcomeOf(record)));
    assert.ok(applied.length > 200, `${applied.length} applied`);
    const answeredNs = new Map(rig.robot.answers.map(({ seq, atNs }) => [seq, atNs]));
    for (const record of applied) {
      assert.equal(outcomeOf(record), 'applied', 'a late write does not make a command late');
      assert.equal(record.releasedNs, record.dueNs);
      assert.equal(record.appliedNs - record.releasedNs, LATE_MS * MS);
      assertSegmentsAddUp(record);
      const waitNs = answeredNs.get(record.seq)! - record.appliedNs;
      assert.ok(waitNs >= 0 && waitNs <= CYCLE_MS * MS, `${waitNs / MS} ms`);
    }
    assert.equal(rig.operator.loop.link.totals.dropped, 0);
    assert.equal(rig.operator.loop.link.totals.lost, 0);
    assertOneReceiptEach(rig);
  });

  it('drops commands that newer ones replaced before they were written', async () => {
    const { rig, runFor } = await rigWithThread(20);
    runFor(3000);
    const { closed, loop } = rig.operator;
    const { applied, dropped, lost } = loop.link.totals;
    assert.ok(applied > 100 && Math.abs(applied - dropped) <= 2, `${applied} applied, ${dropped} dropped`);
    assert.equal(lost, 0);
    for (const record of closed) {
      if (isApplied(outcomeOf(record))) assert.equal(record.appliedNs - record.releasedNs, LATE_MS * MS);
      else assert.ok(Number.isNaN(record.appliedNs));
      if (outcomeOf(record) === 'dropped-stale') assert.ok(!Number.isNaN(record.releasedNs));
    }
    assert.equal(rig.robot.counters.get('dropped-stale'), dropped);
    assertOneReceiptEach(rig);
  });

  it('does not report a command as applied that an e-stop overtook', async () => {
    const { rig, runFor } = await rigWithThread(10);
    // The thread has run, and a command was handed over since: at 1 ms after a due time.
    runFor(2001);
    assert.equal(rig.state, 'engaged');
    const { releasedSeq } = rig.robot.loop.queue;
    rig.ask('estop');
    runFor(4);
    assert.equal(rig.state, 'stopped');
    assert.ok(!rig.robot.answers.some(({ seq }) => seq === releasedSeq), 'not before the thread has run');
    runFor(100);
    const answer = rig.robot.answers.find(({ seq }) => seq === releasedSeq);
    assert.equal(answer?.outcome, 'rejected:not-armed');
    assertOneReceiptEach(rig);
  });

  it('does not report a command as applied that a dead thread never wrote', async () => {
    const { rig, runFor } = await rigWithThread(10);
    runFor(2001);
    const { releasedSeq } = rig.robot.loop.queue;
    runFor(600, false);
    assert.equal(rig.state, 'stopped');
    const since = rig.robot.answers.filter(({ seq }) => seq >= releasedSeq);
    assert.ok(since.length > 25, `${since.length}`);
    assert.equal(since.find(({ seq }) => seq === releasedSeq)?.outcome, 'rejected:driver-fault');
    assert.ok(!since.some(({ outcome }) => isApplied(outcome)));
    assertOneReceiptEach(rig);
  });
});
