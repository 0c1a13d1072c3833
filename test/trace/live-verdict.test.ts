import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { HALTS, OUTCOMES, type TraceRecord } from '../../src/messages/trace-record.ts';
import { jointsRing } from '../../src/operator/joints-ring.ts';
import { LiveFeel } from '../../src/operator/live-feel.ts';
import { LiveProfile } from '../../src/profiler/live-profile.ts';
import { feelFigures } from '../../src/trace/feel.ts';
import { createReport } from '../../src/trace/report.ts';
import { MS, runOf } from './run.ts';

/** The operator gives up on a command after this. */
const LOST_MS = 2000;
const LOST = OUTCOMES.indexOf('lost');

/** As the operator writes them: each when its receipt has arrived, a lost one when it gives up on it. */
function asClosed(records: readonly TraceRecord[]): TraceRecord[] {
  const closedMs = ({ outcome, sampledNs }: TraceRecord) => sampledNs / MS + (outcome === LOST ? LOST_MS : 8);
  return records.toSorted((a, b) => closedMs(a) - closedMs(b));
}

/** Loses these stretches, in ticks, and reports a hold after each that is longer than the watchdog waits. */
function runWith(holes: readonly { from: number; ticks: number }[]): TraceRecord[] {
  const records = runOf({ seconds: 40, wireMs: () => 3 });
  for (const { from, ticks } of holes) {
    for (const record of records.slice(from, from + ticks)) record.outcome = LOST;
    const next = records[from + ticks];
    if (ticks > 10 && next !== undefined) next.halt = HALTS.indexOf('hold:silence');
  }
  return records;
}

function verdicts(records: readonly TraceRecord[]) {
  const report = createReport();
  const profile = new LiveProfile();
  const page = new LiveFeel(jointsRing(6, 8).buffer);
  for (const record of asClosed(records)) {
    report.add(record);
    profile.add(record);
    page.add(record);
  }
  profile.settle();
  return { report: report.finish().feel, top: profile.snapshot().feel, page: page.feel() };
}

describe('what top and the page say of a run', () => {
  it('is what the report says, whatever was lost', () => {
    const hole = fc.record({
      from: fc.integer({ min: 150, max: 3000 }),
      ticks: fc.integer({ min: 1, max: 60 }),
    });
    fc.assert(
      fc.property(fc.array(hole, { maxLength: 12 }), (holes) => {
        const { report, top, page } = verdicts(runWith(holes));
        assert.deepEqual(top, feelFigures(report));
        assert.equal(page?.holds, report.holds);
        assert.ok(
          report.windows - (page?.windows ?? 0) <= 2,
          `${page?.windows} of ${report.windows} seconds`,
        );
        assert.ok(page !== null && page.badWindows <= report.badWindows);
      }),
      { numRuns: 60 },
    );
  });

  it('counts the seconds of a run once when every tenth command is lost', () => {
    const records = runOf({ seconds: 40, wireMs: () => 3 });
    for (const record of records) if (record.seq % 10 === 9) record.outcome = LOST;
    const { report, top, page } = verdicts(records);
    assert.equal(top.windows, report.windows);
    assert.ok(report.windows - (page?.windows ?? 0) <= 3, `${page?.windows} of ${report.windows}`);
  });
});
