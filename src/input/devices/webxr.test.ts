import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { emptyHandSample } from '../../messages/hand-sample.ts';
import {
  emptyXr,
  encodeEnvelope,
  encodeXr,
  XR_ENVELOPE_BYTES,
  type XrPacket,
  type XrSide,
} from '../codecs/webxr-codec.ts';
import plugin from './webxr.ts';

const MS = 1e6;
const NOW_NS = 10e9;

/** A flat hand, fingers along −Z; thumb and index tips `gapM` apart. */
function handAt(side: XrSide, positionM: readonly number[], gapM: number): void {
  side.kind = 'hand';
  side.tracked = true;
  const put = (joint: number, x: number, y: number, z: number) =>
    side.jointsM.set([positionM[0]! + x, positionM[1]! + y, positionM[2]! + z], 3 * joint);
  put(0, 0, 0, 0);
  for (let i = 1; i <= 3; i++) put(i, 0.03 + 0.01 * i, 0, -0.03 * i);
  [0.02, 0, -0.02, -0.04].forEach((x, finger) => {
    for (const [k, z] of [0.03, 0.09, 0.13, 0.155, 0.175].entries()) put(5 + 5 * finger + k, x, 0, -z);
  });
  put(4, 0.02 + gapM, 0, -0.175);
}

function datagram(packet: XrPacket, takenNs: number, stream = 1, sentNs = takenNs + MS): Uint8Array {
  const out = new Uint8Array(1024);
  encodeEnvelope({ takenNs, sentNs, stream }, out, 0);
  const length = encodeXr(packet, out.subarray(XR_ENVELOPE_BYTES));
  return out.subarray(0, XR_ENVELOPE_BYTES + length);
}

function scene(options: Record<string, unknown> = {}) {
  const device = plugin.open(plugin.config.parse(options), 0);
  const packet = { ...emptyXr(), visible: true };
  handAt(packet.right, [0.2, 1.2, -0.4], 0.08);
  handAt(packet.left, [-0.2, 1.2, -0.4], 0.1);
  const send = (atNs: number, stream = 1) => {
    packet.seq++;
    const bytes = datagram(packet, atNs - 5 * MS, stream);
    return device.ingest(bytes, bytes.length, atNs, 0, 0);
  };
  const sample = (atNs: number) => {
    const out = emptyHandSample();
    return { status: device.sample(atNs, out), ...out };
  };
  return { device, packet, send, sample };
}

