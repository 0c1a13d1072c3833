import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { REASONS, type Reason } from '../../src/core/counters.ts';
import {
  emptyTraceRecord,
  HALTS,
  type Halt,
  OUTCOMES,
  type TraceRecord,
} from '../../src/messages/trace-record.ts';
import { FeelMeter } from '../../src/trace/feel.ts';
import { createReport } from '../../src/trace/report.ts';
import { verdictOf } from '../../src/trace/verdict.ts';
import { MS, runOf } from './run.ts';

const OFFSET_NS = 5e12;

function feelOf(records: readonly TraceRecord[]) {
  const meter = new FeelMeter();
  for (const record of records) meter.add(record, 0);
  meter.finish();
  return meter.verdict();
}

function reject(record: TraceRecord, reason: Reason): void {
  record.outcome = OUTCOMES.indexOf('rejected');
  record.reason = REASONS.indexOf(reason);
  record.dueNs = record.releasedNs = record.appliedNs = Number.NaN;
}

function lose(record: TraceRecord): void {
  const { session, seq, sampledNs, offsetNs, halt, haltNs } = record;
  Object.assign(record, emptyTraceRecord(), { session, seq, sampledNs, offsetNs, halt, haltNs });
  record.outcome = OUTCOMES.indexOf('lost');
}

/**
 * The link goes silent at `tick` for `ticks`: those commands are lost, the robot holds, the next ones carry an
 * engagement that is over, then the operator learns of the halt, and re-engages `awayTicks` later.
 */
function stall(
  records: TraceRecord[],
  tick: number,
  ticks: number,
  awayTicks = 50,
  halt: Halt = 'hold:silence',
) {
  for (const record of records.slice(tick, tick + ticks)) lose(record);
  for (const record of records.slice(tick + ticks, tick + ticks + 3)) reject(record, 'old-engagement');
  const away = records.slice(tick + ticks + 3, tick + ticks + 3 + awayTicks);
  for (const record of away) reject(record, 'not-engaged');
  const learnt = away[0] ?? records[tick + ticks + 3]!;
  learnt.halt = HALTS.indexOf(halt);
  learnt.haltNs = records[tick]!.sampledNs + 100 * MS + OFFSET_NS;
}

const steady = (seconds: number) => runOf({ seconds, wireMs: (_, random) => 3 + random() });

