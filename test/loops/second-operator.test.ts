import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeEstopAnswer, encodeDesk } from '../../src/wire/codecs/desk.ts';
import { frameType } from '../../src/wire/codecs/frame.ts';
import { peerOf } from '../../src/wire/reactor.ts';
import { SimulatedRig, TestHand } from './simulated-rig.ts';

/** A robot that follows the first operator; the second one has no lease. */
async function twoOperators() {
  const hand = new TestHand();
  const rig = await SimulatedRig.create({ hand });
  rig.grip(hand);
  const second = await rig.addOperator(2002);
  rig.runFor(500);
  assert.equal(rig.state, 'engaged');
  return { rig, second };
}

const desksOf = (rig: SimulatedRig): string[] => {
  const desks: string[] = [];
  rig.onOperatorSend = (_, bytes) => {
    const text = new TextDecoder().decode(bytes);
    if (frameType(bytes, bytes.length) === 'desk' && text.includes('"session":2002')) desks.push(text);
  };
  return desks;
};

describe('an e-stop from an operator without the lease', () => {
  it('stops the robot, names the sender, is confirmed, and is no longer repeated', async () => {
    const { rig, second } = await twoOperators();
    const desks = desksOf(rig);
    second.loop.ask('estop', rig.nowNs);
    rig.runUntil(() => rig.state === 'stopped', 5);
    rig.runFor(100);
    assert.match(
      rig.robot.loop.supervisor.cause,
      /^e-stop pressed at 10\.\d+\.\d+\.\d+, by an operator without control$/,
    );
    const sent = desks.length;
    assert.ok(sent < 5, `${sent} messages`);
    rig.runFor(2000);
    assert.equal(desks.length, sent, 'silent once confirmed');
    assert.equal(rig.operator.loop.robot.state.state, 'stopped', 'the first operator knows');
    assert.equal(
      second.loop.robot.receivedNs,
      Number.NEGATIVE_INFINITY,
      'an answer is not the robot’s state',
    );
  });

  it('does not undo a reset; another press stops the robot again', async () => {
    const { rig, second } = await twoOperators();
    second.loop.ask('estop', rig.nowNs);
    rig.runFor(200);
    rig.ask('reset');
    rig.runFor(3000);
    assert.equal(rig.state, 'idle');
    assert.equal(rig.path.filter((to) => to === 'stopped').length, 1);
    second.loop.ask('estop', rig.nowNs);
    rig.runUntil(() => rig.state === 'stopped', 5);
  });

  it('is repeated until the robot’s answer arrives; a second press meanwhile counts', async () => {
    const { rig, second } = await twoOperators();
    const desks = desksOf(rig);
    const { impair } = rig;
    rig.impair = (from, to, nowNs) => (to === second.peers[0] ? null : impair(from, to, nowNs));
    second.loop.ask('estop', rig.nowNs);
    rig.runFor(300);
    rig.ask('reset');
    rig.runFor(1000);
    assert.equal(rig.state, 'idle', 'repeats of one press');
    assert.ok(desks.length > 100, 'still repeating');
    second.loop.ask('estop', rig.nowNs);
    rig.runUntil(() => rig.state === 'stopped', 5);
    rig.impair = impair;
    rig.runFor(50);
    const sent = desks.length;
    rig.runFor(1000);
    assert.equal(desks.length, sent);
  });
});

describe('e-stop messages', () => {
  function press(rig: SimulatedRig, session: number, request: number, port = 9999): void {
    const bytes = new Uint8Array(256);
    const length = encodeDesk({ session, request, action: 'estop', epoch: 0 }, bytes);
    rig.robot.loop.onDatagram(0, bytes, length, peerOf('10.0.0.9', port), rig.nowNs, Number.NaN);
  }

  const stopsAgain: [string, (rig: SimulatedRig) => void][] = [
    ['a higher number', (rig) => press(rig, 99, 8)],
    ['another session', (rig) => press(rig, 98, 7)],
    ['another port', (rig) => press(rig, 99, 7, 9998)],
    ['no number', (rig) => press(rig, 99, 0)],
    [
      'a sender forgotten among many',
      (rig) => {
        for (let i = 0; i < 64; i++) press(rig, 1, 1, 10_000 + i);
        rig.ask('reset');
        rig.runFor(100);
        press(rig, 99, 7);
      },
    ],
  ];
  for (const [what, act] of stopsAgain)
    it(`count as a new press with ${what}`, async () => {
      const rig = await SimulatedRig.create({ hand: new TestHand() });
      rig.runFor(500);
      press(rig, 99, 7);
      assert.equal(rig.state, 'stopped');
      rig.ask('reset');
      rig.runFor(100);
      press(rig, 99, 7);
      press(rig, 99, 6);
      assert.equal(rig.state, 'idle', 'a repeat');
      act(rig);
      assert.equal(rig.state, 'stopped');
    });

  it('are answered with their own session and number', () => {
    const bytes = new TextEncoder().encode('FH1s{"session":99,"ack":7,"state":"idle"}');
    assert.equal(decodeEstopAnswer(bytes, bytes.length, 99), 7);
    assert.equal(decodeEstopAnswer(bytes, bytes.length, 98), 'unknown-source');
    const bad = new TextEncoder().encode('FH1s{"session":99,"ack":-1}');
    assert.equal(decodeEstopAnswer(bad, bad.length, 99), 'malformed');
  });
});
