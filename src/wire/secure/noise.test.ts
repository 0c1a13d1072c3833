import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { createAead, TAG_BYTES } from './aead.ts';
import {
  keyPairOf,
  newKeyPair,
  PROTOCOL,
  readFirst,
  readSecond,
  SymmetricState,
  writeFirst,
  writeSecond,
} from './noise.ts';

interface NoiseVector {
  protocol_name: string;
  init_prologue: string;
  init_psks: string[];
  init_ephemeral: string;
  resp_ephemeral: string;
  handshake_hash: string;
  messages: { payload: string; ciphertext: string }[];
}

const fromHex = (text: string): Buffer => Buffer.from(text, 'hex');
const { vectors } = JSON.parse(readFileSync('protocol/vectors/noise.json', 'utf8')) as {
  vectors: NoiseVector[];
};

function bothSides(vector: NoiseVector) {
  const start = SymmetricState.start(fromHex(vector.init_prologue), fromHex(vector.init_psks[0]!));
  return {
    initiator: start.clone(),
    responder: start.clone(),
    initiatorKey: keyPairOf(fromHex(vector.init_ephemeral)),
    responderKey: keyPairOf(fromHex(vector.resp_ephemeral)),
  };
}

describe('Noise vectors of cacophony', () => {
  for (const vector of vectors)
    it(`${vector.protocol_name}, both sides, byte for byte`, () => {
      assert.equal(vector.protocol_name, PROTOCOL);
      const { initiator, responder, initiatorKey, responderKey } = bothSides(vector);
      const [first, second, ...transport] = vector.messages;
      const one = writeFirst(initiator, initiatorKey, fromHex(first!.payload));
      assert.equal(one.toString('hex'), first!.ciphertext);
      assert.equal(readFirst(responder, one)?.toString('hex'), first!.payload);
      const two = writeSecond(responder, responderKey, one.subarray(0, 32), fromHex(second!.payload));
      assert.equal(two?.toString('hex'), second!.ciphertext);
      const read = readSecond(initiator, initiatorKey, two!);
      assert.equal(read?.payload.toString('hex'), second!.payload);
      for (const end of [read!.state, responder])
        assert.equal(end.handshakeHash.toString('hex'), vector.handshake_hash);
      const { toResponder, toInitiator } = read!.state.split();
      assert.deepEqual(responder.split(), { toResponder, toInitiator });
      // The cipher of our own packets; without a header it produces Noise's transport messages.
      const ciphers = [toResponder, toInitiator].map((key) => createAead(createSecretKey(key)));
      transport.forEach(({ payload, ciphertext }, i) => {
        const [plain, nonce] = [fromHex(payload), Buffer.alloc(12)];
        nonce.writeUInt32BE(i >> 1, 8);
        const out = new Uint8Array(plain.length + TAG_BYTES);
        ciphers[i % 2]!.seal(nonce, plain, plain.length, out, 0);
        assert.equal(Buffer.from(out).toString('hex'), ciphertext);
      });
    });

  it('cover the one protocol that is used', () => assert.equal(vectors.length, 1));
});

describe('Noise_NNpsk0', () => {
  const [vector] = vectors;

  it('rejects a message with any bit changed, and can still read the original', () => {
    const { initiator, responder, initiatorKey, responderKey } = bothSides(vector!);
    const one = writeFirst(initiator, initiatorKey, Buffer.from('cookie'));
    for (let at = 0; at < one.length; at++) {
      const forged = Buffer.from(one);
      forged[at]! ^= 0x10;
      assert.equal(readFirst(responder.clone(), forged), null, `byte ${at}`);
    }
    assert.ok(readFirst(responder, one));
    const two = writeSecond(responder, responderKey, one.subarray(0, 32), Buffer.from('index'))!;
    for (let at = 0; at < two.length; at++) {
      const forged = Buffer.from(two);
      forged[at]! ^= 0x10;
      assert.equal(readSecond(initiator, initiatorKey, forged), null, `byte ${at}`);
    }
    assert.ok(readSecond(initiator, initiatorKey, two));
  });

  it('rejects another psk, another prologue, and messages that are too short', () => {
    const psk = Buffer.alloc(32, 1);
    const one = writeFirst(SymmetricState.start(Buffer.from('a'), psk), newKeyPair(), Buffer.alloc(0));
    assert.ok(readFirst(SymmetricState.start(Buffer.from('a'), psk), one));
    assert.equal(readFirst(SymmetricState.start(Buffer.from('b'), psk), one), null);
    assert.equal(readFirst(SymmetricState.start(Buffer.from('a'), Buffer.alloc(32, 2)), one), null);
    for (let length = 0; length < one.length; length++)
      assert.equal(readFirst(SymmetricState.start(Buffer.from('a'), psk), one.subarray(0, length)), null);
  });

  it('derives no keys from a degenerate key', () => {
    const state = SymmetricState.start(Buffer.alloc(0), Buffer.alloc(32, 1));
    const one = Buffer.from(`${'01'.padEnd(64, '0')}`, 'hex');
    for (const point of [Buffer.alloc(32), one])
      assert.equal(writeSecond(state.clone(), newKeyPair(), point, Buffer.alloc(4)), null);
  });
});
