import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  decodeEnvelope,
  decodeXr,
  emptyXr,
  encodeEnvelope,
  encodeXr,
  XR_ENVELOPE_BYTES,
  XR_JOINTS,
  XR_KINDS,
  XR_MAX_BYTES,
  type XrPacket,
  type XrSide,
  xrAsksEstop,
} from './webxr-codec.ts';

interface SideVector {
  kind: string;
  tracked: boolean;
  wristM?: number[];
  wristQuat?: number[];
  indexTipM?: number[];
  trigger?: number;
  grip?: number;
  buttons?: number;
}
interface Vector {
  name: string;
  hex: string;
  refused?: string;
  decoded?: Pick<XrPacket, 'seq' | 'estop' | 'visible' | 'takenPageNs' | 'sentPageNs'> & {
    left: SideVector;
    right: SideVector;
  };
}

const vectors = JSON.parse(readFileSync('protocol/vectors/webxr.json', 'utf8')) as Vector[];
const bytesOf = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, 'hex'));
function near(a: ArrayLike<number>, b: readonly number[], tolerance: number): void {
  for (const [i, value] of b.entries())
    assert.ok(Math.abs(a[i]! - value) <= tolerance, `${a[i]} for ${value}`);
}

function checkSide(side: XrSide, { wristM, wristQuat, indexTipM, ...plain }: SideVector): void {
  for (const [key, value] of Object.entries(plain)) assert.equal(side[key as 'trigger'], value, key);
  if (wristM) near(side.jointsM, wristM, 1e-6);
  if (wristQuat) near(side.jointQuats, wristQuat, 4e-5);
  if (indexTipM) near(side.jointsM.subarray(27), indexTipM, 1.1e-5);
}

const unit = fc
  .array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 4, maxLength: 4 })
  .filter((q) => Math.hypot(...q) > 0.01)
  .map((q) => q.map((part) => part / Math.hypot(...q)));
const metres = fc.double({ min: -20, max: 20, noNaN: true });
const share = fc.nat(255).map((n) => n / 255);
const side: fc.Arbitrary<XrSide> = fc
  .record({
    kind: fc.constantFrom(...XR_KINDS),
    tracked: fc.boolean(),
    trigger: share,
    grip: share,
    buttons: fc.nat(255),
    wrist: fc.array(metres, { minLength: 3, maxLength: 3 }),
    offsets: fc.array(fc.double({ min: -0.6, max: 0.6, noNaN: true }), { minLength: 72, maxLength: 72 }),
    quats: fc.array(unit, { minLength: XR_JOINTS, maxLength: XR_JOINTS }),
  })
  .map(({ wrist, offsets, quats, ...rest }) => ({
    ...rest,
    tracked: rest.tracked && rest.kind !== 'none',
    jointsM: Float64Array.from([...wrist, ...offsets.map((offset, i) => wrist[i % 3]! + offset)]),
    jointQuats: Float64Array.from(quats.flat()),
  }));
const packets: fc.Arbitrary<XrPacket> = fc.record({
  seq: fc.nat(0xffffffff),
  estop: fc.boolean(),
  visible: fc.boolean(),
  takenPageNs: fc.double({ noNaN: true, noDefaultInfinity: true, min: 0, max: 1e18 }),
  sentPageNs: fc.double({ noNaN: true, noDefaultInfinity: true, min: 0, max: 1e18 }),
  left: side,
  right: side,
});

describe('packets of a headset', () => {
  for (const { name, hex, refused, decoded } of vectors)
    it(`vector ${name}`, () => {
      const packet = emptyXr();
      const bytes = bytesOf(hex);
      assert.equal(decodeXr(bytes, bytes.length, packet), refused ?? null);
      if (decoded === undefined) return assert.deepEqual(packet, emptyXr(), 'untouched');
      const { left, right, ...plain } = decoded;
      for (const [key, value] of Object.entries(plain)) assert.equal(packet[key as 'seq'], value, key);
      checkSide(packet.left, left);
      checkSide(packet.right, right);
      const again = new Uint8Array(XR_MAX_BYTES);
      assert.deepEqual(again.subarray(0, encodeXr(packet, again)), bytes);
    });

  it('survive a round trip to 10 µm and 0.01°', () => {
    const bytes = new Uint8Array(XR_MAX_BYTES);
    const back = emptyXr();
    fc.assert(
      fc.property(packets, (sent) => {
        assert.equal(decodeXr(bytes, encodeXr(sent, bytes), back), null);
        for (const key of ['seq', 'estop', 'visible', 'takenPageNs', 'sentPageNs'] as const)
          assert.equal(back[key], sent[key]);
        for (const name of ['left', 'right'] as const) {
          const { kind, tracked, trigger, grip, buttons, jointsM, jointQuats } = back[name];
          const was = sent[name];
          assert.deepEqual([kind, tracked, buttons], [was.kind, was.tracked, was.buttons]);
          assert.ok(Math.abs(trigger - was.trigger) + Math.abs(grip - was.grip) < 1e-9);
          const joints = kind === 'none' ? 0 : kind === 'hand' ? XR_JOINTS : 1;
          near(jointsM, [...was.jointsM.subarray(0, 3 * joints)], 1.3e-5);
          near(jointQuats, [...was.jointQuats.subarray(0, 4 * joints)], 8e-5);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('are accepted completely or not at all when corrupted, and never throw', () => {
    const whole = bytesOf(vectors[0]!.hex);
    const change = fc.record({ at: fc.nat(whole.length - 1), byte: fc.nat(255) });
    const some = fc.oneof(
      fc.uint8Array({ maxLength: 900 }),
      fc.tuple(fc.array(change, { maxLength: 6 }), fc.nat(whole.length)).map(([changes, length]) => {
        const bytes = whole.slice();
        for (const { at, byte } of changes) bytes[at] = byte;
        return bytes.subarray(0, changes.length % 2 === 0 ? length : bytes.length);
      }),
    );
    fc.assert(
      fc.property(some, (bytes) => {
        const packet = emptyXr();
        const refusal = decodeXr(bytes, bytes.length, packet);
        if (refusal !== null) return assert.deepEqual(packet, emptyXr());
        for (const { jointsM, jointQuats } of [packet.left, packet.right])
          assert.ok([...jointsM, ...jointQuats].every(Number.isFinite));
      }),
      { numRuns: 2000 },
    );
  });

  it('request an e-stop even when the rest is corrupted', () => {
    const bytes = bytesOf(vectors[1]!.hex);
    assert.equal(xrAsksEstop(bytes, bytes.length), true);
    assert.equal(xrAsksEstop(bytes, 10), true);
    assert.equal(xrAsksEstop(bytes, 3), false);
    assert.equal(xrAsksEstop(bytesOf(vectors[0]!.hex), 700), false);
  });

  it('are forwarded with the operator’s stamps in front', () => {
    const out = new Uint8Array(XR_ENVELOPE_BYTES + 4);
    const envelope = { takenNs: 1.25e12, sentNs: Number.NaN, stream: 9 };
    assert.equal(encodeEnvelope(envelope, out, 4), out.length);
    const back = { takenNs: 0, sentNs: 0, stream: 0 };
    assert.equal(decodeEnvelope(out.subarray(4), XR_ENVELOPE_BYTES, back), null);
    assert.deepEqual(back, envelope);
    assert.equal(decodeEnvelope(out, XR_ENVELOPE_BYTES - 1, back), 'short');
  });
});
