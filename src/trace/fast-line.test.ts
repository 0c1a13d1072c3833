import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { emptyTraceRecord, OUTCOMES, TRACE_FIELDS, type TraceRecord } from '../messages/trace-record.ts';
import { fastCommand } from './fast-line.ts';
import { parseTraceLine, traceLine } from './stamps.ts';

const read = (text: string, before = 0) => {
  const bytes = Buffer.from(`${'x'.repeat(before)}${text}\n{"kind"`);
  return fastCommand(bytes, before, before + Buffer.byteLength(text));
};

const anyRecord = fc
  .tuple(
    fc.array(fc.oneof(fc.constant(Number.NaN), fc.maxSafeInteger()), {
      minLength: TRACE_FIELDS.length,
      maxLength: TRACE_FIELDS.length,
    }),
    fc.nat(0xffffffff),
    fc.nat(0xffffffff),
    fc.nat(3),
  )
  .map(([values, session, seq, outcome]): TraceRecord => {
    const record = emptyTraceRecord();
    TRACE_FIELDS.forEach((field, i) => {
      record[field] = values[i]!;
    });
    return { ...record, session, seq, outcome, reason: -1, halt: Number.NaN, haltNs: Number.NaN };
  });

describe('fastCommand', () => {
  it('reads the writer’s lines exactly as the strict reader does', () => {
    fc.assert(
      fc.property(anyRecord, fc.nat(5), (record, before) => {
        const text = traceLine(record);
        assert.deepEqual(read(text, before), record);
        assert.deepEqual(parseTraceLine(text), { kind: 'command', record });
      }),
    );
  });

  it('never disagrees with the strict reader on a damaged line', () => {
    fc.assert(
      fc.property(anyRecord, fc.nat(700), fc.integer({ min: 32, max: 126 }), (record, at, byte) => {
        const text = traceLine(record);
        const place = at % text.length;
        const damaged = text.slice(0, place) + String.fromCharCode(byte) + text.slice(place + 1);
        const fast = read(damaged);
        if (fast !== null) assert.deepEqual({ kind: 'command', record: fast }, parseTraceLine(damaged));
        assert.equal(read(text.slice(0, place)), null);
      }),
      { numRuns: 500 },
    );
  });

  it('reads a trace of an earlier version, as the strict reader does', () => {
    fc.assert(
      fc.property(anyRecord, (record) => {
        const text = traceLine(record).replace('"operator.sampled":', '"leader.get_state":');
        assert.deepEqual(read(text), record);
        assert.deepEqual(parseTraceLine(text), { kind: 'command', record });
      }),
    );
  });

  it('leaves rejections, halts and spaces to the strict reader', () => {
    const record = {
      ...emptyTraceRecord(),
      session: 1,
      seq: 1,
      outcome: OUTCOMES.indexOf('rejected'),
      reason: 3,
    };
    assert.equal(read(traceLine(record)), null);
    assert.equal(read(traceLine({ ...record, outcome: 0, halt: 1, haltNs: 5 })), null);
    assert.equal(read(traceLine({ ...record, outcome: 0 }).replace(':', ': ')), null);
  });
});
