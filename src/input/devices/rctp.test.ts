import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { emptyHandSample, type HandSample } from '../../messages/hand-sample.ts';
import { emptyRctp, encodeRctp, RCTP_BYTES } from '../codecs/rctp-codec.ts';
import { emptyQuality, type InputDevice } from '../device.ts';
import rctp from './rctp.ts';

const MS = 1e6;
const PERIOD_MS = 20;
const HEADSET = 0xc0000207 * 65536 + 50_000;
const OTHER = 0xc0000208 * 65536 + 50_000;

interface Fields {
  timestampS?: number;
  positionM?: number[];
  quatXyzw?: number[];
  gripper?: number;
  tracking?: boolean;
  estop?: boolean;
  arm?: boolean;
  reset?: boolean;
}

function packet(fields: Fields): Uint8Array {
  const { positionM = [0.1, 1.2, -0.3], quatXyzw = [0, 0, 0, 1], ...rest } = fields;
  const bytes = new Uint8Array(RCTP_BYTES);
  const full = { ...emptyRctp(), gripper: 1, tracking: true, ...rest };
  full.positionM.set(positionM);
  full.quatXyzw.set(quatXyzw);
  encodeRctp(full, bytes);
  return bytes;
}

describe('rctp input', () => {
  let device: InputDevice;
  let remarks: string[];
  let nowNs: number;
  let sender: { clockS: number };
  const out: HandSample = emptyHandSample();

  const open = (values: Record<string, unknown> = {}) => {
    remarks = [];
    device = rctp.open(rctp.config.parse(values), 0, (reason) => remarks.push(reason));
  };
  /** One packet at the present instant, then a period passes. */
  const send = (fields: Fields = {}, from = HEADSET, socket = 0) => {
    const bytes = packet({ timestampS: sender.clockS, ...fields });
    const reason = device.ingest(bytes, bytes.length, nowNs, from, socket);
    bytes.fill(0xff);
    return reason;
  };
  const pass = (ms = PERIOD_MS) => {
    nowNs += ms * MS;
    sender.clockS += ms / 1000;
  };
  const sendFor = (ms: number, fields: Fields = {}) => {
    for (let t = 0; t < ms; t += PERIOD_MS) {
      pass();
      send(fields);
    }
  };
  const sample = () => ({ status: device.sample(nowNs, out), ...out });

  beforeEach(() => {
    nowNs = 100e9;
    sender = { clockS: 12.5 };
    open();
  });

  it('inverts the gripper value and keeps a right-handed pose', () => {
    send({ positionM: [0.25, 1.5, -0.5], quatXyzw: [0.5, -0.5, 0.5, 0.5], gripper: 0.75 });
    const { status, positionM, quatXyzw, gripper, tracking } = sample();
    assert.deepEqual([status, tracking, gripper], ['ok', true, 0.25]);
    assert.deepEqual([...positionM, ...quatXyzw], [0.25, 1.5, -0.5, 0.5, -0.5, 0.5, 0.5]);
  });

  it('mirrors a pose from Unity', () => {
    open({ vrFrame: 'unity' });
    send({ positionM: [0.25, 1.5, 0.5], quatXyzw: [0.5, -0.5, 0.5, 0.5] });
    const { positionM, quatXyzw } = sample();
    assert.deepEqual([...positionM, ...quatXyzw], [0.25, 1.5, -0.5, -0.5, 0.5, 0.5, 0.5]);
  });

  it('closes the clutch only after the hand has been visible for a while', () => {
    send();
    sendFor(280);
    assert.deepEqual([sample().tracking, sample().clutch], [true, false]);
    sendFor(20);
    assert.equal(sample().clutch, true);
  });

  it('ignores requests to arm and reset unless they are allowed', () => {
    sendFor(2000, { arm: true, reset: true });
    assert.deepEqual([device.armPresses, device.resetPresses], [0, 0]);
  });

  it('counts a request to arm or reset once it was held for half a second, and again after a release', () => {
    open({ armFlags: true });
    sendFor(480, { arm: true });
    assert.equal(device.armPresses, 0);
    sendFor(2000, { arm: true });
    assert.equal(device.armPresses, 1);
    sendFor(100);
    sendFor(600, { arm: true, reset: true });
    assert.deepEqual([device.armPresses, device.resetPresses], [2, 1]);
  });

  it('arms for no e-stop, no hidden hand, no stranger and no request that was interrupted', () => {
    open({ armFlags: true });
    sendFor(2000, { arm: true, reset: true, estop: true });
    sendFor(2000, { arm: true, tracking: false });
    for (let i = 0; i < 10; i++) {
      sendFor(300, { arm: true, reset: true });
      pass(200);
    }
    for (let i = 0; i < 100; i++) {
      pass();
      send({});
      send({ arm: true, reset: true }, OTHER);
    }
    assert.deepEqual([device.armPresses, device.resetPresses], [0, 0]);
  });

  it('opens the clutch in the same tick when tracking is lost, whatever the pose', () => {
    sendFor(400);
    pass();
    assert.equal(send({ tracking: false, quatXyzw: [0, 0, 0, 0], positionM: [Number.NaN, 0, 0] }), null);
    const { status, tracking, clutch } = sample();
    assert.deepEqual([status, tracking, clutch], ['ok', false, false]);
    sendFor(280);
    assert.deepEqual([sample().tracking, sample().clutch], [true, false]);
    sendFor(40);
    assert.equal(sample().clutch, true);
  });

  it('detects a loss between two ticks', () => {
    sendFor(400);
    sample();
    pass(1);
    send({ tracking: false });
    pass(1);
    send();
    assert.deepEqual([sample().tracking, sample().clutch], [true, false]);
  });

  it('is stale after the configured silence, and restarts its visibility timer', () => {
    sendFor(400);
    pass(150);
    assert.equal(sample().status, 'ok');
    pass(1);
    assert.deepEqual([sample().status, sample().tracking, sample().clutch], ['stale', false, false]);
    send();
    assert.deepEqual([sample().status, sample().clutch], ['ok', false]);
  });

  for (const [reason, fields] of [
    ['non-finite', { gripper: Number.NaN }],
    ['non-finite', { timestampS: Number.POSITIVE_INFINITY }],
    ['bad-quaternion', { quatXyzw: [0, 0, 0, 0.9] }],
    ['bad-range', { positionM: [0, 101, 0] }],
    ['bad-range', { gripper: 1.2 }],
  ] as const)
    it(`rejects ${JSON.stringify(fields)} but still forwards its e-stop`, () => {
      sendFor(400);
      const before = structuredClone(sample());
      assert.equal(send({ timestampS: sender.clockS + 0.001, ...fields, estop: true } as Fields), reason);
      assert.equal(device.estop, true);
      assert.deepEqual(sample(), before);
    });

  it('clamps a gripper that overshoots a little', () => {
    send({ gripper: 1.03 });
    assert.equal(sample().gripper, 0);
  });

  it('drops out-of-order packets but forwards their e-stop', () => {
    sendFor(100);
    const nowS = sender.clockS;
    assert.equal(send({ timestampS: nowS }), 'duplicate');
    assert.equal(send({ timestampS: nowS - 0.9, estop: true }), 'dropped-stale');
    assert.equal(device.estop, true);
    assert.equal(send({ timestampS: nowS + 0.001 }), null);
    assert.equal(device.estop, false);
  });

  it('treats a time step back of over a second as a restart: another stream, the clutch open', () => {
    sendFor(400);
    const { stream } = device;
    sender.clockS = 0.5;
    assert.equal(send(), null);
    assert.equal(device.stream, stream! + 1);
    assert.deepEqual([sample().tracking, sample().clutch], [true, false]);
    pass();
    assert.equal(send(), null);
  });

  it('keeps one sender until it is silent for a second; another sender’s e-stop is ignored', () => {
    send();
    pass();
    assert.equal(send({ estop: true }, OTHER), 'unknown-source');
    assert.equal(device.estop, false);
    pass(981);
    assert.equal(send({ estop: true }, OTHER), null);
    assert.equal(device.estop, true);
    assert.equal(send({}, HEADSET), 'unknown-source');
  });

  it('takes an e-stop, and nothing else, from another port of the same headset', () => {
    send();
    pass();
    assert.equal(send({}, HEADSET + 1), 'unknown-source');
    assert.equal(device.estop, false);
    assert.equal(send({ estop: true }, HEADSET + 1), 'unknown-source');
    assert.equal(device.estop, true);
    assert.equal(sample().estop, false, 'the hand itself is unchanged');
    assert.equal(send(), null);
    assert.equal(device.estop, false);
  });

  it('accepts only senders on its list', () => {
    open({ allow: ['192.0.2.7'] });
    assert.equal(send({}, OTHER), 'unknown-source');
    assert.equal(send(), null);
  });

  it('accepts only the e-stop from the other hand', () => {
    open({ hand: 'left', bothHands: true });
    const names = rctp.sockets?.(rctp.config.parse({ hand: 'left', bothHands: true }));
    assert.deepEqual(
      names?.map(({ name, port }) => [name, port]),
      [
        ['rctp left', 8889],
        ['rctp right', 8888],
      ],
    );
    assert.equal(send({ estop: true }, OTHER, 1), null);
    assert.equal(device.estop, true);
    assert.equal(sample().status, 'none');
    assert.equal(send(), null);
    assert.equal(sample().status, 'ok');
  });

  it('keeps three packets for a slow tick, drops the oldest, and uses the newest', () => {
    for (let i = 1; i <= 5; i++) {
      pass();
      send({ positionM: [i, 0, 0] });
    }
    assert.deepEqual(remarks, ['dropped-queue-full', 'dropped-queue-full']);
    assert.equal(sample().positionM[0], 5);
    pass();
    send({ positionM: [6, 0, 0] });
    assert.equal(sample().positionM[0], 6);
    assert.equal(remarks.length, 2);
  });

  it('measures rate, jitter and loss', () => {
    const quality = emptyQuality();
    let seed = 1;
    for (let i = 0; i < 500; i++) {
      pass();
      seed = (seed * 16807) % 2147483647;
      const lateNs = (seed / 2147483647) * 4 * MS;
      if (i > 100 && i % 10 === 0) continue;
      const bytes = packet({ timestampS: sender.clockS });
      assert.equal(device.ingest(bytes, bytes.length, nowNs + lateNs, HEADSET, 0), null);
    }
    device.quality?.(nowNs, quality);
    assert.equal(quality.lost, 39);
    assert.equal(quality.received, 461);
    assert.ok(Math.abs(quality.rateHz - 45) < 1, `${quality.rateHz} Hz`);
    // The difference of two uniform times of 4 ms is 4/3 ms on average.
    assert.ok(Math.abs(quality.jitterNs / MS - 4 / 3) < 0.6, `${quality.jitterNs / MS} ms`);
  });
});
