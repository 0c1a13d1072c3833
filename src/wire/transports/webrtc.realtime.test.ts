import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { needsPackage } from '../../../test/needs.ts';
import { DataPeer, loadRtc, type RtcSignal } from './webrtc.ts';

const rtc = await loadRtc().catch((error: Error) => error);
const skip = await needsPackage('node-datachannel');

async function until(what: string, holds: () => boolean): Promise<void> {
  for (let i = 0; i < 500 && !holds(); i++) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.ok(holds(), what);
}

/** A browser's part, played by the same library: answers the offer and adopts the channels. */
function visitor(toPeer: (signal: RtcSignal) => void) {
  if (rtc instanceof Error) throw rtc;
  const connection = new rtc.PeerConnection('browser', { iceServers: [], bindAddress: '127.0.0.1' });
  const channels = new Map<string, ReturnType<typeof connection.createDataChannel>>();
  const received: string[] = [];
  connection.onLocalDescription((sdp, type) => type === 'answer' && toPeer({ type, sdp }));
  connection.onLocalCandidate((candidate, mid) => toPeer({ candidate, mid }));
  connection.onDataChannel((channel) => {
    channels.set(channel.getLabel(), channel);
    channel.onMessage((data) => received.push(String(data)));
  });
  return { connection, channels, received };
}

describe('peer connection', { skip }, () => {
  after(() => {
    if (!(rtc instanceof Error)) rtc.cleanup();
  });

  it('connects, carries both channels in both directions, and reports its end', async () => {
    if (rtc instanceof Error) return;
    const signals: RtcSignal[] = [];
    const changes: boolean[] = [];
    const received: { data: string; reliable: boolean }[] = [];
    const browser = visitor((signal) => void peer.accept(signal));
    const peer = new DataPeer(rtc, '127.0.0.1', {
      signal: (signal) => {
        signals.push(signal);
        if ('sdp' in signal) browser.connection.setRemoteDescription(signal.sdp, 'offer');
        else browser.connection.addRemoteCandidate(signal.candidate, signal.mid);
      },
      message: (data, reliable) => {
        received.push({
          data: typeof data === 'string' ? data : Buffer.from(data).toString('hex'),
          reliable,
        });
      },
      changed: (open) => changes.push(open),
    });
    assert.equal(peer.send('too early'), false);
    await until('open', () => peer.open);
    assert.equal((signals[0] as { type: string }).type, 'offer');
    assert.ok(
      signals.every((signal) => !('candidate' in signal) || signal.candidate.includes('127.0.0.1')),
      'only the bound address',
    );
    await until('channels', () => browser.channels.size === 2);
    browser.channels.get('poses')!.sendMessageBinary(Uint8Array.from([1, 2, 3]));
    browser.channels.get('control')!.sendMessage('stop');
    await until('messages', () => received.length === 2);
    assert.deepEqual(
      received.sort((a, b) => a.data.localeCompare(b.data)),
      [
        { data: '010203', reliable: false },
        { data: 'stop', reliable: true },
      ],
    );
    assert.equal(peer.send('probe'), true);
    await until('probe', () => browser.received.includes('probe'));
    browser.connection.close();
    await until('gone', () => !peer.open);
    assert.deepEqual(changes, [true, false]);
    peer.close();
    assert.equal(peer.send('too late'), false);
  });

  it('ignores invalid signals', () => {
    if (rtc instanceof Error) return;
    const peer = new DataPeer(rtc, '127.0.0.1', { signal() {}, message() {}, changed() {} });
    for (const odd of [
      null,
      1,
      {},
      { type: 'offer', sdp: 'x' },
      { type: 'answer', sdp: 'v=0 rubbish' },
      { candidate: 7 },
    ])
      assert.equal(peer.accept(odd), false, JSON.stringify(odd));
    assert.equal(peer.accept({ type: 'answer', sdp: 'x'.repeat(20_000) }), false);
    peer.close();
    peer.close();
  });
});
