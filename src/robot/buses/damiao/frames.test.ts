import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type CanFrame, emptyFrame, frameText, parseFrameText } from '../can-frame.ts';
import {
  encodeFromAdapter,
  encodeToAdapter,
  FromAdapterDecoder,
  ToAdapterDecoder,
} from '../damiao-serial-codec.ts';
import { DamiaoFeedback, STATUS, statusFault } from './feedback.ts';
import {
  CONTROL_MODE,
  ID_OFFSET,
  motorFrame,
  ORDER,
  orderFrame,
  REGISTER,
  readFrame,
  refreshFrame,
  scaled,
  setMit,
  setPositionForce,
  setPositionVelocity,
  unscaled,
  writeFrame,
} from './frames.ts';
import { isOfType, MOTOR_TYPES, type MotorLimits, type MotorType, typesWith } from './motors.ts';

interface Vector {
  device: string;
  name: string;
  direction: 'encode' | 'decode';
  input: Record<string, number> & { motor?: MotorType; limits?: [number, number, number] };
  expected_hex: string;
}
const vectors = JSON.parse(readFileSync('test/data/drivers/damiao.json', 'utf8')) as Vector[];
const of = (device: string, direction: string): Vector[] =>
  vectors.filter((vector) => vector.device === device && vector.direction === direction);

const ORDERS: Record<string, number> = {
  enable_id1: ORDER.enable,
  disable_id1: ORDER.disable,
  set_zero_id1: ORDER.setZero,
  clear_error_id1: ORDER.clearError,
};

/** Encodes a vector with our codec; null for frames that we do not use. */
function encoded({ name, input, expected_hex }: Vector): CanFrame | null {
  const id = Number.parseInt(expected_hex.slice(0, 3), 16);
  if (ORDERS[name] !== undefined) return orderFrame(input['id']!, ORDERS[name], false);
  if (name.startsWith('refresh')) return refreshFrame(input['id']!, false);
  if (name.startsWith('read')) return readFrame(input['id']!, input['rid']!, false);
  if (name.startsWith('write')) return writeFrame(input['id']!, input['rid']!, input['value']!, false);
  if (name.startsWith('mit')) {
    const [p, v, t] = input.limits ?? [];
    const own = MOTOR_TYPES[input.motor!][0];
    const limits: MotorLimits = p === undefined ? own : { positionRad: p, velocityRadS: v!, torqueNm: t! };
    const frame = motorFrame(id, false);
    setMit(frame, limits, input['q']!, input['dq']!, input['kp']!, input['kd']!, input['tau']!);
    return frame;
  }
  if (name.startsWith('pos_vel')) {
    const frame = motorFrame(input['id']! + ID_OFFSET.positionVelocity, false);
    setPositionVelocity(frame, input['pos']!, input['vel']!);
    return frame;
  }
  if (name.startsWith('pos_force')) {
    const frame = motorFrame(input['id']! + ID_OFFSET.positionForce, false);
    const velocity = input['vel_limit'] ?? input['vel_x100']! / 100;
    setPositionForce(frame, input['pos']!, velocity, input['i_pu'] ?? input['i_x10000']! / 10_000);
    return frame;
  }
  return null;
}

describe('Damiao frames', () => {
  it('match the vendor’s programs byte for byte', () => {
    const skipped: string[] = [];
    for (const vector of of('damiao', 'encode')) {
      const frame = encoded(vector);
      if (frame === null) skipped.push(vector.name);
      else assert.equal(frameText(frame), vector.expected_hex, vector.name);
    }
    // Velocity control and saving to flash: nothing here sends them.
    assert.deepEqual(skipped, [
      'save_params_id3',
      'vel_id7_10rad_s_dlc8_dk1',
      'vel_id7_10rad_s_dlc4_openarm',
    ]);
  });

  it('decode a motor’s position', () => {
    const feedback = new DamiaoFeedback([{ id: 1, replyId: 0x11 }]);
    const [vector] = of('damiao', 'decode');
    feedback.take(parseFrameText(vector!.expected_hex)!, 5);
    assert.equal(feedback.receivedNs[0], Number.NEGATIVE_INFINITY, 'ignored until its limits are known');
    feedback.limits[0] = MOTOR_TYPES.DM8009[0];
    feedback.take(parseFrameText(vector!.expected_hex)!, 5);
    assert.equal(feedback.receivedNs[0], 5);
    assert.equal(feedback.status[0], STATUS.enabled);
    assert.ok(Math.abs(feedback.positionsRad[0]! - 0.5) < 25 / 65535);
    assert.ok(Math.abs(feedback.velocitiesRadS[0]!) < 90 / 4095);
    assert.ok(Math.abs(feedback.torquesNm[0]! - 2) < 108 / 4095);
    assert.deepEqual([feedback.driverC[0], feedback.coilC[0]], [35, 33]);
  });

  it('of the wrong length or from another motor are rejected', () => {
    const feedback = new DamiaoFeedback([{ id: 1, replyId: 0x11 }]);
    feedback.limits[0] = MOTOR_TYPES.DM8009[0];
    for (const text of ['011#1185', '011#12851E80084B2321', '011##012851E80084B2321'])
      feedback.take(parseFrameText(text)!, 5);
    assert.equal(feedback.rejected, 3);
    for (const text of ['012#11851E80084B2321', '00000011#11851E80084B2321', '011#R8'])
      feedback.take(parseFrameText(text)!, 5);
    assert.equal(feedback.rejected, 3, 'not for us');
    assert.equal(feedback.receivedNs[0], Number.NEGATIVE_INFINITY);
  });

  it('decode register replies, and never as a state', () => {
    const feedback = new DamiaoFeedback([{ id: 3, replyId: 0x13 }]);
    feedback.limits[0] = MOTOR_TYPES.DM4340[0];
    feedback.take(parseFrameText('013#0300331500004841')!, 5);
    feedback.take(parseFrameText('013#0300550A01000000')!, 5);
    assert.equal(feedback.register(0, REGISTER.positionMax), 12.5);
    assert.equal(feedback.register(0, REGISTER.controlMode), CONTROL_MODE.mit);
    assert.equal(feedback.receivedNs[0], Number.NEGATIVE_INFINITY);
  });

  it('round-trip any value to within one step', () => {
    fc.assert(
      fc.property(fc.double({ min: -12.5, max: 12.5, noNaN: true }), (value) => {
        const back = unscaled(scaled(value, -12.5, 12.5, 16), -12.5, 12.5, 16);
        return back <= value + 1e-9 && value - back <= 25 / 65535 + 1e-9;
      }),
    );
  });

  it('name every error', () => {
    assert.deepEqual([0, 1].map(statusFault), ['', '']);
    const named = [8, 9, 10, 11, 12, 13, 14].map(statusFault);
    const words = ['overvoltage', 'undervoltage', 'current', 'driver', 'coil', 'communication', 'overload'];
    words.forEach((word, i) => {
      assert.ok(named[i]!.includes(word), named[i]);
    });
    assert.equal(new Set(named).size, 7);
    assert.match(statusFault(5), /error 5/);
  });

  it('identify motor types by their limits; a DM4340 may have either speed', () => {
    assert.ok(isOfType({ positionRad: 12.5, velocityRadS: 8, torqueNm: 28 }, 'DM4340'));
    assert.ok(isOfType({ positionRad: 12.5, velocityRadS: 10, torqueNm: 28 }, 'DM4340'));
    assert.ok(!isOfType({ positionRad: 12.5, velocityRadS: 30, torqueNm: 10 }, 'DM4340'));
    assert.deepEqual(typesWith({ positionRad: 12.5, velocityRadS: 45, torqueNm: 54 }), ['DM8009']);
    assert.deepEqual(typesWith({ positionRad: 3, velocityRadS: 45, torqueNm: 54 }), []);
  });
});

