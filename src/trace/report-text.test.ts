import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TraceRecord } from '../messages/trace-record.ts';
import type { TraceFileInfo } from './read-file.ts';
import { createReport } from './report.ts';
import { reportText } from './report-text.ts';

const OFFSET_NS = 77_530_940_000_000;

/** The worked example of source document 002 at `seq`, with `extraNs` more on the wire. */
function command(seq: number, extraNs: number, fields: Partial<TraceRecord> = {}): TraceRecord {
  const sampledNs = 12_345_600_000_000 + seq * 1e7;
  const kernelNs = sampledNs + 3_800_000 + extraNs + OFFSET_NS;
  return {
    session: 0xabcd,
    seq,
    outcome: 0,
    reason: -1,
    sampledNs,
    pipelineDoneNs: sampledNs + 1_200_000,
    wireSentNs: sampledNs + 1_250_000,
    kernelNs,
    receiveNs: kernelNs + 200_000,
    dueNs: kernelNs + 200_000,
    releasedNs: kernelNs + 200_000,
    appliedNs: kernelNs + 1_000_000,
    offsetNs: OFFSET_NS,
    uncertaintyNs: 214_000,
    queueDepth: 1,
    playoutDelayNs: 4_000_000,
    late: 0,
    filterDelayNs: Number.NaN,
    deviceNs: Number.NaN,
    sentNs: Number.NaN,
    arrivedNs: Number.NaN,
    movedNs: Number.NaN,
    halt: Number.NaN,
    haltNs: Number.NaN,
    ...fields,
  };
}

const FILE: TraceFileInfo = {
  path: 'traces/robot_trace_20260511-081422_0000abcd.jsonl',
  header: {
    kind: 'header',
    startedAt: '2026-05-11T08:14:22.123Z',
    session: 0xabcd,
    role: 'operator',
    stampSource: 'kernel',
    playout: 'fixed:60',
    part: 1,
    rig: {},
  },
  footer: { kind: 'footer', closed: 2, ringDropped: 0, nextPart: null },
  commands: 2,
  bad: 0,
  torn: 0,
};

function textOf(records: TraceRecord[], files: TraceFileInfo[] = [FILE], columns = 120): string {
  const report = createReport();
  for (const record of records) report.add(record);
  return reportText(report.finish(), files, columns);
}

describe('reportText', () => {
  it('shows the delay of the hand filter, if there is one', () => {
    const filtered = [20e6, 45e6].map((filterDelayNs, seq) => command(seq, 0, { filterDelayNs }));
    const line =
      'Filter    the hand filter adds p50 20.000, p99 45.000, max 45.000 ms before sampled, not in the table';
    assert.ok(textOf(filtered).includes(`\n${line}\n`), textOf(filtered));
    assert.doesNotMatch(textOf([command(0, 0), command(1, 0, { filterDelayNs: 0 })]), /Filter/);
  });

  it('shows a clean trace in full', () => {
    assert.equal(
      textOf([command(0, 0), command(1, 150_000_000)]),
      `Trace     traces/robot_trace_20260511-081422_0000abcd.jsonl
Started   2026-05-11T08:14:22.123Z, operator, kernel stamps
Duration  0.01 s, 100.0 commands per second
Commands  2 closed: 2 applied (0 late), 0 dropped as stale, 0 rejected, 0 lost (0.00 %)
Clock     offset known to ±0.214 ms at worst, ±0.214 ms at the end
Playout   fixed:60; delay p50 4.000, p95 4.000, p99 4.000, max 4.000 ms after the stamp; queue depth p50 1, max 1;
          applied − due p50 0.800, p99 0.800, max 0.800 ms

                   latency (ms)                   variation (ms)
                     p50     p95     p99     max      p50     p95     p99     max
End to end         4.800 154.800 154.800 154.800  150.000 150.000 150.000 150.000  sampled → applied
Operator pipeline  1.200   1.200   1.200   1.200    0.000   0.000   0.000   0.000  sampled → pipeline_done
Serialise & send   0.050   0.050   0.050   0.050    0.000   0.000   0.000   0.000  pipeline_done → wire_sent
Wire               2.550 152.550 152.550 152.550  150.000 150.000 150.000 150.000  wire_sent → kernel_received
Robot receive      0.200   0.200   0.200   0.200    0.000   0.000   0.000   0.000  kernel_received → receive
Playout wait       0.000   0.000   0.000   0.000    0.000   0.000   0.000   0.000  receive → released
Robot apply        0.800   0.800   0.800   0.800    0.000   0.000   0.000   0.000  released → applied
`,
    );
  });

  it('fits a narrow terminal by listing the stamps below', () => {
    const lines = textOf([command(0, 0), command(1, 25_000_000)], [FILE], 80).split('\n');
    const table = lines.slice(lines.findIndex((line) => line.includes('latency (ms)')));
    assert(table.every((line) => line.length <= 80));
    assert(table.includes('Wire               wire_sent → kernel_received'));
  });

  it('notes what is missing or partial', () => {
    const gone = { dueNs: Number.NaN, releasedNs: Number.NaN, appliedNs: Number.NaN };
    const blind = { kernelNs: Number.NaN, releasedNs: Number.NaN };
    const text = textOf(
      [
        command(0, 0, { ...blind, offsetNs: Number.NaN, uncertaintyNs: Number.NaN }),
        command(1, 0, blind),
        command(2, 90_000_000, { ...gone, outcome: 2 }),
        command(3, 0, { ...gone, outcome: 3, kernelNs: Number.NaN, receiveNs: Number.NaN }),
        command(4, 0, { ...gone, outcome: 4 }),
      ],
      [
        { ...FILE, bad: 2 },
        { ...FILE, path: 'traces/next.jsonl', footer: null, torn: 1 },
      ],
    );
    assert.deepEqual(
      text.split('\n').filter((line) => line.startsWith('Note:')),
      [
        'Note: 1 command before the first clock offset is counted but has no cross-clock times.',
        "Note: no kernel stamps: wire includes the robot's receive path.",
        'Note: no released stamps: playout counts as 0 and apply starts at receive.',
        'Note: the table covers applied commands only; the 1 dropped as stale spent p50 92.550, max 92.550 ms on the wire.',
        'Note: 2 lines could not be read.',
        'Note: the last line is torn: the writer was interrupted.',
      ],
    );
    assert(
      text.includes(
        '5 closed: 2 applied (0 late), 1 dropped as stale, 1 rejected (unknown 1), 1 lost (20.00 %)',
      ),
    );
    assert(text.includes('\n          traces/next.jsonl\n'));
  });

  it('warns of an implausible clock offset and of commands missing from the file', () => {
    const footer = { kind: 'footer', closed: 1, ringDropped: 3, nextPart: null } as const;
    const text = textOf([command(0, 0, { offsetNs: OFFSET_NS + 5e6 }), command(1, 0)], [{ ...FILE, footer }]);
    assert(text.includes('Note: the wire median is negative'));
    assert(text.includes('Note: 3 closed commands did not reach the file and are missing here.'));
  });

  it('works without any command', () => {
    const text = textOf([], []);
    assert(text.includes('offset uncertainty unknown'));
    assert.match(text, /End to end +– +–/);
  });
});
