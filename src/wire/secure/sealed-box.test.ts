import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isSealed, Opener, SEAL_BYTES, Sealer, sealedIndex } from './sealed-box.ts';

function pair() {
  const key = createSecretKey(randomBytes(32));
  return { sealer: new Sealer(key, 0xfedcba98), opener: new Opener(key) };
}

function seal(sealer: Sealer, channel: number, plain: Uint8Array): Uint8Array {
  const out = new Uint8Array(1472).fill(0xaa);
  const length = sealer.seal(channel, plain, plain.length, out);
  return out.slice(0, length);
}

describe('sealed datagrams', () => {
  it('open to what was sealed, on the channel it was sealed for', () => {
    const { sealer, opener } = pair();
    const out = new Uint8Array(1472);
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 1400 }),
        fc.integer({ min: 0, max: 2 }),
        (plain, channel) => {
          const sealed = seal(sealer, channel, plain);
          assert.equal(sealed.length, plain.length + SEAL_BYTES);
          assert.ok(isSealed(sealed, sealed.length));
          assert.equal(sealedIndex(sealed), 0xfedcba98);
          assert.notEqual(opener.open((channel + 1) % 3, sealed, sealed.length, out), null);
          assert.equal(opener.open(channel, sealed, sealed.length, out), null);
          assert.deepEqual(out.slice(0, opener.length), plain);
        },
      ),
    );
  });

  it('do not carry the plain text', () => {
    const { sealer } = pair();
    const plain = new TextEncoder().encode('FH1c{"q":[0,0,0,0,0,0],"engagement":1}');
    assert.ok(!Buffer.from(seal(sealer, 0, plain)).includes(Buffer.from('engagement')));
  });

  it('are rejected after any single change, without touching the window', () => {
    const { sealer, opener } = pair();
    const out = new Uint8Array(1472);
    const plain = new Uint8Array(100).fill(7);
    const sealed = seal(sealer, 0, plain);
    for (let bit = 32; bit < sealed.length * 8; bit += 7) {
      const forged = sealed.slice();
      forged[bit >> 3]! ^= 1 << (bit & 7);
      assert.notEqual(opener.open(0, forged, forged.length, out), null, `bit ${bit}`);
    }
    for (let length = SEAL_BYTES; length < sealed.length; length++)
      assert.equal(opener.open(0, sealed, length, out), 'bad-auth');
    assert.equal(opener.open(0, sealed, sealed.length, out), null);
  });

  it('are rejected when replayed, accepted when reordered within the window', () => {
    const { sealer, opener } = pair();
    const out = new Uint8Array(1472);
    const packets = Array.from({ length: 3000 }, (_, i) => seal(sealer, 0, Uint8Array.of(i & 255)));
    const order = [0, 5, 3, 1, 4, 2, 2000, 1999, 2999, 1000];
    for (const i of order)
      assert.equal(opener.open(0, packets[i]!, packets[i]!.length, out), null, `packet ${i}`);
    for (const i of [...order, 6])
      assert.equal(opener.open(0, packets[i]!, packets[i]!.length, out), 'replayed');
  });

  it('never repeat a nonce under random loss and reordering: each opens exactly once', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 199 }), { maxLength: 400 }), (arrivals) => {
        const { sealer, opener } = pair();
        const out = new Uint8Array(64);
        const packets = Array.from({ length: 200 }, (_, i) => seal(sealer, 1, Uint8Array.of(i)));
        const seen = new Set<number>();
        for (const i of arrivals) {
          const reason = opener.open(1, packets[i]!, packets[i]!.length, out);
          assert.equal(reason, seen.has(i) ? 'replayed' : null);
          seen.add(i);
        }
      }),
      { numRuns: 30 },
    );
  });
});
