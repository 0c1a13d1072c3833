import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { INIT, KNOCK, paired, startNoise } from './handshake.ts';
import { HandshakeOffer } from './handshake-operator.ts';
import { HandshakeAcceptor } from './handshake-robot.ts';
import { keyId } from './key-file.ts';
import { keyPairOf, readFirst } from './noise.ts';
import { Opener, Sealer } from './sealed-box.ts';

type Hex = Record<
  | 'operatorPrivate'
  | 'robotPrivate'
  | 'nonce'
  | 'cookie'
  | 'knockDatagram'
  | 'cookieDatagram'
  | 'otherVersionCookieDatagram'
  | 'initDatagram'
  | 'acceptDatagram'
  | 'operatorToRobot'
  | 'robotToOperator',
  string
>;

interface SealedFile {
  format: string;
  key: string;
  keyId: string;
  handshake: Hex & { index: number };
  inits: { note: string; datagram: string; reason: string }[];
  packets: { channel: number; counter: number; plain: string; sealed: string }[];
}

/** Made by protocol/vectors/sealed.py, which shares no code with ours. */
const file = JSON.parse(readFileSync('protocol/vectors/sealed.json', 'utf8')) as SealedFile;
const fromHex = (text: string): Buffer => Buffer.from(text, 'hex');
const psk = fromHex(file.key);
const { handshake } = file;
const PEER = 42;

/** A receive buffer as reactors pass it: longer than the datagram, with stale bytes behind it. */
function received(hex: string): [bytes: Uint8Array, length: number] {
  const datagram = fromHex(hex);
  const bytes = new Uint8Array(2048).fill(0x7d);
  bytes.set(datagram);
  return [bytes, datagram.length];
}

describe('sealed link vectors', () => {
  it('our operator, byte for byte', () => {
    assert.equal(file.format, 'farhand-sealed-vectors/2');
    assert.equal(keyId(psk), file.keyId);
    const offer = new HandshakeOffer(psk, () => keyPairOf(fromHex(handshake.operatorPrivate)));
    assert.equal(offer.knock(fromHex(handshake.nonce)).toString('hex'), handshake.knockDatagram);
    assert.equal(offer.onCookie(...received(handshake.cookieDatagram)), null);
    assert.equal(offer.init?.toString('hex'), handshake.initDatagram);
    const keys = offer.accept(...received(handshake.acceptDatagram));
    assert.equal(keys?.index, handshake.index);
    assert.equal(keys?.operatorToRobot.export().toString('hex'), handshake.operatorToRobot);
    assert.equal(keys?.robotToOperator.export().toString('hex'), handshake.robotToOperator);
  });

  it('our robot, byte for byte', () => {
    const robot = new HandshakeAcceptor([psk], () => keyPairOf(fromHex(handshake.robotPrivate)));
    const init = fromHex(handshake.initDatagram);
    const key = paired(psk);
    const state = startNoise(key, fromHex(handshake.cookie));
    assert.equal(readFirst(state, init.subarray(INIT.noise, INIT.mac))?.length, 0);
    const e = init.subarray(INIT.noise, INIT.noise + 32);
    const accepted = robot.accept({ accepted: null, key, state, e }, handshake.index, 0);
    assert.ok(typeof accepted === 'object');
    assert.equal(accepted.reply.toString('hex'), handshake.acceptDatagram);
    assert.equal(accepted.keys.operatorToRobot.export().toString('hex'), handshake.operatorToRobot);
    assert.equal(accepted.keys.robotToOperator.export().toString('hex'), handshake.robotToOperator);
  });

  it('a robot answers the knock with a cookie that the operator accepts', () => {
    const offer = new HandshakeOffer(psk);
    offer.knock(fromHex(handshake.nonce));
    const reply = new HandshakeAcceptor([psk]).answerKnock(...received(handshake.knockDatagram), PEER, 0);
    assert.ok(typeof reply === 'object' && reply.length <= KNOCK.bytes);
    assert.equal(offer.onCookie(reply, reply.length), null);
  });

  it('a robot of another version is recognised and sent no offer', () => {
    const offer = new HandshakeOffer(psk);
    offer.knock(fromHex(handshake.nonce));
    assert.equal(offer.onCookie(...received(handshake.otherVersionCookieDatagram)), 'other-version');
    assert.equal(offer.init, null);
  });

  for (const { note, datagram, reason } of file.inits)
    it(`init: ${note}`, () => {
      const answer = new HandshakeAcceptor([psk]).readInit(...received(datagram), PEER, 0);
      assert.equal(answer, reason);
    });

  it('packets, byte for byte', () => {
    const key = createSecretKey(fromHex(handshake.operatorToRobot));
    const sealer = new Sealer(key, handshake.index);
    const opener = new Opener(key);
    const out = new Uint8Array(2048);
    for (const { channel, plain, sealed } of file.packets) {
      const size = sealer.seal(channel, Buffer.from(plain), plain.length, out);
      assert.equal(Buffer.from(out.subarray(0, size)).toString('hex'), sealed);
      const bytes = new Uint8Array(fromHex(sealed));
      assert.equal(opener.open(channel, bytes, bytes.length, out), null);
      assert.equal(Buffer.from(out.subarray(0, opener.length)).toString(), plain);
      assert.equal(opener.open(channel, bytes, bytes.length, out), 'replayed');
    }
  });
});
