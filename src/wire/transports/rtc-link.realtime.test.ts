import assert from 'node:assert/strict';
import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { after, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataChannel } from 'node-datachannel';
import { needsPackage } from '../../../test/needs.ts';
import { splitCandidates } from '../../messages/session-description.ts';
import { hold } from './rtc-hold.ts';
import { RtcLink } from './rtc-link.ts';
import { loadRtc } from './webrtc.ts';

const rtc = await loadRtc().catch(() => null);
const skip = await needsPackage('node-datachannel');

after(() => rtc?.cleanup());

async function until(what: string, done: () => boolean): Promise<void> {
  for (const endMs = performance.now() + 5000; performance.now() < endMs; await sleep(5)) if (done()) return;
  throw new Error(`not ${what}`);
}

it('the offering side counts unexpected messages and does not deliver them', { skip }, async () => {
  const received: string[] = [];
  let strays = 0;
  const settings = { ice: [], bindAddress: '127.0.0.1', relayOnly: false, cameras: ['front'] };
  const link = new RtcLink(rtc!, settings, {
    datagram: (bytes) => void received.push(`datagram ${bytes.length}`),
    control: (text) => void received.push(`control ${text}`),
    camera: (name, bytes) => void received.push(`${name} ${bytes.length}`),
    stray: () => void strays++,
    opened() {},
    closed() {},
  });
  const peer = new rtc!.PeerConnection('stranger', { iceServers: [], bindAddress: '127.0.0.1' });
  const channels = new Map<string, DataChannel>();
  peer.onDataChannel((channel) => {
    hold(channel);
    channels.set(channel.getLabel(), channel);
  });
  const gathered = new Promise<void>((resolve) => {
    peer.onGatheringStateChange((state) => {
      if (state === 'complete') resolve();
    });
  });
  const { sdp, candidates } = splitCandidates(await link.description());
  peer.setRemoteDescription(sdp, 'offer');
  await gathered;
  assert.equal(link.accept(peer.localDescription()!.sdp), null);
  for (const { candidate, mid } of candidates) peer.addRemoteCandidate(candidate, mid);
  await until(
    'open',
    () => link.isOpen && ['link', 'control', 'camera:front'].every((each) => channels.has(each)),
  );
  channels.get('link')!.sendMessage('text');
  channels.get('control')!.sendMessageBinary(Uint8Array.of(1));
  channels.get('control')!.sendMessage('x'.repeat(5000));
  channels.get('camera:front')!.sendMessage('text');
  const unexpected = ['link', 'more'].map((label) => peer.createDataChannel(label));
  for (const channel of unexpected) hold(channel);
  await until('counted', () => strays === 6);
  await until('closed', () => unexpected.every((channel) => !channel.isOpen()));
  channels.get('control')!.sendMessage('message');
  await until('received', () => received.length > 0);
  assert.deepEqual(received, ['control message']);
  assert.ok(link.isOpen);
  for (const channel of [...channels.values(), ...unexpected]) channel.close();
  peer.close();
  link.close();
});

interface End {
  link: RtcLink;
  received: number[];
}

function endOf(settings: { packets: boolean }, offer?: string): End {
  const received: number[] = [];
  const handlers = {
    datagram: (bytes: Uint8Array) =>
      void received.push(new DataView(bytes.buffer, bytes.byteOffset).getUint32(0)),
    ...{ control() {}, opened() {}, closed() {} },
  };
  const all = { ice: [], bindAddress: '127.0.0.1', relayOnly: false, cameras: [], ...settings };
  return { link: new RtcLink(rtc!, all, handlers, offer), received };
}

const CANDIDATE = /(127\.0\.0\.1) (\d+) typ/g;

/** A path between two ends, which loses what `isLost` says; `toPort` is one of the ends. */
async function lossyPath(toPort: number, isLost: () => boolean): Promise<{ port: number; close(): void }> {
  const [front, rear] = [createSocket('udp4'), createSocket('udp4')];
  for (const socket of [front, rear]) await once(socket.bind(0, '127.0.0.1'), 'listening');
  let other: RemoteInfo | null = null;
  front.on('message', (bytes, from) => {
    other = from;
    if (!isLost()) rear.send(bytes, toPort, '127.0.0.1');
  });
  rear.on('message', (bytes) => {
    if (other !== null && !isLost()) front.send(bytes, other.port, '127.0.0.1');
  });
  return { port: front.address().port, close: () => void [front, rear].map((socket) => socket.close()) };
}

/** Both ends, joined by a path on which bursts are lost once `isBad`. */
async function joined(packets: [robot: boolean, operator: boolean], path: { isBad: boolean }) {
  const robot = endOf({ packets: packets[0] });
  const offer = await robot.link.description();
  let count = 0;
  const between = await lossyPath(
    Number([...offer.matchAll(CANDIDATE)][0]![2]),
    () => path.isBad && count++ % 20 < 10,
  );
  const { sdp, candidates } = splitCandidates(offer);
  const rewritten = candidates.map(({ candidate }) =>
    `a=${candidate}`.replace(CANDIDATE, `$1 ${between.port} typ`),
  );
  const operator = endOf({ packets: packets[1] }, `${sdp.trimEnd()}\r\n${rewritten.join('\r\n')}\r\n`);
  const answer = await operator.link.description();
  assert.equal(robot.link.accept(splitCandidates(answer).sdp), null);
  operator.link.begin();
  await until('open', () => robot.link.isOpen && operator.link.isOpen);
  const close = () => {
    for (const { link } of [robot, operator]) link.close();
    between.close();
  };
  return { robot, operator, close };
}

async function send(ends: readonly End[], count: number, bytes: number): Promise<void> {
  const datagram = new Uint8Array(bytes);
  for (let i = 0; i < count; i++) {
    new DataView(datagram.buffer).setUint32(0, i);
    for (const { link } of ends) assert.equal(link.send(datagram), true);
    await sleep(5);
  }
}

it('bursts of losses do not hold back what follows', { skip }, async () => {
  const path = { isBad: false };
  const { robot, operator, close } = await joined([true, true], path);
  path.isBad = true;
  await send([robot, operator], 400, 300);
  for (const { received } of [robot, operator])
    assert.ok(received.length > 140, `${received.length} of 400 arrived, though only half were lost`);
  close();
});

for (const packets of [
  [true, true],
  [true, false],
  [false, true],
] as const)
  it(`datagrams of any length arrive, packets ${packets}`, { skip }, async () => {
    const { robot, operator, close } = await joined([...packets], { isBad: false });
    await send([robot, operator], 5, 300);
    await send([robot, operator], 5, 1400);
    await until('received', () => robot.received.length === 10 && operator.received.length === 10);
    close();
  });
