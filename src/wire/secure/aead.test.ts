import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { needs } from '../../../test/needs.ts';
import { type Aead, EvpAead, loadEvp, NONCE_BYTES, NodeAead, TAG_BYTES } from './aead.ts';

const HEADER = 16;
const evp = loadEvp();

function sealed(aead: Aead, nonce: Uint8Array, header: Uint8Array, plain: Uint8Array): Uint8Array {
  const out = new Uint8Array(HEADER + plain.length + TAG_BYTES);
  out.set(header);
  aead.seal(nonce, plain, plain.length, out, HEADER);
  return out;
}

const bytes = (size: number) => fc.uint8Array({ minLength: size, maxLength: size });

describe('AES-256-GCM', () => {
  it('calls OpenSSL directly where FFI is available', {
    skip: needs('Linux'),
  }, () => {
    assert.notEqual(evp, null);
  });

  it('gives the same bytes through both implementations, and each opens the other’s', () => {
    const key = createSecretKey(randomBytes(32));
    const aeads: Aead[] = [new NodeAead(key), ...(evp ? [new EvpAead(key, evp)] : [])];
    fc.assert(
      fc.property(
        bytes(NONCE_BYTES),
        bytes(HEADER),
        fc.uint8Array({ maxLength: 1400 }),
        (nonce, header, plain) => {
          const packets = aeads.map((aead) => sealed(aead, nonce, header, plain));
          for (const packet of packets) assert.deepEqual(packet, packets[0]);
          for (const aead of aeads) {
            const out = new Uint8Array(1472).fill(0xee);
            assert.ok(aead.open(nonce, packets[0]!, packets[0]!.length, out, HEADER));
            assert.deepEqual(out.slice(0, plain.length), plain);
            assert.equal(out[plain.length], 0xee, 'nothing written past the end');
          }
        },
      ),
    );
  });

  it('rejects any change, writes nothing then, and still works afterwards', () => {
    const key = createSecretKey(randomBytes(32));
    for (const aead of [new NodeAead(key), ...(evp ? [new EvpAead(key, evp)] : [])]) {
      const nonce = new Uint8Array(NONCE_BYTES).fill(1);
      const packet = sealed(aead, nonce, new Uint8Array(HEADER), new Uint8Array(40).fill(7));
      for (let i = 0; i < packet.length; i++) {
        const forged = packet.slice();
        forged[i]! ^= 0x10;
        const out = new Uint8Array(64).fill(0xee);
        assert.equal(aead.open(nonce, forged, forged.length, out, HEADER), false, `byte ${i}`);
        assert.ok(out.every((byte) => byte === 0xee));
      }
      assert.ok(aead.open(nonce, packet, packet.length, new Uint8Array(64), HEADER));
      assert.equal(
        aead.open(new Uint8Array(NONCE_BYTES), packet, packet.length, new Uint8Array(64), HEADER),
        false,
      );
    }
  });
});
