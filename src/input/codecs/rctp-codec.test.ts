import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decodeRctp, emptyRctp, encodeRctp, RCTP_BYTES, type RctpPacket } from './rctp-codec.ts';

interface Vector {
  name: string;
  hex: string;
  valid: boolean;
  decoded: {
    timestamp: number;
    position: number[];
    rotation: number[];
    gripper: number;
    tracking: boolean;
    estop: boolean;
  } | null;
}

const vectors = JSON.parse(readFileSync('test/data/rctp.json', 'utf8')) as Vector[];
const REFUSALS: Record<string, string> = {
  bad_magic: 'magic',
  short_44: 'short',
  nan_position: 'non-finite',
  zero_quaternion: 'bad-quaternion',
};

const isWhole = (hex: string): boolean => hex.length === 2 * RCTP_BYTES;

const unit = fc
  .array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 4, maxLength: 4 })
  .filter((q) => Math.hypot(...q) > 0.01)
  .map((q) => q.map((part) => part / Math.hypot(...q)));
const metres = fc.float({ min: -50, max: 50, noNaN: true });
const packets: fc.Arbitrary<RctpPacket> = fc
  .record({
    timestampS: fc.double({ min: 0, max: 1e6, noNaN: true }),
    position: fc.array(metres, { minLength: 3, maxLength: 3 }),
    quat: unit,
    gripper: fc.float({ min: 0, max: 1, noNaN: true }),
    tracking: fc.boolean(),
    estop: fc.boolean(),
    arm: fc.boolean(),
    reset: fc.boolean(),
  })
  .map(({ position, quat, ...rest }) => ({
    ...rest,
    positionM: Float64Array.from(position),
    quatXyzw: Float64Array.from(quat),
  }));

function encoded(packet: RctpPacket): Uint8Array {
  const bytes = new Uint8Array(RCTP_BYTES);
  assert.equal(encodeRctp(packet, bytes), RCTP_BYTES);
  return bytes;
}

describe('rctp codec', () => {
  for (const { name, hex, valid, decoded } of vectors)
    it(`reads ${name}`, () => {
      const bytes = Buffer.from(hex, 'hex');
      const packet = emptyRctp();
      const refusal = decodeRctp(bytes, bytes.length, packet);
      if (!valid) return assert.equal(refusal, REFUSALS[name]);
      assert.equal(refusal, null);
      const { timestampS, positionM, quatXyzw, gripper, tracking, estop } = packet;
      assert.deepEqual([...positionM], decoded!.position);
      assert.deepEqual([...quatXyzw], decoded!.rotation);
      assert.deepEqual(
        [timestampS, gripper, tracking, estop],
        [decoded!.timestamp, decoded!.gripper, decoded!.tracking, decoded!.estop],
      );
    });

  const canonical = vectors.filter(({ valid, hex, name }) => valid && isWhole(hex) && !/reserved/.test(name));
  for (const { name, hex } of canonical)
    it(`writes ${name} back`, () => {
      const packet = emptyRctp();
      decodeRctp(Buffer.from(hex, 'hex'), RCTP_BYTES, packet);
      assert.equal(Buffer.from(encoded(packet)).toString('hex'), hex);
    });

  it('survives a round trip to float32', () => {
    fc.assert(
      fc.property(packets, (packet) => {
        const back = emptyRctp();
        assert.equal(decodeRctp(encoded(packet), RCTP_BYTES, back), null);
        assert.equal(back.timestampS, packet.timestampS);
        assert.deepEqual([...back.positionM], [...packet.positionM].map(Math.fround));
        assert.deepEqual([...back.quatXyzw], [...packet.quatXyzw].map(Math.fround));
        assert.equal(back.gripper, Math.fround(packet.gripper));
        assert.deepEqual([back.tracking, back.estop], [packet.tracking, packet.estop]);
      }),
    );
  });

  it('normalises a quaternion within 5 %, rejects one beyond', () => {
    fc.assert(
      fc.property(packets, fc.double({ min: 0.5, max: 1.5, noNaN: true }), (packet, norm) => {
        fc.pre(Math.abs(Math.abs(norm - 1) - 0.05) > 1e-5);
        const scaled = { ...packet, quatXyzw: packet.quatXyzw.map((part) => part * norm) };
        const back = emptyRctp();
        const refusal = decodeRctp(encoded(scaled), RCTP_BYTES, back);
        assert.equal(refusal, Math.abs(norm - 1) > 0.05 ? 'bad-quaternion' : null);
        if (refusal === null) assert.ok(Math.abs(Math.hypot(...back.quatXyzw) - 1) < 2e-6);
        assert.deepEqual([back.tracking, back.estop], [packet.tracking, packet.estop]);
      }),
    );
  });

  it('rejects every number that is not finite', () => {
    const bad = fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY);
    fc.assert(
      fc.property(packets, fc.nat(8), bad, fc.nat(8), bad, (packet, a, first, b, second) => {
        const bytes = encoded(packet);
        const view = new DataView(bytes.buffer);
        for (const [field, value] of [
          [a, first],
          [b, second],
        ] as const)
          if (field === 0) view.setFloat64(4, value, true);
          else view.setFloat32(8 + 4 * field, value, true);
        assert.equal(decodeRctp(bytes, bytes.length, emptyRctp()), 'non-finite');
      }),
    );
  });

  it('accepts random and mutated datagrams only with magic and size, and never throws', () => {
    const mutated = fc
      .tuple(packets, fc.array(fc.tuple(fc.nat(44), fc.nat(255))), fc.nat(60))
      .map(([packet, edits, length]) => {
        const bytes = encoded(packet);
        for (const [at, byte] of edits) bytes[at] = byte;
        return bytes.slice(0, length);
      });
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 100 }), mutated), (bytes) => {
        const buffer = new Uint8Array(200).fill(0xff);
        buffer.set(bytes);
        const packet = emptyRctp();
        const refusal = decodeRctp(buffer, bytes.length, packet);
        if (bytes.length < RCTP_BYTES) assert.equal(refusal, 'short');
        else if (String.fromCharCode(...bytes.slice(0, 4)) !== 'RCTP') assert.equal(refusal, 'magic');
        if (refusal === null)
          assert.ok([packet.timestampS, packet.gripper, ...packet.positionM].every(Number.isFinite));
      }),
      { numRuns: 2000 },
    );
  });
});
