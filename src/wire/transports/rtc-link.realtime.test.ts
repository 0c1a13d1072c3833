import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataChannel } from 'node-datachannel';
import { needsPackage } from '../../../test/needs.ts';
import { splitCandidates } from '../../messages/session-description.ts';
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
  peer.onDataChannel((channel) => void channels.set(channel.getLabel(), channel));
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