describe('a halt that nobody asked for', () => {
  it('makes its second bad and names the cause', () => {
    const records = steady(40);
    for (let tick = 1200; tick < 3700; tick += 250) stall(records, tick, 30);
    const feel = feelOf(records);
    assert.equal(feel.holds, 10);
    assert.ok(feel.badWindows >= 10, `${feel.badWindows}`);
    assert.equal(feel.refused, 30);
    assert.deepEqual([...new Set(feel.spells.map(({ cause }) => cause))], ['outage']);
  });

  it('counts during the first ten seconds, in the last second, and in a run shorter than a second', () => {
    for (const [seconds, tick] of [
      [8, 300],
      [20, 1960],
      [0.9, 40],
    ] as const) {
      const records = steady(seconds);
      stall(records, tick, 20, 5);
      const feel = feelOf(records);
      assert.equal(feel.holds, 1);
      assert.ok(feel.badWindows >= 1, `${seconds} s: ${feel.badWindows}`);
      assert.ok(feel.badWindows <= feel.windows);
    }
  });

  it('counts the time until the robot follows again, up to ten seconds', () => {
    const bad = (awaySeconds: number) => {
      const records = steady(60);
      stall(records, 1200, 30, awaySeconds * 100);
      return feelOf(records).badWindows;
    };
    assert.ok(bad(5) >= 5 && bad(5) <= 7, `${bad(5)}`);
    assert.ok(bad(40) >= 10 && bad(40) <= 12, `${bad(40)}`);
  });

  it('counts when no command was sent between the outage and its end', () => {
    const records = steady(40);
    stall(records, 1500, 20, 1);
    const silent = records.filter((_, i) => i < 1520 || i >= 1820);
    silent[1520]!.halt = HALTS.indexOf('stop:silence');
    const feel = feelOf(silent);
    assert.equal(feel.stops, 1);
    assert.ok(feel.badWindows >= 3, `${feel.badWindows}`);
  });

  it('is a stall of the operator if its loop missed the ticks', () => {
    const records = steady(30);
    stall(records, 1500, 30, 20);
    const feel = feelOf(records.filter((_, i) => i < 1500 || i >= 1530));
    assert.deepEqual(
      feel.spells.map(({ cause }) => cause),
      ['missed-tick'],
    );
  });

  it('is the network’s if the operator stopped sending because the link was down', () => {
    const records = steady(30);
    for (const record of records.slice(1500, 1522)) lose(record);
    for (const record of records.slice(1750)) reject(record, 'stopped');
    records[1750]!.halt = HALTS.indexOf('stop:silence');
    records[1750]!.haltNs = records[1600]!.sampledNs + OFFSET_NS;
    const feel = feelOf(records.filter((_, i) => i < 1522 || i >= 1750));
    assert.equal(feel.stops, 1);
    assert.deepEqual([...new Set(feel.spells.map(({ cause }) => cause))], ['outage']);
  });

  it('refuses no more commands than were rejected, though the operator missed ticks among them', () => {
    const records = steady(30);
    stall(records, 1500, 20, 20);
    const gap = records.filter((_, i) => i < 1521 || i > 1521);
    const rejected = gap.filter(({ reason }) => REASONS[reason] === 'old-engagement').length;
    assert.equal(feelOf(gap).refused, rejected);
  });

  it('is one second for a single refused command', () => {
    const records = steady(30);
    reject(records[1500]!, 'too-old');
    const { refused, badWindows } = feelOf(records);
    assert.deepEqual([refused, badWindows], [1, 1]);
  });

  it('is not a person’s release, after which commands of the queue are void', () => {
    const records = steady(30);
    for (const record of records.slice(1500, 1507)) reject(record, 'old-engagement');
    for (const record of records.slice(1507, 1700)) reject(record, 'not-engaged');
    const { holds, stops, refused, badWindows } = feelOf(records);
    assert.deepEqual([holds, stops, refused, badWindows], [0, 0, 0, 0]);
  });
});

describe('laws of the verdict', () => {
  const stalls = fc.array(
    fc.record({
      tick: fc.integer({ min: 0, max: 3800 }),
      ticks: fc.integer({ min: 1, max: 60 }),
      away: fc.integer({ min: 0, max: 80 }),
      isHalt: fc.boolean(),
    }),
    { maxLength: 12 },
  );
  type Stall = { tick: number; ticks: number; away: number; isHalt: boolean };
  const withStalls = (all: readonly Stall[]) => {
    const records = steady(40);
    for (const { tick, ticks, away, isHalt } of all) {
      if (isHalt) stall(records, tick, ticks, away);
      else for (const record of records.slice(tick, tick + ticks)) lose(record);
    }
    return records;
  };

  it('a link that made the robot hold is never judged smooth', () => {
    fc.assert(
      fc.property(stalls, (all) => {
        const report = createReport();
        const records = withStalls(all);
        for (const record of records) report.add(record);
        const reported = report.finish();
        const halted = records.filter(({ halt }) => !Number.isNaN(halt)).length;
        assert.equal(reported.feel.holds + reported.feel.stops, halted);
        if (halted > 0) assert.equal(verdictOf(reported).tone, 'bad');
        assert.ok(reported.feel.badWindows <= reported.feel.windows);
        assert.equal(
          reported.feel.flags.reduce((sum, bad) => sum + bad, 0),
          reported.feel.badWindows,
        );
      }),
      { numRuns: 60, endOnFailure: true },
    );
  });

  it('adding a stall never lowers the number of bad seconds', () => {
    fc.assert(
      fc.property(
        stalls.filter((all) => all.length > 0),
        (all) => {
          const before = feelOf(withStalls(all.slice(0, -1))).badWindows;
          const after = feelOf(withStalls(all)).badWindows;
          assert.ok(after >= before, `${before} → ${after}`);
        },
      ),
      { numRuns: 150, endOnFailure: true },
    );
  });
});
