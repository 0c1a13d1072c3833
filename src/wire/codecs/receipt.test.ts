import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { REASONS } from '../../core/counters.ts';
import type { Outcome, Receipt } from '../../messages/receipt.ts';
import { MAX_DATAGRAM_BYTES } from '../reactor.ts';
import { frameType } from './frame.ts';
import { decodeReceipt, emptyReceipt, encodeReceipt } from './receipt.ts';

const stampNs = fc.integer({ min: -Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER });
const maybeNs = fc.oneof(stampNs, fc.constant(Number.NaN));
const outcome = fc.constantFrom<Outcome>(
  'applied',
  'late',
  'dropped-stale',
  ...REASONS.map((reason) => `rejected:${reason}` as const),
);
const receipt: fc.Arbitrary<Receipt> = fc.record(
  {
    session: fc.maxSafeNat(),
    seq: fc.maxSafeNat(),
    outcome,
    kernelNs: maybeNs,
    receiveNs: stampNs,
    dueNs: maybeNs,
    releasedNs: maybeNs,
    appliedNs: maybeNs,
    playoutDelayNs: maybeNs,
    queueDepth: fc.maxSafeNat(),
    late: fc.boolean(),
    dropped: fc.boolean(),
  },
  { noNullPrototype: true },
);

const VALID = {
  session: 1,
  seq: 2,
  outcome: 'applied',
  receive_ns: 5,
  depth: 0,
  late: false,
  dropped: false,
};

function reasonOf(body: object): string | null {
  const bytes = new TextEncoder().encode(`FH1r${JSON.stringify(body)}`);
  return decodeReceipt(bytes, bytes.length, emptyReceipt());
}

describe('receipt', () => {
  it('survives a round trip', () => {
    const bytes = new Uint8Array(MAX_DATAGRAM_BYTES);
    const back = emptyReceipt();
    fc.assert(
      fc.property(receipt, (sent) => {
        const length = encodeReceipt(sent, bytes.fill(0xff));
        assert.equal(frameType(bytes, length), 'receipt');
        assert.equal(decodeReceipt(bytes, length, back), null);
        assert.deepEqual(back, sent);
      }),
    );
  });

  it('clears the stamps of the previous receipt', () => {
    const bytes = new Uint8Array(MAX_DATAGRAM_BYTES);
    const back = emptyReceipt();
    const full = { ...emptyReceipt(), kernelNs: 1, receiveNs: 2, dueNs: 3, releasedNs: 4, appliedNs: 5 };
    decodeReceipt(bytes, encodeReceipt(full, bytes), back);
    decodeReceipt(bytes, encodeReceipt({ ...emptyReceipt(), receiveNs: 9 }, bytes), back);
    assert.deepEqual(back, { ...emptyReceipt(), receiveNs: 9 });
  });

  it('may omit the stamps of stages not reached, but not the arrival', () => {
    assert.equal(reasonOf(VALID), null);
    assert.equal(reasonOf({ ...VALID, receive_ns: null }), 'malformed');
    assert.equal(reasonOf({ ...VALID, receive_ns: '5' }), 'malformed');
  });

  it('requires counts and a known outcome', () => {
    for (const field of ['session', 'seq', 'depth'])
      for (const value of [-1, 0.5, '1', null, [], undefined])
        assert.equal(reasonOf({ ...VALID, [field]: value }), 'malformed');
    // Only the operator decides `lost`; no robot can report it.
    for (const value of [
      'lost',
      'Applied',
      'rejected',
      'rejected:',
      'rejected:because',
      '',
      5,
      null,
      ['applied'],
    ])
      assert.equal(reasonOf({ ...VALID, outcome: value }), 'malformed', String(value));
  });

  it('requires an object', () => {
    for (const body of [[], [VALID]]) assert.equal(reasonOf(body), 'bad-json');
  });
});
