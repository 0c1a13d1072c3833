import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { REASONS } from '../core/counters.ts';
import { emptyTraceRecord, HALTS, OUTCOMES, SEGMENTS, type TraceRecord } from '../messages/trace-record.ts';
import {
  footerLine,
  headerLine,
  parseTraceLine,
  STAMPS,
  TRACE_FORMAT,
  type TraceSession,
  traceLine,
} from './stamps.ts';

const SESSION: TraceSession = {
  startedAt: new Date('2026-05-11T08:14:22.123Z'),
  session: 0xabcd,
  role: 'operator',
  stampSource: 'kernel',
  playout: 'fixed:60',
  rig: { model: 'ur3', name: 'Tischbein “ü”' },
};

const ns = fc.oneof(fc.constant(Number.NaN), fc.maxSafeNat());
const signedNs = fc.oneof(fc.constant(Number.NaN), fc.maxSafeInteger());
const anyRecord: fc.Arbitrary<TraceRecord> = fc
  .record({
    session: fc.nat(0xffffffff),
    seq: fc.nat(0xffffffff),
    outcome: fc.nat(OUTCOMES.length - 1),
    reason: fc.integer({ min: -1, max: REASONS.length - 1 }),
    sampledNs: ns,
    pipelineDoneNs: ns,
    wireSentNs: ns,
    kernelNs: ns,
    receiveNs: ns,
    dueNs: ns,
    releasedNs: ns,
    appliedNs: ns,
    offsetNs: signedNs,
    uncertaintyNs: ns,
    queueDepth: fc.oneof(fc.constant(Number.NaN), fc.nat(1000)),
    playoutDelayNs: signedNs,
    late: fc.constantFrom(Number.NaN, 0, 1),
    filterDelayNs: ns,
    deviceNs: ns,
    sentNs: ns,
    arrivedNs: ns,
    movedNs: ns,
    halt: fc.oneof(fc.constant(Number.NaN), fc.nat(HALTS.length - 1)),
    haltNs: ns,
  })
  .map((record) => ({
    ...record,
    reason: OUTCOMES[record.outcome] === 'rejected' ? record.reason : -1,
    haltNs: Number.isNaN(record.halt) ? Number.NaN : record.haltNs,
  }));

describe('trace lines', () => {
  it('decode ∘ encode is the identity on records in whole nanoseconds', () => {
    fc.assert(
      fc.property(anyRecord, (record) => {
        assert.deepStrictEqual(parseTraceLine(traceLine(record)), { kind: 'command', record });
      }),
    );
  });

  it('writes one line of plain integers and omits unknown values', () => {
    const record = {
      ...emptyTraceRecord(),
      session: 0x1f,
      seq: 7,
      outcome: 4,
      reason: REASONS.indexOf('not-armed'),
    };
    Object.assign(record, { sampledNs: 12_345_600_000_000, kernelNs: 89_876_543_800_000.4, queueDepth: 2 });
    assert.equal(
      traceLine(record),
      '{"kind":"teleop_cmd","trace_id":"0000001f-7","seq":7,"outcome":"rejected:not-armed",' +
        '"stamps":{"operator.sampled":12345600000000,"remote.kernel_received":89876543800000},' +
        '"clock_offset_ns":null,"clock_uncertainty_ns":null,"queue_depth":2,' +
        '"playout_delay_ns":null,"late":null}',
    );
  });

  it('keeps a rejection with an unknown reason', () => {
    const line = parseTraceLine(
      traceLine({ ...emptyTraceRecord(), session: 1, seq: 1, outcome: 0 }).replace(
        'applied',
        'rejected:solar-flare',
      ),
    );
    assert(line.kind === 'command');
    assert.deepEqual([line.record.outcome, line.record.reason], [4, -1]);
  });

  it('throws on an outcome without a name', () => {
    assert.throws(() => traceLine({ ...emptyTraceRecord(), session: 1, seq: 1 }), /outcome NaN/);
  });

  it('round-trips the header and the footer', () => {
    const { startedAt, ...rest } = SESSION;
    const expected = { kind: 'header', startedAt: startedAt.toISOString(), ...rest, part: 3 };
    assert.deepEqual(parseTraceLine(headerLine(SESSION, 3)), expected);
    assert.equal(JSON.parse(headerLine(SESSION)).format, TRACE_FORMAT);
    assert.deepEqual(parseTraceLine(footerLine(9, 2)), {
      kind: 'footer',
      closed: 9,
      ringDropped: 2,
      nextPart: null,
    });
    assert.deepEqual(parseTraceLine(footerLine(9, 0, 2)), {
      kind: 'footer',
      closed: 9,
      ringDropped: 0,
      nextPart: 2,
    });
    assert.equal(footerLine(9, 2), '{"kind":"footer","closed":9,"ring_dropped":2}');
  });
});

