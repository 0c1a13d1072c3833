import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { emptyTraceRecord, packTraceRecord, TRACE_FIELDS, unpackTraceRecord } from './trace-record.ts';

const stamp = fc.oneof(fc.constant(Number.NaN), fc.double());
const record = fc
  .array(stamp, { minLength: TRACE_FIELDS.length, maxLength: TRACE_FIELDS.length })
  .map((values) => {
    const filled = emptyTraceRecord();
    TRACE_FIELDS.forEach((field, i) => {
      filled[field] = values[i]!;
    });
    return filled;
  });

describe('trace record', () => {
  it('survives packing', () => {
    const packed = new Float64Array(TRACE_FIELDS.length);
    const back = emptyTraceRecord();
    fc.assert(
      fc.property(record, (original) => {
        const copy = { ...original };
        packTraceRecord(original, packed);
        assert.deepEqual(original, copy);
        unpackTraceRecord(packed, back);
        packed.fill(-1);
        assert.deepEqual(back, original);
      }),
    );
  });

  it('packs every field of a record exactly once', () => {
    assert.deepEqual([...TRACE_FIELDS].sort(), Object.keys(emptyTraceRecord()).sort());
    assert.equal(new Set(TRACE_FIELDS).size, TRACE_FIELDS.length);
  });

  it('has only unknown stamps when empty', () => {
    assert.ok(Object.values(emptyTraceRecord()).every(Number.isNaN));
  });
});
