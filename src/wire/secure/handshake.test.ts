import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { ACCEPT, COOKIE, INIT, KNOCK, mac, paired } from './handshake.ts';
import { HandshakeOffer } from './handshake-operator.ts';
import { type Accepted, HandshakeAcceptor } from './handshake-robot.ts';

const psk = randomBytes(32);
const [PEER, OTHER] = [1000, 2000];

function cookieFor(robot: HandshakeAcceptor, offer: HandshakeOffer, peer = PEER, nowNs = 0): Buffer {
  const knock = offer.knock();
  const reply = robot.answerKnock(knock, knock.length, peer, nowNs);
  assert.ok(typeof reply === 'object');
  return reply;
}

function initFor(robot: HandshakeAcceptor, offer: HandshakeOffer, peer = PEER, nowNs = 0): Buffer {
  const reply = cookieFor(robot, offer, peer, nowNs);
  assert.equal(offer.onCookie(reply, reply.length), null);
  return offer.init!;
}

function acceptFor(robot: HandshakeAcceptor, init: Buffer): Accepted {
  const read = robot.readInit(init, init.length, PEER, 0);
  assert.ok(typeof read === 'object' && read.accepted === null);
  const accepted = robot.accept(read, 7, 0);
  assert.ok(typeof accepted === 'object');
  return accepted;
}

