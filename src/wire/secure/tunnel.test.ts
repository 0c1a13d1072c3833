import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { ManualClock } from '../../core/clock.ts';
import { Counters } from '../../core/counters.ts';
import { frameType, writeFrame } from '../codecs/frame.ts';
import { type DatagramHandler, type Outbox, type Peer, peerOf } from '../reactor.ts';
import { LocalNetwork } from '../transports/local.ts';
import { HandshakeAcceptor, HandshakeOffer } from './handshake.ts';
import { OperatorTunnel } from './operator-tunnel.ts';
import { RobotTunnel } from './robot-tunnel.ts';

const PORTS = [4750, 4751, 4752];
const ROBOT = PORTS.map((port) => peerOf('127.0.0.1', port));
const OPERATOR = PORTS.map((port) => peerOf('127.0.0.2', port));
const STRANGER = peerOf('127.0.0.9', 9999);

/** Remembers plain frames; sends one on every channel every 10 ms when given somewhere to. */
class Ends implements DatagramHandler {
  readonly heard: { socket: number; text: string; from: Peer }[] = [];
  #nextNs: number;
  readonly #send: ((nowNs: number) => void) | null;

  constructor(nowNs: number, send: ((nowNs: number) => void) | null) {
    this.#nextNs = send ? nowNs : Number.POSITIVE_INFINITY;
    this.#send = send;
  }

  nextDeadlineNs = () => this.#nextNs;
  onDeadline(nowNs: number) {
    this.#nextNs = nowNs + 10e6;
    this.#send?.(nowNs);
  }
  onOversize() {}
  onDatagram(socket: number, bytes: Uint8Array, length: number, from: Peer) {
    this.heard.push({ socket, text: Buffer.from(bytes.slice(0, length)).toString(), from });
  }
}

function frame(text: string): Uint8Array {
  const out = new Uint8Array(512);
  return out.slice(0, writeFrame('hello', { text }, out));
}

function setUp(operatorKey: Uint8Array, robotKeys: Uint8Array[]) {
  const clock = new ManualClock();
  const captured: { from: Peer; to: Peer; bytes: Uint8Array }[] = [];
  const network = new LocalNetwork(clock, (deadlineNs) => clock.advanceTo(deadlineNs));
  const operatorCounters = new Counters();
  const robotCounters = new Counters();
  const tap = (outbox: Outbox, from: Peer[]): Outbox => ({
    send(socket, bytes, length, to) {
      captured.push({ from: from[socket]!, to, bytes: bytes.slice(0, length) });
      return outbox.send(socket, bytes, length, to);
    },
  });
  const operatorEnd = network.endpoint('127.0.0.2', PORTS);
  const robotEnd = network.endpoint('127.0.0.1', PORTS);
  let index = 100;
  const startRobot = () => {
    const tunnel = new RobotTunnel(tap(robotEnd.outbox, ROBOT), robotKeys, () => ++index, robotCounters);
    const robot = new Ends(clock.nowNs(), null);
    const answer = robot.onDatagram.bind(robot);
    robot.onDatagram = (socket, bytes, length, from) => {
      answer(socket, bytes, length, from);
      tunnel.send(socket, frame(`answer ${socket}`), frame(`answer ${socket}`).length, from);
    };
    tunnel.attach(robot);
    return { tunnel, robot };
  };
  const operatorTunnel = new OperatorTunnel(
    tap(operatorEnd.outbox, OPERATOR),
    operatorKey,
    ROBOT,
    clock,
    operatorCounters,
  );
  const operator = new Ends(clock.nowNs(), () => {
    for (let i = 0; i < 3; i++) operatorTunnel.send(i, frame(`to ${i}`), frame(`to ${i}`).length, ROBOT[i]!);
  });
  operatorTunnel.attach(operator);
  operatorEnd.attach(operatorTunnel);
  return {
    clock,
    network,
    captured,
    operator,
    operatorCounters,
    robotCounters,
    startRobot,
    attachRobot: robotEnd.attach,
  };
}

const runFor = (rig: ReturnType<typeof setUp>, ms: number) => rig.network.run(rig.clock.nowNs() + ms * 1e6);

