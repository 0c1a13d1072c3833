import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FrameReceiverConfig } from '../../src/camera/channel/frame-receiver.ts';
import type { FrameSender, FrameSenderConfig } from '../../src/camera/channel/frame-sender.ts';
import { openFrameSender } from '../../src/camera/channel/sender.ts';
import { parseFrame } from '../../src/camera/channel/zmq-receiver.ts';
import { emptyPicture } from '../../src/camera/drawing.ts';
import { loadJpegCoder } from '../../src/camera/encoder.ts';
import {
  type FrameReceiverOptions,
  openFrameReceiver,
  projectedBy,
  sameClock,
} from '../../src/camera/receiver.ts';
import { MAX_SLICE_BYTES, sliceJpeg } from '../../src/camera/slices.ts';
import { Counters } from '../../src/core/counters.ts';
import { TeleopError } from '../../src/core/errors.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import type { CameraFrame, ReceivedFrame } from '../../src/messages/recording.ts';
import { curveKeys } from '../../src/wire/secure/curve-keys.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';

const coder = await loadJpegCoder();
const cameras = ['front', 'wrist'];
const HOST = '127.0.0.1';

/** Opened by a test; closed after it, whether it passed or not. */
const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const { close } of opened.splice(0)) await close();
});

async function open(config: FrameSenderConfig, counters = new Counters()): Promise<FrameSender> {
  const sender = await openFrameSender(config, (reason) => counters.add(reason));
  let closing: Promise<void> | null = null;
  const once = {
    where: sender.where,
    send: (frame: CameraFrame) => sender.send(frame),
    close: () => (closing ??= sender.close()),
  };
  opened.push(once);
  return once;
}

/** About 50 kB, like a real scene. */
const noisy = (() => {
  const picture = emptyPicture(320, 240);
  for (let i = 0; i < picture.pixels.length; i++) picture.pixels[i] = (i * 7919) % 251;
  return coder.encode(picture, 75);
})();

const senderConfig = (wire: 'zmq' | 'udp', port: number): FrameSenderConfig => ({
  wire,
  host: HOST,
  port,
  cameras,
  variant: { order: 'little', first: 0 },
  sendTo: [],
  curve: null,
});
const receiverConfig = (wire: 'zmq' | 'udp', port: number): FrameReceiverConfig => ({
  wire,
  host: HOST,
  port,
  receivePort: 0,
  cameras,
  curve: null,
});

const freePort = async (): Promise<number> => (await freeUdpPorts(1))[0]!;

const FRAME_MS = 33;

/** Time from capture until the picture is ready, as the sender reports it. */
const READY_NS = 250_000;

/** Sends pictures from both cameras until `done`. */
async function film(
  sender: FrameSender,
  done: () => boolean,
  withinMs = 20_000,
  stepMs = 10,
): Promise<number> {
  let sent = 0;
  for (let waited = 0; !done() && waited < withinMs; waited += stepMs) {
    for (const camera of cameras) {
      const captureNs = monotonicClock.nowNs();
      const encodedNs = captureNs + READY_NS;
      sender.send({ camera, captureNs, encodedNs, encoding: 'jpeg', bytes: noisy.slice() });
    }
    sent++;
    await sleep(stepMs);
  }
  return sent;
}

async function listen(config: FrameReceiverConfig, options: FrameReceiverOptions = {}) {
  const frames: ReceivedFrame[] = [];
  const counters = new Counters();
  const receiver = await openFrameReceiver(config, (frame) => frames.push(frame), {
    project: sameClock,
    remark: (reason) => counters.add(reason),
    ...options,
  });
  opened.push(receiver);
  return { frames, counters };
}