describe('handshake', () => {
  it('gives both sides the same keys, fresh ones each time', () => {
    const robot = new HandshakeAcceptor([psk]);
    const keys = [1, 2].map(() => {
      const offer = new HandshakeOffer(psk);
      const accepted = acceptFor(robot, initFor(robot, offer));
      const mine = offer.accept(accepted.reply, accepted.reply.length);
      assert.ok(mine?.operatorToRobot.equals(accepted.keys.operatorToRobot));
      assert.ok(mine?.robotToOperator.equals(accepted.keys.robotToOperator));
      assert.ok(!mine?.robotToOperator.equals(mine.operatorToRobot), 'one key per direction');
      assert.equal(mine?.index, 7);
      return mine!.operatorToRobot;
    });
    assert.ok(!keys[0]!.equals(keys[1]!));
  });

  it('has no answer longer than its request', () => {
    assert.ok(COOKIE.bytes <= KNOCK.bytes && ACCEPT.bytes <= INIT.bytes);
  });

  it('accepts an init only from its cookie’s address, for 10 s, in the same process', () => {
    const robot = new HandshakeAcceptor([psk]);
    const init = initFor(robot, new HandshakeOffer(psk), PEER, 4.9e9);
    const read = (who: HandshakeAcceptor, peer: number, nowNs: number) =>
      who.readInit(init, init.length, peer, nowNs);
    assert.equal(typeof read(robot, PEER, 4.9e9), 'object');
    assert.equal(typeof read(robot, PEER, 9.9e9), 'object', 'at least 5 s');
    assert.equal(read(robot, PEER, 10e9), 'replayed');
    assert.equal(read(robot, PEER, 1e15), 'replayed');
    assert.equal(read(robot, OTHER, 4.9e9), 'replayed');
    assert.equal(read(new HandshakeAcceptor([psk]), PEER, 4.9e9), 'replayed');
  });

  it('rejects an old init with a fresh cookie', () => {
    const robot = new HandshakeAcceptor([psk]);
    const old = initFor(new HandshakeAcceptor([psk]), new HandshakeOffer(psk));
    const fresh = initFor(robot, new HandshakeOffer(psk));
    for (let at = INIT.cookie; at < INIT.bytes; at += 16) {
      for (const [a, b] of [
        [fresh, old],
        [old, fresh],
      ] as const) {
        const mixed = Buffer.concat([a.subarray(0, at), b.subarray(at)]);
        if (mixed.equals(fresh)) continue;
        const answer = robot.readInit(mixed, mixed.length, PEER, 0);
        assert.ok(answer === 'bad-auth' || answer === 'replayed', `${at}`);
      }
    }
  });

  it('remembers an accepted init for as long as its cookie is valid', () => {
    const robot = new HandshakeAcceptor([psk]);
    const init = initFor(robot, new HandshakeOffer(psk));
    const accepted = acceptFor(robot, init);
    for (const nowNs of [0, 5e9, 9.99e9]) {
      const again = robot.readInit(init, init.length, PEER, nowNs);
      assert.ok(typeof again === 'object');
      assert.equal(again.accepted, accepted);
    }
  });

  it('rejects paired operators that make more than 64 handshakes in 10 s, for that time only', () => {
    const robot = new HandshakeAcceptor([psk]);
    const answers = Array.from({ length: 65 }, () => {
      const init = initFor(robot, new HandshakeOffer(psk));
      const read = robot.readInit(init, init.length, PEER, 0);
      assert.ok(typeof read === 'object' && read.accepted === null);
      return robot.accept(read, 7, 0);
    });
    assert.equal(answers.filter((answer) => typeof answer === 'object').length, 64);
    assert.equal(answers[64], 'rate-limited');
    const init = initFor(robot, new HandshakeOffer(psk), PEER, 10.1e9);
    const read = robot.readInit(init, init.length, PEER, 10.1e9);
    assert.ok(typeof read === 'object' && read.accepted === null);
    assert.ok(typeof robot.accept(read, 7, 10.1e9) === 'object');
  });

  it('keeps its offer while the cookie stays the same, so that a repeated init is identical', () => {
    const robot = new HandshakeAcceptor([psk]);
    const offer = new HandshakeOffer(psk);
    const first = initFor(robot, offer, PEER, 0);
    assert.equal(initFor(robot, offer, PEER, 1e9), first);
    assert.notEqual(initFor(robot, offer, PEER, 6e9), first);
  });

  it('accepts each answer to a knock once, and none older than the newest accepted', () => {
    const robot = new HandshakeAcceptor([psk]);
    const offer = new HandshakeOffer(psk);
    const [old, newest] = [cookieFor(robot, offer, PEER, 0), cookieFor(robot, offer, PEER, 6e9)];
    assert.equal(offer.onCookie(newest, newest.length), null);
    const { init } = offer;
    assert.equal(offer.onCookie(newest, newest.length), 'replayed');
    assert.equal(offer.onCookie(old, old.length), 'replayed');
    assert.equal(offer.init, init);
  });

  it('rejects every altered byte of every message', () => {
    const robot = new HandshakeAcceptor([psk]);
    const offer = new HandshakeOffer(psk);
    const altered = (bytes: Buffer, at: number) => {
      const forged = Buffer.from(bytes);
      forged[at]! ^= 1;
      return forged;
    };
    const each = (bytes: Buffer, isRejected: (forged: Buffer) => boolean) => {
      for (let at = 4; at < bytes.length; at++) assert.ok(isRejected(altered(bytes, at)), `byte ${at}`);
    };
    const knock = offer.knock();
    each(knock, (forged) => typeof robot.answerKnock(forged, forged.length, PEER, 0) === 'string');
    const cookie = robot.answerKnock(knock, knock.length, PEER, 0);
    assert.ok(typeof cookie === 'object');
    each(cookie, (forged) => offer.onCookie(forged, forged.length) !== null);
    assert.equal(offer.onCookie(cookie, cookie.length), null);
    const init = offer.init!;
    each(init, (forged) => typeof robot.readInit(forged, forged.length, PEER, 0) === 'string');
    const { reply } = acceptFor(robot, init);
    each(reply, (forged) => offer.accept(forged, forged.length) === null);
    assert.ok(offer.accept(reply, reply.length));
  });

  it('ignores an answer to another offer', () => {
    const robot = new HandshakeAcceptor([psk]);
    const [mine, other] = [new HandshakeOffer(psk), new HandshakeOffer(psk)];
    initFor(robot, other);
    const { reply } = acceptFor(robot, initFor(robot, mine));
    assert.equal(other.accept(reply, reply.length), null);
  });

  it('answers the knock of a later version with its own, authenticated by the mac', () => {
    const knock = new HandshakeOffer(psk).knock();
    knock[2] = 0x33;
    mac(paired(psk), knock.subarray(0, KNOCK.mac)).copy(knock, KNOCK.mac);
    const reply = new HandshakeAcceptor([psk]).answerKnock(knock, knock.length, PEER, 0);
    assert.ok(typeof reply === 'object');
    assert.equal(reply.subarray(0, 4).toString(), 'FH2o');
  });
});