describe('tunnel', () => {
  it('carries every channel both ways for a paired operator, and nothing in the clear', () => {
    const key = randomBytes(32);
    const rig = setUp(key, [randomBytes(32), key]);
    const { tunnel, robot } = rig.startRobot();
    rig.attachRobot(tunnel);
    runFor(rig, 500);
    for (let socket = 0; socket < 3; socket++) {
      assert.ok(
        robot.heard.filter((d) => d.socket === socket && d.text.includes(`to ${socket}`)).length > 40,
      );
      assert.ok(rig.operator.heard.filter((d) => d.text.includes(`answer ${socket}`)).length > 40);
    }
    const clear = rig.captured.filter(({ bytes }) => frameType(bytes, bytes.length) === 'hello');
    assert.equal(clear.length, 0);
    assert.deepEqual(rig.robotCounters.snapshot(), {});
  });

  it('refuses an operator that is not paired, without ever answering it', () => {
    const rig = setUp(randomBytes(32), [randomBytes(32)]);
    const { tunnel, robot } = rig.startRobot();
    rig.attachRobot(tunnel);
    runFor(rig, 2000);
    assert.equal(robot.heard.length, 0);
    assert.equal(rig.captured.filter(({ from }) => ROBOT.includes(from)).length, 0);
    assert.ok(rig.robotCounters.get('unknown-key') >= 7, 'one per offer');
  });

  it('makes new keys by itself after the robot restarted', () => {
    const key = randomBytes(32);
    const rig = setUp(key, [key]);
    let current = rig.startRobot();
    const relay: DatagramHandler = {
      onDatagram: (...args) => current.tunnel.onDatagram(...args),
      onDeadline: (nowNs) => current.tunnel.onDeadline(nowNs),
      nextDeadlineNs: () => current.tunnel.nextDeadlineNs(),
      onOversize: () => {},
    };
    rig.attachRobot(relay);
    runFor(rig, 300);
    const first = current.robot;
    current = rig.startRobot();
    runFor(rig, 2000);
    assert.ok(first.heard.length > 60);
    assert.ok(current.robot.heard.length > 60, 'the new process hears the operator');
    assert.ok(
      rig.robotCounters.get('unknown-key') > 50,
      'packets under the old keys were counted and dropped',
    );
  });

  it('counts and drops replays, forgeries and plain frames, and goes on', () => {
    const key = randomBytes(32);
    const rig = setUp(key, [key]);
    const { tunnel, robot } = rig.startRobot();
    rig.attachRobot(tunnel);
    runFor(rig, 205);
    const before = robot.heard.length;
    const sealed = rig.captured.filter(({ from }) => from === OPERATOR[0]).slice(0, 5);
    for (const { to, bytes } of sealed) {
      rig.network.inject(STRANGER, to, bytes);
      rig.network.inject(OPERATOR[0]!, to, bytes);
      const forged = bytes.slice();
      forged[20]! ^= 1;
      forged[8] = 0xff;
      rig.network.inject(STRANGER, to, forged);
      rig.network.inject(STRANGER, to, frame('plain'));
    }
    rig.network.run(rig.clock.nowNs());
    assert.equal(robot.heard.length, before, 'none of it reached the logic');
    assert.equal(rig.robotCounters.get('replayed'), 10);
    assert.equal(rig.robotCounters.get('bad-auth'), 5);
    assert.equal(rig.robotCounters.get('unsealed'), 5);
    runFor(rig, 100);
    assert.ok(robot.heard.length > before + 20);
  });

  it('stops reading a source that only fails', () => {
    const key = randomBytes(32);
    const rig = setUp(key, [key]);
    const { tunnel, robot } = rig.startRobot();
    rig.attachRobot(tunnel);
    runFor(rig, 100);
    const before = robot.heard.length;
    for (let i = 0; i < 5000; i++) rig.network.inject(STRANGER, ROBOT[0]!, new Uint8Array(100));
    runFor(rig, 50);
    assert.ok(rig.robotCounters.get('rate-limited') > 4700);
    assert.ok(robot.heard.length > before + 10, 'the operator is not affected');
  });
});

describe('handshake', () => {
  const psk = randomBytes(32);
  const offerBytes = (offer: HandshakeOffer) => {
    const out = new Uint8Array(512);
    return out.slice(0, offer.encode(out));
  };

  it('gives both sides the same keys, fresh ones each time', () => {
    const acceptor = new HandshakeAcceptor([psk], () => 7);
    const keys = [1, 2].map(() => {
      const offer = new HandshakeOffer(psk);
      const init = offerBytes(offer);
      const accepted = acceptor.answer(init, init.length);
      assert.ok(typeof accepted === 'object');
      const mine = offer.accept(accepted.reply, accepted.reply.length);
      assert.ok(mine?.operatorToRobot.equals(accepted.keys.operatorToRobot));
      assert.ok(mine?.robotToOperator.equals(accepted.keys.robotToOperator));
      assert.ok(!mine?.robotToOperator.equals(mine.operatorToRobot), 'one key per direction');
      return mine!.operatorToRobot;
    });
    assert.ok(!keys[0]!.equals(keys[1]!));
  });

  it('answers a repeated offer alike, and ignores an answer to another offer', () => {
    const acceptor = new HandshakeAcceptor([psk], () => 7);
    const offer = new HandshakeOffer(psk);
    const init = offerBytes(offer);
    const first = acceptor.answer(init, init.length);
    assert.equal(acceptor.answer(init, init.length), first);
    assert.ok(typeof first === 'object');
    assert.equal(new HandshakeOffer(psk).accept(first.reply, first.reply.length), null);
  });

  it('refuses anything altered on the way, in either message', () => {
    const acceptor = new HandshakeAcceptor([psk], () => 7);
    const offer = new HandshakeOffer(psk);
    const init = offerBytes(offer);
    const accepted = acceptor.answer(init, init.length);
    assert.ok(typeof accepted === 'object');
    const alter = (bytes: Uint8Array, from: RegExp, to: string) =>
      Buffer.from(Buffer.from(bytes).toString().replace(from, to));
    for (const [from, to] of [
      [/"e":"./, '"e":"/'],
      [/"mac":"./, '"mac":"/'],
      [/"key":"../, '"key":"zz'],
    ] as const) {
      const forged = alter(init, from, to);
      if (!forged.equals(init)) assert.equal(typeof acceptor.answer(forged, forged.length), 'string');
    }
    for (const [from, to] of [
      [/"index":7/, '"index":8'],
      [/"mac":"./, '"mac":"/'],
      [/"re":"./, '"re":"/'],
    ] as const) {
      const forged = alter(accepted.reply, from, to);
      if (!forged.equals(accepted.reply)) assert.equal(offer.accept(forged, forged.length), null);
    }
    const zero = alter(accepted.reply, /"e":"[^"]*"/, `"e":"${Buffer.alloc(32).toString('base64')}"`);
    assert.equal(offer.accept(zero, zero.length), null, 'a degenerate point');
  });
});
