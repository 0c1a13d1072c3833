import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { frameType } from './frame.ts';
import { decodeProbe, decodeProbeReply, emptyProbe, encodeProbe, encodeProbeReply } from './sync.ts';

const stampNs = fc.integer({ min: -Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER });
const probe = fc.record(
  {
    id: fc.maxSafeNat(),
    boot: fc.maxSafeNat(),
    t0: stampNs,
    t1: stampNs,
    t2: stampNs,
    clock: fc.constantFrom('', '0123456789abcdef'),
    wallUs: fc.oneof(fc.constant(Number.NaN), fc.maxSafeNat()),
  },
  { noNullPrototype: true },
);
const VALID = { id: 1, boot: 2, t0: 3, t1: 4, t2: 5 };

function reasonOf(body: object, decode: typeof decodeProbe): string | null {
  const bytes = new TextEncoder().encode(`FH1p${JSON.stringify(body)}`);
  return decode(bytes, bytes.length, emptyProbe());
}

describe('clock probe', () => {
  it('survives a round trip', () => {
    const bytes = new Uint8Array(256);
    const back = emptyProbe();
    fc.assert(
      fc.property(probe, (sent) => {
        const probeBytes = encodeProbe(sent, bytes.fill(0xff));
        assert.equal(frameType(bytes, probeBytes), 'probe');
        assert.equal(decodeProbe(bytes, probeBytes, back), null);
        assert.deepEqual([back.id, back.t0], [sent.id, sent.t0]);
        const answered = encodeProbeReply(sent, bytes.fill(0xff));
        assert.equal(frameType(bytes, answered), 'probeReply');
        assert.equal(decodeProbeReply(bytes, answered, back), null);
        assert.deepEqual(back, sent);
      }),
    );
  });

  it('rejects a clock that is no text or too long, and a wall time that is no number', () => {
    for (const extra of [{ clock: 1 }, { clock: 'x'.repeat(65) }, { wall_us: '1' }, { wall_us: [] }])
      assert.equal(reasonOf({ ...VALID, ...extra }, decodeProbeReply), 'malformed', JSON.stringify(extra));
    assert.equal(reasonOf({ ...VALID, wall_us: null }, decodeProbeReply), null);
  });

  it('requires every stamp to be a number', () => {
    assert.equal(reasonOf(VALID, decodeProbe), null);
    assert.equal(reasonOf(VALID, decodeProbeReply), null);
    for (const field of Object.keys(VALID))
      for (const value of [undefined, null, '1', true, [], {}]) {
        const body = { ...VALID, [field]: value };
        assert.equal(reasonOf(body, decodeProbeReply), 'malformed');
        assert.equal(
          reasonOf(body, decodeProbe),
          ['id', 't0'].includes(field) ? 'malformed' : null,
          `${field} ${value}`,
        );
      }
    for (const decode of [decodeProbe, decodeProbeReply]) {
      assert.equal(reasonOf({ ...VALID, id: -1 }, decode), 'malformed');
      assert.equal(reasonOf([VALID], decode), 'bad-json');
    }
  });
});
