import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseTraceLine } from './stamps.ts';
import { TouchReportBuilder, touchLine, touchSegmentsNs } from './touch.ts';

const MS = 1e6;
const TOUCH = {
  ...{ device: 'gamepad' as const, strength: 0.412 },
  ...{ readNs: 5e12 + 100 * MS, publishedNs: 112 * MS, givenNs: 115 * MS },
  ...{ offsetNs: 5e12, uncertaintyNs: 0.2 * MS },
};

describe('touch', () => {
  it('round-trips through a line; a damaged line is malformed', () => {
    assert.deepEqual(parseTraceLine(touchLine(TOUCH)), { kind: 'touch', touch: TOUCH });
    const early = { ...TOUCH, offsetNs: Number.NaN, uncertaintyNs: Number.NaN };
    assert.deepEqual(parseTraceLine(touchLine(early)), { kind: 'touch', touch: early });
    for (const [from, to] of [
      ['"gamepad"', '"elbow"'],
      ['0.412', '1.412'],
      ['115000000', '"soon"'],
      ['"pulse.given"', '"pulse"'],
    ] as const)
      assert.deepEqual(parseTraceLine(touchLine(TOUCH).replace(from, to)), {
        kind: 'bad',
        reason: 'malformed',
      });
  });

  it('has segments that add up from the reading to the pulse', () => {
    const out = new Float64Array(2);
    touchSegmentsNs(TOUCH, out);
    assert.deepEqual([...out], [12 * MS, 3 * MS]);
  });

  it('is reported over all pulses, and not without one', () => {
    const builder = new TouchReportBuilder();
    assert.equal(builder.finish(), null);
    builder.add(TOUCH);
    builder.add({ ...TOUCH, givenNs: 120 * MS });
    builder.add({ ...TOUCH, offsetNs: Number.NaN });
    const report = builder.finish()!;
    assert.equal(report.pulses, 3);
    assert.equal(report.totalNs?.max, 20 * MS);
    assert.equal(report.segmentsNs.page?.p50, 3 * MS);
  });
});
