import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { REASONS } from '../../src/core/counters.ts';
import { emptyTraceRecord, OUTCOMES, type TraceRecord } from '../../src/messages/trace-record.ts';
import { createPolicy } from '../../src/robot/playout/policy.ts';
import { replay } from '../../src/robot/playout/replay/replay.ts';
import { scoreOf } from '../../src/robot/playout/replay/score.ts';
import { parseDelayTrace } from '../../src/robot/playout/replay/trace.ts';
import { FeelMeter } from '../../src/trace/feel.ts';
import { createReport } from '../../src/trace/report.ts';
import { verdictOf } from '../../src/trace/verdict.ts';
import { document002, MS, runOf } from './run.ts';

/** The records a live trace would contain of a replayed one. */
function recordsOf(
  name: string,
  policy: string,
): { records: TraceRecord[]; score: ReturnType<typeof scoreOf> } {
  const text = gunzipSync(readFileSync(`test/data/delay-traces/${name}.csv.gz`)).toString();
  const trace = parseDelayTrace(text, name);
  // A live operator skips the ticks it misses; these senders caught up in a burst.
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
    Object.assign(record, { sampledNs: sentNs, pipelineDoneNs: sentNs, wireSentNs: sentNs });
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
    ['bloat', 'fixed:60'],
    ['loss2', 'none'],
  ] as const)
    it(`equals the replay's score: ${policy} on ${name}`, () => {
      const { records, score } = recordsOf(name, policy);
      const { windows, badWindows, strictWindows, longestLateRun } = feelOf(records.slice(0, -5)); // as the scorer does
      assert.ok(score !== null);
      const expected = [score.windows, score.badWindows, score.strictWindows, score.longestLateRun];
      assert.deepEqual([windows, badWindows, strictWindows, longestLateRun], expected);
    });

  it('attributes wifi spells to the network and loss spells to loss', () => {
    const causes = (name: string) =>
      new Set(feelOf(recordsOf(name, 'none').records).spells.map(({ cause }) => cause));
    assert.deepEqual([...causes('wifi_tuned')], ['wire']);
    assert.ok(causes('loss2').has('lost'));
  });
});

describe('the session of document 002', () => {
  const report = createReport();
  for (const record of document002()) report.add(record);
  const reported = report.finish();

  it('meets the run-level targets: p99 variation below 20 ms, no command over 250 ms', () => {
    assert.ok(reported.oneWay.variationNs!.p99 < 20 * MS, `${reported.oneWay.variationNs!.p99 / MS}`);
    assert.ok(reported.oneWay.variationNs!.p99 > 5 * MS);
    assert.ok(reported.oneWay.latencyNs!.max > 200 * MS && reported.oneWay.latencyNs!.max < 250 * MS);
  });

  it('fails the feel check in every cluster, because of the network, which the percentiles hide', () => {
    assert.ok(reported.feel.badWindows >= 40 && reported.feel.badWindows < 70, `${reported.feel.badWindows}`);
    assert.ok(reported.feel.strictWindows >= 20);
    assert.deepEqual([...new Set(reported.feel.spells.map(({ cause }) => cause))], ['wire']);
    assert.equal(reported.feel.spells.length, 11, 'ten clusters and the stall');
    const { tone, sentences } = verdictOf(reported);
    assert.equal(tone, 'bad');
    assert.ok(sentences.some((sentence) => sentence.includes('The percentiles of the run hide this')));
  });

  it('differs from as many scattered spikes, which make no bad second', () => {
    const spread = runOf({ seconds: 600, wireMs: (tick, random) => (tick % 53 === 0 ? 44 : 3 + random()) });
    const { badWindows, windows } = feelOf(spread);
    assert.deepEqual([windows, badWindows], [590, 0]);
  });
});

describe('the cause of a bad period', () => {
  /** Causes when 20 % of the commands of one second are changed. */
  const causesAfter = (touch: (record: TraceRecord) => void) => {
    const records = runOf({ seconds: 30, wireMs: (_, random) => 3 + random() });
    for (const record of records)
      if (record.seq >= 2000 && record.seq < 2100 && record.seq % 10 < 2) touch(record);
    return feelOf(records).spells.map(({ cause }) => cause);
  };
  const delay = (record: TraceRecord, ...fields: (keyof TraceRecord)[]) => {
    for (const field of fields) record[field] += 12 * MS;
  };

  it('is found among the segments', () => {
    assert.deepEqual(
      causesAfter((record) => delay(record, 'appliedNs')),
      ['apply'],
    );
    assert.deepEqual(
      causesAfter((record) => delay(record, 'appliedNs', 'releasedNs', 'receiveNs', 'dueNs')),
      ['receive'],
    );
    assert.deepEqual(
      causesAfter((record) => delay(record, 'appliedNs', 'releasedNs')),
      ['late-wake'],
    );
    assert.deepEqual(
      causesAfter((record) => delay(record, 'appliedNs', 'releasedNs', 'dueNs')),
      ['playout'],
    );
  });

  it('is the driver when released commands were replaced before their write', () => {
    const replaced = causesAfter((record) => {
      record.outcome = OUTCOMES.indexOf('dropped-stale');
      record.appliedNs = Number.NaN;
    });
    assert.deepEqual(replaced, ['apply']);
  });

  it('is missed ticks when the operator skips some, and none while nobody is driving', () => {
    const records = runOf({ seconds: 30, wireMs: () => 3 });
    const stalled = records.filter(({ seq }) => seq < 2000 || seq >= 2100 || seq % 20 >= 8);
    const feel = feelOf(stalled);
    assert.deepEqual(
      feel.spells.map(({ cause }) => cause),
      ['missed-tick'],
    );
    assert.equal(feel.longestLateRun, 7, 'eight ticks missed; the last is only 13 ms late, minus the target');
    const idle = records.map((record) => ({ ...record }));
    for (const record of idle.slice(2000, 2100)) {
      Object.assign(record, {
        outcome: OUTCOMES.indexOf('rejected'),
        reason: REASONS.indexOf('not-engaged'),
      });
      record.appliedNs = Number.NaN;
    }
    assert.deepEqual([feelOf(idle).badWindows, feelOf(idle).windows], [0, 19]);
  });

  it('is not a missed tick when the loop only wakes late', () => {
    const records = runOf({ seconds: 30, wireMs: () => 3 });
    for (const record of records) if (record.seq % 10 === 0) record.sampledNs += 8 * MS;
    assert.deepEqual([feelOf(records).windows, feelOf(records).spells.length], [20, 0]);
  });

  it('is computed in bounded time for impossible stamps', () => {
    const meter = new FeelMeter();
    let ns = 1e9;
    for (let seq = 0; seq < 200; seq++) {
      // A hundred ticks of a nanosecond, then gaps of nearly a second: each would miss a billion ticks.
      ns += seq < 150 ? 1 : 0.99e9;
      const record = emptyTraceRecord();
      Object.assign(record, {
        session: 1,
        seq,
        outcome: OUTCOMES.indexOf('applied'),
        reason: -1,
        offsetNs: 0,
      });
      Object.assign(record, {
        sampledNs: ns,
        pipelineDoneNs: ns,
        wireSentNs: ns,
        receiveNs: ns,
        appliedNs: ns,
      });
      meter.add(record, 0);
    }
    meter.finish();
    assert.ok(meter.verdict().windows < 100);
  });
});