for (const wire of ['zmq', 'udp'] as const)
  describe(`camera channel over ${wire}`, () => {
    it('transfers pictures byte for byte, with their capture time on the operator’s clock', async () => {
      const port = await freePort();
      const counters = new Counters();
      const sender = await open(senderConfig(wire, port), counters);
      const offset = { ns: 5e9 };
      const receiver = await listen(receiverConfig(wire, port), {
        project: (captureNs) => projectedBy(captureNs, offset.ns, 2e5),
      });
      await film(sender, () => receiver.frames.length >= 20);
      await sender.close();
      assert.deepEqual(new Set(receiver.frames.map((frame) => frame.camera)), new Set(cameras));
      const comment = wire === 'udp' ? 2 + 2 + 'farhand-capture-ns '.length : 0;
      for (const frame of receiver.frames) {
        const digits = wire === 'udp' ? `${frame.captureNs} ${frame.encodedNs}`.length : 0;
        assert.deepEqual(
          Buffer.from(frame.bytes.subarray(2 + comment + digits)),
          Buffer.from(noisy.subarray(2)),
        );
        assert.equal(frame.captureOperatorNs, frame.captureNs - 5e9);
        assert.equal(frame.uncertaintyNs, 2e5);
        assert.equal(frame.encodedNs, frame.captureNs + READY_NS);
        assert.ok(frame.arrivedNs >= frame.captureNs && frame.arrivedNs - frame.captureNs < 1e9);
      }
      // A loaded machine may lose slices; what arrives is never rejected as invalid.
      const counted = Object.keys(receiver.counters.snapshot());
      const lost = wire === 'udp' ? ['frame-incomplete', 'too-old'] : [];
      assert.deepEqual(
        counted.filter((reason) => !lost.includes(reason)),
        [],
      );
      assert.equal(counters.get('send-failed'), 0);
    });

    it('waits for a sender and reconnects after it was gone', async () => {
      const port = await freePort();
      const receiver = await listen(receiverConfig(wire, port), { project: () => null });
      for (let life = 1; life <= 2; life++) {
        const sender = await open(senderConfig(wire, port));
        const before = receiver.frames.length;
        await film(sender, () => receiver.frames.length >= before + 4);
        await sender.close();
        assert.ok(
          receiver.frames.length >= before + 4,
          `life ${life}: ${receiver.frames.length - before} frames`,
        );
      }
      assert.ok(
        receiver.frames.every((frame) => Number.isNaN(frame.captureOperatorNs)),
        'no capture time without an offset',
      );
    });

    it('serves two receivers', async () => {
      const port = await freePort();
      const sender = await open(senderConfig(wire, port));
      const receivers = [await listen(receiverConfig(wire, port)), await listen(receiverConfig(wire, port))];
      await film(sender, () => receivers.every((receiver) => receiver.frames.length >= 6));
      await sender.close();
      assert.ok(receivers.every((receiver) => receiver.frames.length >= 6));
    });

    it('reports a port that is in use, with a remedy', async () => {
      const port = await freePort();
      const sender = await open(senderConfig(wire, port));
      await assert.rejects(
        () => openFrameSender(senderConfig(wire, port), () => {}),
        (error) =>
          error instanceof TeleopError &&
          error.code === 'port-in-use' &&
          error.hint.includes('cameras.port='),
      );
      await sender.close();
      await assert.rejects(
        () => openFrameSender({ ...senderConfig(wire, port), host: '203.0.113.7' }, () => {}),
        (error) => error instanceof TeleopError && error.code === 'socket-failed',
      );
    });
  });

describe('camera channel over zmq', () => {
  it('rejects invalid frames with a reason', () => {
    const text = (value: string) => new TextEncoder().encode(value);
    const good = [text('front'), text('123456789'), text('jpeg'), noisy];
    const parse = (parts: Uint8Array[]) => parseFrame(parts, cameras, 7);
    assert.deepEqual(parse(good), {
      camera: 'front',
      captureNs: 123456789,
      encodedNs: Number.NaN,
      bytes: noisy,
      firstNs: 7,
    });
    const ready = parse([...good, text('123456999')]);
    assert.equal(typeof ready === 'string' ? ready : ready.encodedNs, 123456999);
    const odd = parse([...good, text('soon')]);
    assert.ok(typeof odd !== 'string' && Number.isNaN(odd.encodedNs), 'a picture is accepted without it');
    const bad: [number, Uint8Array, string][] = [
      [0, text('elsewhere'), 'unknown-source'],
      [0, new Uint8Array(1000), 'unknown-source'],
      [1, text('-5'), 'malformed'],
      [1, text('1e9'), 'malformed'],
      [1, text(''), 'malformed'],
      [1, text('0'), 'malformed'],
      [1, text('999999999999999999999'), 'malformed'],
      [2, text('png'), 'bad-tag'],
      [3, new Uint8Array(0), 'malformed'],
      [3, noisy.subarray(0, 400), 'malformed'],
    ];
    for (const [part, value, reason] of bad) assert.equal(parse(good.with(part, value)), reason);
    for (let length = 0; length < 4; length++) assert.equal(parse(good.slice(0, length)), 'short');
  });

  it('delivers pictures only to holders of the key', async () => {
    const keys = curveKeys(new Uint8Array(32).fill(7));
    const others = curveKeys(new Uint8Array(32).fill(8));
    const port = await freePort();
    const sender = await open({ ...senderConfig('zmq', port), curve: keys.server });
    const config = receiverConfig('zmq', port);
    const friend = await listen({ ...config, curve: keys.client });
    const stranger = await listen({ ...config, curve: others.client });
    const plain = await listen(config);
    await film(sender, () => friend.frames.length >= 20);
    await sender.close();
    assert.ok(friend.frames.length >= 20);
    assert.deepEqual([stranger.frames.length, plain.frames.length], [0, 0]);
  });

  it('drops at the sender while a receiver is stuck, and leaves no backlog', async () => {
    const port = await freePort();
    const sender = await open(senderConfig('zmq', port));
    const relay = await stallingRelay(port);
    const slow = await listen(receiverConfig('zmq', relay.port));
    const quick = await listen(receiverConfig('zmq', port));
    await film(sender, () => slow.frames.length >= 10 && quick.frames.length >= 10);
    relay.stall();
    const before = quick.frames.length;
    const sent = await film(sender, () => false, 1200, FRAME_MS);
    const during = quick.frames.length - before;
    assert.ok(during > 1.6 * sent, `the other receiver got ${during} of ${2 * sent}`);
    relay.resume();
    const resumedNs = monotonicClock.nowNs();
    await film(sender, () => slow.frames.some((frame) => frame.captureNs > resumedNs + 1e8), 4000, FRAME_MS);
    await sender.close();
    const fresh = slow.frames.filter((frame) => frame.captureNs > resumedNs + 1e8);
    assert.ok(fresh.length > 0 && fresh[0]!.arrivedNs - fresh[0]!.captureNs < 3e8, 'up to date again');
  });
});

