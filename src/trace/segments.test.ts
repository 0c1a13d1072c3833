import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { emptyTraceRecord, SEGMENTS, type TraceRecord } from '../messages/trace-record.ts';
import { oneWayNs, segmentsNs } from './segments.ts';

function segmentsOf(record: TraceRecord): number[] {
  const out = new Float64Array(SEGMENTS.length);
  segmentsNs(record, out);
  return [...out];
}

const sum = (values: number[]) => values.reduce((a, b) => a + b, 0);

/** The worked example of the source document 002, stamps as printed there. */
const EXAMPLE: TraceRecord = {
  ...emptyTraceRecord(),
  session: 1,
  seq: 1,
  outcome: 0,
  reason: -1,
  sampledNs: 12_345_600_000_000,
  pipelineDoneNs: 12_345_601_200_000,
  wireSentNs: 12_345_601_250_000,
  kernelNs: 89_876_543_800_000,
  receiveNs: 89_876_544_000_000,
  appliedNs: 89_876_544_800_000,
  // The document prints 77,530,942,550,000, which contradicts its stamps and projected values: see below.
  offsetNs: 77_530_940_000_000,
};

describe('the worked example', () => {
  it('projects to the printed stamps and yields the printed durations', () => {
    assert.equal(EXAMPLE.kernelNs - EXAMPLE.offsetNs, 12_345_603_800_000);
    assert.equal(EXAMPLE.receiveNs - EXAMPLE.offsetNs, 12_345_604_000_000);
    assert.equal(EXAMPLE.appliedNs - EXAMPLE.offsetNs, 12_345_604_800_000);
    assert.deepEqual(segmentsOf(EXAMPLE), [1_200_000, 50_000, 2_550_000, 200_000, 0, 800_000]);
    assert.equal(oneWayNs(EXAMPLE), 4_800_000);
  });

  it('has a misprinted offset, too large by exactly the wire time', () => {
    const printed = { ...EXAMPLE, offsetNs: 77_530_942_550_000 };
    assert.equal(printed.kernelNs - printed.offsetNs, printed.wireSentNs);
    assert.deepEqual(segmentsOf(printed), [1_200_000, 50_000, 0, 200_000, 0, 800_000]);
    assert.equal(oneWayNs(printed), 2_250_000);
  });
});

describe('segments', () => {
  const stamp = fc.double({ min: 0, max: 2 ** 51, noNaN: true });
  const anyRecord = fc
    .record({
      sampledNs: stamp,
      pipelineDoneNs: stamp,
      wireSentNs: stamp,
      kernelNs: stamp,
      receiveNs: stamp,
    })
    .chain((record) =>
      fc
        .record({ releasedNs: stamp, appliedNs: stamp, offsetNs: stamp })
        .map((more) => ({ ...record, ...more })),
    )
    .map((stamps): TraceRecord => ({ ...emptyTraceRecord(), ...stamps }));

  it('add up exactly to the one-way time, with or without kernel and released stamps', () => {
    fc.assert(
      fc.property(anyRecord, fc.boolean(), fc.boolean(), (record, kernel, released) => {
        if (!kernel) record.kernelNs = Number.NaN;
        if (!released) record.releasedNs = Number.NaN;
        const segments = segmentsOf(record);
        assert(segments.every(Number.isInteger));
        assert.equal(sum(segments), oneWayNs(record));
      }),
    );
  });

  it('include the receive path in wire when there is no kernel stamp', () => {
    const segments = segmentsOf({ ...EXAMPLE, kernelNs: Number.NaN });
    assert.deepEqual(segments, [1_200_000, 50_000, 2_750_000, 0, 0, 800_000]);
  });

  it('separate the playout wait from the driver', () => {
    const segments = segmentsOf({ ...EXAMPLE, releasedNs: EXAMPLE.receiveNs + 700_000 });
    assert.deepEqual(segments.slice(4), [700_000, 100_000]);
  });

  it('are known only within one clock before the first offset', () => {
    const record = { ...EXAMPLE, offsetNs: Number.NaN };
    assert.deepEqual(segmentsOf(record), [1_200_000, 50_000, Number.NaN, 200_000, 0, 800_000]);
    assert.equal(oneWayNs(record), Number.NaN);
  });

  it('are unknown from the first stage that was not reached', () => {
    const dropped = { ...EXAMPLE, appliedNs: Number.NaN };
    assert.deepEqual(segmentsOf(dropped).slice(2), [2_550_000, 200_000, Number.NaN, Number.NaN]);
    const lost = { ...dropped, kernelNs: Number.NaN, receiveNs: Number.NaN };
    assert.deepEqual(segmentsOf(lost), [1_200_000, 50_000, Number.NaN, Number.NaN, Number.NaN, Number.NaN]);
    assert.equal(oneWayNs(lost), Number.NaN);
  });
});
