import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { encodeXarm, isXarmReply } from '../../buses/xarm-frame.ts';
import { decodeReport, encodeServoJoint, REPORT_MIN_BYTES, SERVO_FRAME_BYTES, XARM } from './codec.ts';

interface Vector {
  name: string;
  input: Record<string, unknown>;
  expected_hex: string;
}
const vectors = JSON.parse(readFileSync('test/data/driver-vectors/xarm6.json', 'utf8')) as Vector[];
const hexOf = (name: string): string =>
  vectors
    .find((entry) => entry.name === name)!
    .expected_hex.replaceAll(' ', '')
    .toLowerCase();

describe('xArm commands', () => {
  it('match the vectors byte for byte', () => {
    assert.equal(encodeXarm(1, XARM.motionEnable, [8, 1]).toString('hex'), hexOf('motion_enable_all'));
    assert.equal(encodeXarm(2, XARM.clearError).toString('hex'), hexOf('clean_error'));
    assert.equal(encodeXarm(3, XARM.setMode, [1]).toString('hex'), hexOf('set_mode_1_servo'));
    assert.equal(encodeXarm(4, XARM.setState, [0]).toString('hex'), hexOf('set_state_0_motion'));
    assert.equal(encodeXarm(5, XARM.setState, [4]).toString('hex'), hexOf('set_state_4_stop'));
    const frame = Buffer.alloc(SERVO_FRAME_BYTES, 0xff);
    encodeServoJoint(frame, 6, Float64Array.of(0, -0.5, -0.5, 0, 1, 0));
    assert.equal(frame.toString('hex'), hexOf('servoj'));
  });

  it('round-trip joint angles as single floats', () => {
    const angles = fc.float64Array({ minLength: 6, maxLength: 6, min: -7, max: 7, noNaN: true });
    fc.assert(
      fc.property(angles, fc.nat(65535), (q, transaction) => {
        const frame = Buffer.alloc(SERVO_FRAME_BYTES);
        encodeServoJoint(frame, transaction, q);
        assert.equal(frame.readUInt16BE(0), transaction);
        assert.equal(frame.readUInt16BE(4), SERVO_FRAME_BYTES - 6);
        q.forEach((rad, i) => {
          assert.equal(frame.readFloatLE(7 + 4 * i), Math.fround(rad));
        });
      }),
    );
  });
});

function report(
  positionsRad: readonly number[],
  state: number,
  mode: number,
  bytes = REPORT_MIN_BYTES,
): Buffer {
  const made = Buffer.alloc(bytes);
  made.writeUInt32BE(bytes, 0);
  made[4] = (mode << 4) | state;
  positionsRad.forEach((rad, i) => {
    made.writeFloatLE(rad, 7 + 4 * i);
  });
  return made;
}

describe('xArm reports and replies', () => {
  it('are read in place, including longer ones', () => {
    const out = { state: 0, mode: 0, positionsRad: new Float64Array(6), effortsNm: new Float64Array(6) };
    for (const bytes of [87, 135, 300]) {
      assert.ok(decodeReport(report([0.5, -1, 0.25, 0, 1, -2], 2, 1, bytes), out));
      assert.deepEqual([out.state, out.mode, ...out.positionsRad], [2, 1, 0.5, -1, 0.25, 0, 1, -2]);
    }
  });

  it('change nothing when invalid', () => {
    const out = {
      state: 7,
      mode: 7,
      positionsRad: new Float64Array(6).fill(7),
      effortsNm: new Float64Array(6),
    };
    assert.ok(!decodeReport(report([0, 0, Number.NaN, 0, 0, 0], 2, 1), out));
    assert.ok(!decodeReport(report([0, 0, 0, 0, 0, 0], 2, 1).subarray(0, 86), out));
    assert.deepEqual([out.state, out.mode, ...out.positionsRad], new Array(8).fill(7));
  });

  it('never make the decoder throw', () => {
    const out = { state: 0, mode: 0, positionsRad: new Float64Array(6), effortsNm: new Float64Array(6) };
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        isXarmReply(Buffer.from(bytes));
        decodeReport(Buffer.from(bytes), out);
        assert.ok(out.positionsRad.every(Number.isFinite));
      }),
    );
  });
});