describe('camera channel over udp', () => {
  it('sends nothing without a valid request', async () => {
    const port = await freePort();
    const counters = new Counters();
    const sender = await open(senderConfig('udp', port), counters);
    const stranger = createSocket('udp4');
    let received = 0;
    stranger.on('message', () => received++);
    for (let i = 0; i < 5; i++) stranger.send(`please ${i}`, port, HOST);
    await film(sender, () => false, 200);
    stranger.close();
    await sender.close();
    assert.equal(received, 0);
    assert.equal(counters.get('malformed'), 5);
  });

  it('receives a third-party sender that pushes: big-endian, sections from 1, no stamp', async () => {
    const [port] = await freeUdpPorts(1);
    const receiver = await listen({ ...receiverConfig('udp', 9), receivePort: port!, cameras: ['front'] });
    const foreign = createSocket('udp4');
    const packet = new Uint8Array(MAX_SLICE_BYTES);
    for (let id = 1000; id < 1010 && receiver.frames.length < 3; id++) {
      sliceJpeg(noisy, id, { order: 'big', first: 1 }, packet, (length) =>
        foreign.send(packet.slice(0, length), port!, HOST),
      );
      await sleep(30);
    }
    foreign.close();
    assert.ok(receiver.frames.length >= 3, `${receiver.frames.length} frames`);
    const frame = receiver.frames[0]!;
    assert.deepEqual(Buffer.from(frame.bytes), Buffer.from(noisy));
    assert.ok(frame.captureNs <= frame.arrivedNs && frame.arrivedNs - frame.captureNs < 1e9);
    assert.equal(frame.captureOperatorNs, frame.captureNs);
    assert.ok(Number.isNaN(frame.uncertaintyNs), 'the error is unknown');
  });

  it('keeps only the newest picture while an earlier one is being sent', async () => {
    const port = await freePort();
    const counters = new Counters();
    const sender = await open(senderConfig('udp', port), counters);
    const receiver = await listen(receiverConfig('udp', port));
    await film(sender, () => receiver.frames.length >= 2);
    // Within one turn of the event loop only the first can have been sent.
    const captures = Array.from({ length: 10 }, (_, i) => monotonicClock.nowNs() + i);
    for (const captureNs of captures)
      sender.send({ camera: 'front', captureNs, encoding: 'jpeg', bytes: noisy });
    await sleep(150);
    await sender.close();
    const came = receiver.frames.map((frame) => frame.captureNs).filter((ns) => captures.includes(ns));
    assert.deepEqual(came, [captures[0], captures[9]]);
    assert.equal(counters.get('frame-dropped'), 8);
  });
});

/** A TCP relay that can stop reading from the sender. */
async function stallingRelay(to: number) {
  const pairs: [Socket, Socket][] = [];
  const server = createServer((near) => {
    const far = connect(to, HOST);
    for (const socket of [near, far]) socket.on('error', () => {});
    far.pipe(near);
    near.pipe(far);
    pairs.push([near, far]);
  });
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  const relay = {
    port: (server.address() as { port: number }).port,
    stall() {
      for (const [near, far] of pairs) {
        far.unpipe(near);
        far.pause();
      }
    },
    resume() {
      for (const [near, far] of pairs) far.pipe(near);
    },
    close() {
      for (const pair of pairs) for (const socket of pair) socket.destroy();
      server.close();
    },
  };
  opened.push(relay);
  return relay;
}
