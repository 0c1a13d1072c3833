import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { emptyTraceRecord, OUTCOMES, type TraceRecord } from '../../src/core/trace-record.ts';
import { createPolicy } from '../../src/robot/playout/policy.ts';
import { replay } from '../../src/robot/playout/replay/replay.ts';
import { scoreOf } from '../../src/robot/playout/replay/score.ts';
import { parseDelayTrace } from '../../src/robot/playout/replay/trace.ts';
import { FeelMeter } from '../../src/trace/feel.ts';

/** What a live trace would hold of a replayed one. */
function recordsOf(
  name: string,
  policy: string,
): { records: TraceRecord[]; score: ReturnType<typeof scoreOf> } {
  const text = gunzipSync(readFileSync(`test/data/delay-traces/${name}.csv.gz`)).toString();
  const trace = parseDelayTrace(text, name);
  // A live operator skips the ticks it misses; these senders made up for them in a burst.
  trace.sendUs.forEach((_, i) => {
    trace.sendUs[i] = 1000 + i * 10_000;
  });
  const applied = replay(trace, createPolicy(policy));
  const records = Array.from({ length: trace.count }, (_, seq) => {
    const record = emptyTraceRecord();
    const sentNs = trace.sendUs[seq]! * 1000;
    const arrivedNs = sentNs + trace.delayUs[seq]! * 1000;
    const appliedNs = applied.applyUs[seq]! * 1000;
    const isLost = Number.isNaN(trace.delayUs[seq]!);
    const outcome = Number.isNaN(appliedNs) ? (isLost ? 'lost' : 'dropped-stale') : 'applied';
    Object.assign(record, { session: 1, seq, outcome: OUTCOMES.indexOf(outcome), reason: -1, offsetNs: 0 });
    Object.assign(record, { getStateNs: sentNs, pipelineDoneNs: sentNs, wireSentNs: sentNs });
    record.playoutDelayNs = applied.delayUs[seq]! * 1000;
    if (!isLost) record.kernelNs = record.receiveNs = arrivedNs;
    if (outcome === 'applied') record.releasedNs = record.appliedNs = appliedNs;
    return record;
  });
  return { records, score: scoreOf(trace, applied) };
}

function feelOf(records: readonly TraceRecord[]) {
  const meter = new FeelMeter();
  for (const record of records) meter.add(record, 0);
  meter.finish();
  return meter.verdict();
}

describe('feel from a live trace', () => {
  for (const [name, policy] of [
    ['wifi_tuned', 'none'],
    ['wifi_tuned', 'adaptive'],
    ['bloat', 'fixed:60'],
    ['loss2', 'none'],
    ['handover', 'adaptive'],
  ] as const)
    it(`is the replay's score: ${policy} on ${name}`, () => {
      const { records, score } = recordsOf(name, policy);
      const { windows, badWindows, strictWindows, longestLateRun } = feelOf(records.slice(0, -5)); // as the scorer does
      assert.ok(score !== null);
      const expected = [score.windows, score.badWindows, score.strictWindows, score.longestLateRun];
      assert.deepEqual([windows, badWindows, strictWindows, longestLateRun], expected);
    });

  it('blames the network for wifi, and loss for loss', () => {
    const causes = (name: string) =>
      new Set(feelOf(recordsOf(name, 'none').records).spells.map(({ cause }) => cause));
    assert.deepEqual([...causes('wifi_tuned')], ['wire']);
    assert.ok(causes('loss2').has('lost'));
  });
});