describe('untrusted lines', () => {
  const good = JSON.parse(traceLine({ ...emptyTraceRecord(), session: 1, seq: 1, outcome: 0 }));

  it('returns the reason a line is bad', () => {
    const bad = (reason: string) => ({ kind: 'bad', reason });
    assert.deepEqual(parseTraceLine('{"kind":"teleop'), bad('bad-json'));
    assert.deepEqual(parseTraceLine(''), bad('bad-json'));
    for (const text of ['null', '[]', '3', '"header"', '{}', '{"kind":3}', '{"kind":"footer","closed":-1}']) {
      assert.deepEqual(parseTraceLine(text), bad('malformed'), text);
    }
    const other = headerLine(SESSION).replace(TRACE_FORMAT, 'farhand-trace/2');
    assert.deepEqual(parseTraceLine(other), bad('unsupported-format'));
    assert.deepEqual(parseTraceLine('{"kind":"camera_frame","seq":1}'), { kind: 'unknown' });
  });

  it('rejects a command with an invalid field', () => {
    const wrong = [
      { trace_id: '00000001-2' },
      { trace_id: 'tc-1' },
      { trace_id: 7 },
      { seq: -1 },
      { seq: 2 ** 32, trace_id: `00000001-${2 ** 32}` },
      { seq: 1.5, trace_id: '00000001-1.5' },
      { outcome: 'vanished' },
      { stamps: null },
      { stamps: { 'operator.sampled': '12' } },
      { stamps: { 'remote.follower.due': 1e300 } },
      { clock_offset_ns: 'soon' },
      { queue_depth: [] },
    ];
    for (const fields of wrong) {
      const line = parseTraceLine(JSON.stringify({ ...good, ...fields }));
      assert.deepEqual(line, { kind: 'bad', reason: 'malformed' }, JSON.stringify(fields));
    }
    assert.equal(parseTraceLine(JSON.stringify({ ...good, stamps: {}, new_field: 1 })).kind, 'command');
  });

  it('never throws on arbitrary text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => typeof parseTraceLine(text).kind === 'string'),
    );
    const kinds = fc.constantFrom('teleop_cmd', 'header', 'footer', '__proto__');
    const names = fc.constantFrom(
      ...Object.keys(good),
      ...Object.keys(JSON.parse(headerLine(SESSION))),
      'closed',
    );
    const lines = fc.tuple(kinds, fc.dictionary(names, fc.jsonValue()));
    fc.assert(
      fc.property(lines, ([kind, fields]) => {
        return typeof parseTraceLine(JSON.stringify({ ...good, ...fields, kind })).kind === 'string';
      }),
    );
  });

  it('never throws on a damaged line', () => {
    fc.assert(
      fc.property(anyRecord, fc.nat(), fc.string({ maxLength: 4 }), (record, at, junk) => {
        const text = traceLine(record);
        const cut = at % text.length;
        assert.deepEqual(parseTraceLine(text.slice(0, cut)), { kind: 'bad', reason: 'bad-json' });
        parseTraceLine(text.slice(0, cut) + junk + text.slice(cut + 1));
      }),
    );
  });
});

it('the specification names every stamp, outcome, segment and field', () => {
  const spec = readFileSync('protocol/trace.md', 'utf8');
  const fields = [
    headerLine(SESSION, 2),
    footerLine(1, 0, 2),
    traceLine({ ...emptyTraceRecord(), session: 1, seq: 1, outcome: 0 }),
  ];
  const names = [...STAMPS.map(([name]) => name), ...OUTCOMES, ...SEGMENTS, TRACE_FORMAT];
  for (const line of fields) names.push(...(Object.keys(JSON.parse(line)) as never[]));
  assert.deepEqual(
    names.filter((name) => !spec.includes(name)),
    [],
  );
});