const bytesOf = (hex: string): Uint8Array =>
  Uint8Array.from(hex.split(' '), (byte) => Number.parseInt(byte, 16));

describe('Damiao’s serial adapter', () => {
  it('receives the bytes that the vendor’s programs send', () => {
    const frames: Record<string, CanFrame> = {
      enable_id1: orderFrame(1, ORDER.enable, false),
      pos_vel_id2: motorFrame(0x102, false),
      refresh_id7: refreshFrame(7, false),
    };
    setPositionVelocity(frames['pos_vel_id2']!, 1, 1.0996);
    for (const { name, expected_hex } of of('dk1_usb2can', 'encode')) {
      const out = new Uint8Array(40).fill(0xee);
      assert.equal(encodeToAdapter(frames[name]!, out, 3), 33, name);
      assert.deepEqual(out.slice(3, 33), bytesOf(expected_hex), name);
    }
    assert.equal(encodeToAdapter(motorFrame(1, true), new Uint8Array(30), 0), -1, 'no FD');
    assert.equal(encodeToAdapter(emptyFrame(0x800), new Uint8Array(30), 0), -1);
  });

  it('is decoded however its bytes are split, and resynchronises after garbage', () => {
    const [vector] = of('dk1_usb2can', 'decode');
    const message = bytesOf(vector!.expected_hex);
    const whole = Uint8Array.from([
      ...message.subarray(5),
      ...message,
      0xaa,
      0x11,
      7,
      ...message,
      0xaa,
      0x02,
      ...message.subarray(2),
      ...message,
    ]);
    for (let cut = 1; cut < whole.length; cut += 3) {
      const seen: string[] = [];
      const other: number[] = [];
      let garbage = 0;
      const decoder = new FromAdapterDecoder({
        onFrame: (frame) => seen.push(frameText(frame)),
        onGarbage: () => garbage++,
        onOther: (kind) => other.push(kind),
      });
      for (let at = 0; at < whole.length; at += cut) decoder.push(whole.subarray(at, at + cut));
      assert.deepEqual(seen, Array(3).fill('012#1011121314151617'), `cut ${cut}`);
      assert.deepEqual(other, [2]);
      assert.ok(garbage > 0);
    }
  });

  it('always resynchronises, whatever arrives', () => {
    const frame = motorFrame(0x12, false);
    frame.data.set([0xaa, 0x11, 0x55, 0xaa, 0x55, 0x11, 0xaa, 0x55]);
    const clean = new Uint8Array(16 * 4);
    for (let i = 0; i < 4; i++) encodeFromAdapter(frame, clean, 16 * i);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (noise) => {
        let last = '';
        const decoder = new FromAdapterDecoder({
          onFrame: (received) => {
            last = frameText(received);
          },
          onGarbage: () => {},
          onOther: () => {},
        });
        decoder.push(noise);
        decoder.push(new Uint8Array(16));
        decoder.push(clean);
        return last === frameText(frame);
      }),
    );
  });

  it('decodes a host’s frames in the simulator', () => {
    const out = new Uint8Array(60);
    const frame = orderFrame(7, ORDER.enable, false);
    encodeToAdapter(frame, out, encodeToAdapter(frame, out, 0));
    const received: string[] = [];
    const decoder = new ToAdapterDecoder(
      (own) => received.push(frameText(own)),
      () => {},
    );
    for (const byte of [1, 2, 0x55, ...out]) decoder.push(Uint8Array.of(byte), 1);
    assert.deepEqual(received, [frameText(frame), frameText(frame)]);
  });
});
