import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { encodeDesk } from '../../src/wire/codecs/desk.ts';
import { frameType } from '../../src/wire/codecs/frame.ts';
import { firstInit, frame, isHandshake, OPERATOR, ROBOT, STRANGER, TunnelRig } from './tunnel-rig.ts';

describe('tunnel', () => {
  it('carries every channel in both directions for a paired operator, all encrypted', () => {
    const key = randomBytes(32);
    const rig = new TunnelRig(key, [randomBytes(32), key]).start();
    rig.runMs(500);
    for (let socket = 0; socket < 3; socket++) {
      assert.ok(rig.robot.received.filter(({ text }) => text.includes(`to ${socket}`)).length > 40);
      assert.ok(rig.operator.received.filter(({ text }) => text.includes(`answer ${socket}`)).length > 40);
    }
    const clear = rig.captured.filter(({ bytes }) => frameType(bytes, bytes.length) !== null);
    assert.equal(clear.length, 0);
    assert.deepEqual(rig.robotCounters.snapshot(), {});
    assert.deepEqual(rig.operatorCounters.snapshot(), {});
  });

  it('connects within two round trips, and sends no answer longer than its request', () => {
    const rig = new TunnelRig(undefined, undefined, () => 40e6).start();
    const startNs = rig.clock.nowNs();
    rig.runMs(400);
    // Two round trips of 80 ms, up to 10 ms to the next packet, and half a round trip for that.
    assert.ok(rig.robot.received[0]!.atNs - startNs <= 210e6);
    const handshake = rig.captured.filter(isHandshake);
    const requests = handshake.filter(({ to }) => ROBOT.includes(to));
    const answered = handshake.filter(({ to }) => OPERATOR.includes(to));
    assert.equal(rig.agreements, 1);
    answered.forEach(({ bytes }, i) => {
      assert.ok(bytes.length <= requests[i]!.bytes.length);
    });
  });

  it('rejects an unpaired operator without ever answering it', () => {
    const rig = new TunnelRig(randomBytes(32), [randomBytes(32)]).start();
    rig.runMs(2000);
    assert.equal(rig.robot.received.length, 0);
    assert.equal(rig.captured.filter(({ from }) => ROBOT.includes(from)).length, 0);
    assert.ok(rig.robotCounters.get('unknown-key') >= 7, 'one per knock');
  });

  it('passes nothing but an e-stop from the holder of a viewer’s key', () => {
    const [viewer, driver] = [randomBytes(32), randomBytes(32)];
    const rig = new TunnelRig(viewer, [driver, viewer], undefined, [viewer]).start();
    rig.runMs(500);
    assert.equal(rig.robot.received.length, 0);
    assert.ok(rig.robotCounters.get('not-operator') > 100);
    const bytes = new Uint8Array(512);
    for (const action of ['arm', 'reset', 'estop'] as const) {
      const length = encodeDesk({ session: 7, request: 1, action, epoch: 1 }, bytes);
      rig.operatorTunnel.send(0, bytes, length, ROBOT[0]!);
    }
    rig.runMs(5);
    assert.deepEqual(
      rig.robot.received.map(({ text }) => /estop/.test(text)),
      [true],
    );
    // The same robot obeys its other key.
    const other = new TunnelRig(driver, [driver, viewer], undefined, [viewer]).start();
    other.runMs(300);
    assert.ok(other.robot.received.length > 60);
  });

  it('negotiates new keys by itself after a robot restart', () => {
    const rig = new TunnelRig().start();
    rig.runMs(300);
    const first = rig.robot;
    rig.startRobot();
    rig.runMs(2000);
    assert.ok(first.received.length > 60);
    assert.ok(rig.robot.received.length > 60, 'the new process receives from the operator');
    assert.ok(rig.robotCounters.get('unknown-key') > 50, 'packets under the old keys were dropped');
  });

  it('accepts a restarted operator at once, with the same key and addresses', () => {
    const rig = new TunnelRig().start();
    for (let i = 0; i < 20; i++) {
      const before = rig.robot.received.length;
      rig.startOperator();
      rig.runMs(300);
      assert.ok(rig.robot.received.length > before + 60, `restart ${i}`);
      assert.ok(rig.operator.received.length > 60, `restart ${i}`);
    }
  });

  it('counts and drops replays, forgeries and plain frames, and continues', () => {
    const rig = new TunnelRig().start();
    rig.runMs(205);
    const before = rig.robot.received.length;
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
    assert.equal(rig.robot.received.length, before, 'none of it reached the logic');
    assert.equal(rig.robotCounters.get('replayed'), 10);
    assert.equal(rig.robotCounters.get('bad-auth'), 5);
    assert.equal(rig.robotCounters.get('unsealed'), 5);
    rig.runMs(100);
    assert.ok(rig.robot.received.length > before + 20);
  });

  it('drops keys unused for 30 s, so that packets delayed until then are useless', () => {
    for (const [heldMs, delivered] of [
      [29_000, 1],
      [31_000, 0],
    ] as const) {
      let cut = false;
      const rig = new TunnelRig(undefined, undefined, () => (cut ? null : 0)).start();
      rig.runMs(200);
      cut = true;
      rig.runMs(20);
      const heldBack = rig.captured.findLast(({ from }) => from === OPERATOR[0])!;
      rig.stopOperator();
      cut = false;
      const before = rig.robot.received.length;
      rig.runMs(heldMs);
      rig.network.inject(heldBack.from, heldBack.to, heldBack.bytes);
      rig.runMs(1);
      assert.equal(rig.robot.received.length - before, delivered);
    }
  });
});

describe('a peer of another version', () => {
  const knockOf = (rig: TunnelRig) =>
    rig.captured.find(({ from, bytes }) => from === OPERATOR[1] && bytes[3] === 0x6b)!.bytes;

  it('with the first seal is counted, not answered', () => {
    const key = randomBytes(32);
    const rig = new TunnelRig(key);
    rig.startRobot();
    rig.network.inject(OPERATOR[1]!, ROBOT[1]!, firstInit(key));
    rig.runMs(1);
    assert.deepEqual(rig.robotCounters.snapshot(), { 'other-version': 1 });
    assert.equal(rig.captured.length, 0);
  });

  it('is never seen in what somebody without the key sends', () => {
    const rig = new TunnelRig().start();
    rig.runMs(300);
    const unpaired = firstInit(randomBytes(32));
    for (const { from, to, bytes } of [
      ...rig.captured,
      { from: OPERATOR[1]!, to: ROBOT[1]!, bytes: unpaired },
    ])
      for (const digit of '1345679') {
        const forged = bytes.slice();
        forged[2] = digit.charCodeAt(0);
        for (const sender of [from, STRANGER]) rig.network.inject(sender, to, forged);
      }
    rig.runMs(1);
    for (const counters of [rig.robotCounters, rig.operatorCounters]) {
      assert.ok(counters.get('bad-tag') > 0);
      assert.equal(counters.get('other-version'), 0);
    }
  });

  it('with a later seal is counted, and answered only if it is paired', () => {
    const rig = new TunnelRig().start();
    rig.runMs(100);
    const later = knockOf(rig).slice();
    later[2] = 0x33;
    const before = rig.captured.filter(({ to }) => to === STRANGER).length;
    rig.network.inject(STRANGER, ROBOT[1]!, later);
    rig.runMs(1);
    assert.equal(rig.robotCounters.get('bad-auth'), 1, 'the mac covers the version');
    assert.equal(rig.captured.filter(({ to }) => to === STRANGER).length, before);
  });
});