describe('input webxr', () => {
  it('counts each press of A or X once as a record request', () => {
    const { device, packet, send } = scene();
    let atNs = NOW_NS;
    const press = (left: number, right: number) => {
      packet.left.buttons = left;
      packet.right.buttons = right;
      atNs += 10 * MS;
      assert.equal(send(atNs), null);
      return device.recordPresses;
    };
    assert.equal(press(0, 0), 0);
    assert.equal(press(0, 1 << 4), 1);
    assert.equal(press(1 << 4, 1 << 4), 1, 'held');
    assert.equal(press(0, 1 << 5), 1, 'B does not record');
    assert.equal(press(1 << 4, 0), 2);
  });

  it('follows the wrist, closes the gripper with the pinch, and reports the hand’s points', () => {
    const { packet, send, sample } = scene();
    assert.equal(send(NOW_NS), null);
    const seen = sample(NOW_NS);
    assert.deepEqual([seen.status, seen.tracking, seen.clutch, seen.points], ['ok', true, false, 21]);
    assert.ok(Math.abs(seen.positionM[0]! - 0.2) < 1e-6 && seen.gripper < 0.01);
    const indexTip = [...seen.pointsM.subarray(3 * 8, 3 * 9)];
    assert.ok(
      [0.22, 1.2, -0.575].every((metres, i) => Math.abs(metres - indexTip[i]!) < 1e-4),
      String(indexTip),
    );
    assert.deepEqual([seen.takenNs, seen.sentNs], [NOW_NS - 5 * MS, NOW_NS - 4 * MS]);
    handAt(packet.right, [0.2, 1.2, -0.4], 0.01);
    send(NOW_NS + MS);
    assert.equal(sample(NOW_NS + MS).gripper, 1);
  });

  it('can follow the midpoint of thumb and index finger, and the left hand', () => {
    const { send, sample } = scene({ hand: 'left', pose: 'pinch' });
    send(NOW_NS);
    const seen = sample(NOW_NS);
    assert.equal(seen.isLeft, true);
    assert.ok(Math.abs(seen.positionM[0]! - (-0.2 + 0.02 + 0.05)) < 1e-4);
    assert.ok(Math.abs(seen.positionM[2]! - (-0.4 - 0.175)) < 1e-4);
  });

  it('uses the other hand’s pinch as clutch, and opens it when that hand is lost', () => {
    const { packet, send, sample } = scene();
    handAt(packet.left, [-0.2, 1.2, -0.4], 0.015);
    send(NOW_NS);
    assert.equal(sample(NOW_NS).clutch, true);
    handAt(packet.left, [-0.2, 1.2, -0.4], 0.03);
    send(NOW_NS + MS);
    assert.equal(sample(NOW_NS + MS).clutch, true, 'between the two thresholds: unchanged');
    packet.left.tracked = false;
    send(NOW_NS + 2 * MS);
    assert.equal(sample(NOW_NS + 2 * MS).clutch, false);
  });

  it('uses the driving controller’s grip as clutch and its trigger as gripper', () => {
    const { packet, send, sample } = scene();
    Object.assign(packet.right, { kind: 'controller', grip: 1, trigger: 0.4 });
    packet.left.kind = 'none';
    send(NOW_NS);
    const seen = sample(NOW_NS);
    assert.deepEqual([seen.clutch, seen.tracking, seen.points], [true, true, 0]);
    assert.ok(Math.abs(seen.gripper - 0.4) < 0.01);
  });

  for (const [what, spoil] of [
    ['the hand is absent', (packet: XrPacket) => Object.assign(packet.right, { kind: 'none' })],
    ['its position is estimated', (packet: XrPacket) => Object.assign(packet.right, { tracked: false })],
    ['a menu covers the session', (packet: XrPacket) => Object.assign(packet, { visible: false })],
  ] as const)
    it(`does not track while ${what}, and keeps the last position`, () => {
      const { packet, send, sample } = scene();
      handAt(packet.left, [-0.2, 1.2, -0.4], 0.01);
      send(NOW_NS);
      spoil(packet);
      assert.equal(send(NOW_NS + MS), null);
      const seen = sample(NOW_NS + MS);
      assert.deepEqual([seen.status, seen.tracking, seen.clutch, seen.points], ['ok', false, true, 0]);
      assert.ok(Math.abs(seen.positionM[0]! - 0.2) < 1e-6);
    });

  it('rejects repeated and out-of-order packets, and restarts with another stream', () => {
    const { device, packet, send } = scene();
    send(NOW_NS);
    const bytes = datagram(packet, NOW_NS);
    assert.equal(device.ingest(bytes, bytes.length, NOW_NS, 0, 0), 'dropped-stale');
    assert.equal(send(NOW_NS + MS), null);
    packet.seq = 0;
    assert.equal(send(NOW_NS + 2 * MS), 'dropped-stale');
    packet.seq = 0;
    assert.equal(send(NOW_NS + 2 * MS, 2), null);
    assert.equal(device.stream, 2);
  });

  it('ignores impossible stamps', () => {
    const { device, packet, sample } = scene();
    for (const takenNs of [Number.NaN, NOW_NS + 50 * MS]) {
      packet.seq++;
      const bytes = datagram(packet, takenNs);
      device.ingest(bytes, bytes.length, NOW_NS, 0, 0);
      assert.equal(sample(NOW_NS).takenNs, NOW_NS);
    }
  });

  it('rejects a packet that took too long to arrive', () => {
    const { device, packet, send, sample } = scene();
    send(NOW_NS);
    packet.seq++;
    const bytes = datagram(packet, NOW_NS - 151 * MS);
    assert.equal(device.ingest(bytes, bytes.length, NOW_NS, 0, 0), 'too-old');
    assert.equal(sample(NOW_NS).takenNs, NOW_NS - 5 * MS);
  });

  it('forwards an e-stop even from a rejected packet', () => {
    const { device, packet } = scene();
    packet.estop = true;
    const bytes = datagram(packet, NOW_NS);
    assert.notEqual(device.ingest(bytes, bytes.length - 9, NOW_NS, 0, 0), null);
    assert.equal(device.estop, true);
    packet.estop = false;
    const next = datagram(packet, NOW_NS);
    device.ingest(next, next.length, NOW_NS, 0, 0);
    assert.equal(device.estop, false);
  });

  it('rejects an impossible hand', () => {
    const { packet, send, sample } = scene();
    send(NOW_NS);
    packet.right.jointsM.fill(0.5);
    assert.equal(send(NOW_NS + MS), 'degenerate');
    assert.ok(Math.abs(sample(NOW_NS + MS).positionM[0]! - 0.2) < 1e-6);
  });

  it('with its own clutch, follows thumb and middle finger of the driving hand alone', () => {
    const { packet, send, sample } = scene({ clutch: 'own' });
    const middleTo = (gapM: number) => {
      const thumb = [...packet.right.jointsM.subarray(12, 15)];
      packet.right.jointsM.set([thumb[0]! - gapM, thumb[1]!, thumb[2]!], 3 * 14);
    };
    // Neither a pinch of the other hand nor its absence matters.
    packet.left.tracked = false;
    middleTo(0.06);
    send(NOW_NS);
    assert.deepEqual([sample(NOW_NS).tracking, sample(NOW_NS).clutch], [true, false]);
    middleTo(0.01);
    send(NOW_NS + 10 * MS);
    assert.equal(sample(NOW_NS + 10 * MS).clutch, true);
    packet.right.tracked = false;
    send(NOW_NS + 20 * MS);
    assert.deepEqual([sample(NOW_NS + 20 * MS).tracking, sample(NOW_NS + 20 * MS).clutch], [false, false]);
    packet.right.tracked = true;
    middleTo(0.06);
    send(NOW_NS + 30 * MS);
    assert.equal(sample(NOW_NS + 30 * MS).clutch, false);
  });

  it('with its own clutch, counts only the buttons of its own controller', () => {
    const { device, packet, send } = scene({ clutch: 'own' });
    packet.left.buttons = 1 << 4;
    send(NOW_NS);
    assert.equal(device.recordPresses, 0);
    packet.right.buttons = 1 << 4;
    send(NOW_NS + 10 * MS);
    assert.equal(device.recordPresses, 1);
  });
});
