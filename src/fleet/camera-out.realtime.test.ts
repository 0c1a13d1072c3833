import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FrameSenderConfig } from '../camera/channel/frame-sender.ts';
import { openFrameSender } from '../camera/channel/sender.ts';
import { withStamp } from '../camera/jpeg-structure.ts';
import { openFrameReceiver } from '../camera/receiver.ts';
import type { ReceivedFrame } from '../messages/recording.ts';
import { freeUdpPorts } from '../wire/transports/free-ports.ts';
import { CameraIn } from './camera-in.ts';
import { CameraOut } from './camera-out.ts';

const receiving = (port: number) => ({
  ...{ wire: 'udp' as const, host: '127.0.0.1', port, receivePort: 0 },
  ...{ cameras: ['front'], curve: null },
});
const sending = (port: number): FrameSenderConfig => ({
  ...{ wire: 'udp', host: '127.0.0.1', port, cameras: ['front'], sendTo: [], curve: null },
  variant: { order: 'little', first: 0 },
});

it('receives cameras at the robot only while the operator wants them', async () => {
  const requests: string[] = [];
  const host = createSocket('udp4', (bytes) => requests.push(bytes.toString()));
  await new Promise<void>((resolve) => host.bind(0, '127.0.0.1', resolve));
  const out = new CameraOut(receiving(host.address().port), () => true);
  await sleep(50);
  assert.equal(requests.length, 0);
  out.want('front', true);
  for (let waits = 0; waits < 100 && requests.length === 0; waits++) await sleep(10);
  assert.equal(requests.length, 1);
  out.want('front', false);
  await sleep(1200);
  assert.equal(requests.length, 1, 'no further request');
  out.close();
  host.close();
});

it('carries pictures from one camera channel to the other, and drops malformed messages', async () => {
  const [from = 0, to = 0] = await freeUdpPorts(2);
  const camera = await openFrameSender(sending(from), () => {});
  const far = (await CameraIn.open(sending(to)))!;
  const out: CameraOut = new CameraOut(receiving(from), (name, message) => {
    const sent = message.slice();
    setImmediate(() => far.take(name, sent, (reply) => out.receive(name, reply.slice())));
    return true;
  });
  out.want('front', true);
  const seen: ReceivedFrame[] = [];
  const viewer = await openFrameReceiver(receiving(to), (frame) => seen.push(frame));
  const jpeg = new Uint8Array(30_000).fill(9);
  jpeg.set([0xff, 0xd8]);
  jpeg.set([0xff, 0xd9], jpeg.length - 2);
  for (let i = 1; i <= 100 && seen.length < 3; i++) {
    camera.send({ camera: 'front', captureNs: 1e9 + i, encodedNs: 2e9 + i, encoding: 'jpeg', bytes: jpeg });
    await sleep(20);
  }
  assert.ok(seen.length >= 3, `${seen.length} seen`);
  for (const { captureNs, encodedNs, bytes } of seen) {
    assert.equal(encodedNs! - captureNs, 1e9, 'stamps of one picture');
    assert.ok(Buffer.from(bytes).includes(Buffer.from(withStamp(jpeg, captureNs, encodedNs).subarray(2))));
  }
  const before = seen.length;
  far.take('other', new Uint8Array(100), () => assert.fail());
  for (const bytes of [0, 3, 5, 12, 2000]) far.take('front', new Uint8Array(bytes), () => {});
  out.receive('front', new Uint8Array(3));
  assert.equal(seen.length, before);
  assert.ok(Object.keys(far.counters.snapshot()).length >= 2);
  viewer.close();
  out.close();
  await far.close();
  await camera.close();
});
