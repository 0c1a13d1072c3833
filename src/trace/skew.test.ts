import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TRACE, type TraceRecord } from '../messages/trace-record.ts';
import { SkewMeter } from './skew.ts';

const record = (sampledNs: number, appliedNs: number, offsetNs = 0): TraceRecord => ({
  ...TRACE.plain(TRACE.create()),
  ...{ sampledNs, appliedNs, offsetNs },
});

describe('skew between two arms', () => {
  it('skew is between the writes of one tick, on one clock', () => {
    const meter = new SkewMeter();
    meter.addLeft(record(1e9, 5e9));
    meter.addLeft(record(2e9, 6e9));
    meter.addLeft(record(3e9, Number.NaN));
    // The right robot's clock is seven seconds ahead.
    meter.addRight(record(1e9, 12.0005e9, 7e9));
    meter.addRight(record(2e9, 12.998e9, 7e9));
    meter.addRight(record(3e9, 14e9, 7e9));
    meter.addRight(record(4e9, 15e9, 7e9));
    const { ticks, oneArmOnly, skewMs } = meter.finish();
    assert.deepEqual([ticks, oneArmOnly], [2, 1]);
    assert.equal(Math.round(skewMs!.p50 * 1e3) / 1e3, 0.5);
    assert.equal(Math.round(skewMs!.max * 1e3) / 1e3, 2);
  });

  it('no tick of both arms gives no figure', () => {
    assert.deepEqual(new SkewMeter().finish(), { ticks: 0, oneArmOnly: 0, skewMs: null });
  });
});
