import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { freeUdpPorts } from '../../src/app/free-ports.ts';
import { turnCredentials } from '../../src/fleet/turn.ts';
import { RtcLink } from '../../src/wire/transports/rtc-link.ts';
import { loadRtc } from '../../src/wire/transports/webrtc.ts';
import { noTurn, startTurn, type TurnServer } from './turn-server.ts';

const SECRET = 'shared with the server';

// Both ends know of each other by their relayed addresses alone. On one machine they may then find a shorter way.
describe('a peer connection by way of TURN', { skip: noTurn }, () => {
  let server: TurnServer;
  let port = 0;
  const links: RtcLink[] = [];

  before(async () => {
    [port = 0] = await freeUdpPorts(1);
    server = await startTurn('127.0.0.1', port, SECRET);
  });
  after(async () => {
    for (const link of links) link.close();
    await server?.kill();
  });

  /** Both ends, with credentials that end at `expiresS`. Resolves with what the far end heard first, or null. */
  async function join(expiresS: number): Promise<{ heard: Uint8Array | null; offer: string }> {
    const rtc = await loadRtc();
    const ice = [{ url: `turn:127.0.0.1:${port}`, ...turnCredentials(SECRET, 'ann', expiresS) }];
    const settings = { ice, bindAddress: '127.0.0.1', relayOnly: true };
    let heard: Uint8Array | null = null;
    const silent = { datagram: () => {}, control: () => {}, opened: () => {}, closed: () => {} };
    const near = new RtcLink(rtc, settings, silent);
    links.push(near);
    const offer = await near.description();
    assert.doesNotMatch(offer, /typ host/);
    const far = new RtcLink(rtc, settings, { ...silent, datagram: (b) => (heard = b.slice()) }, offer);
    links.push(far);
    near.accept(await far.description());
    for (let waits = 0; waits < (expiresS * 1000 > Date.now() ? 100 : 24) && heard === null; waits++) {
      near.send(new Uint8Array([2, 7, 7]));
      await sleep(50);
    }
    return { heard, offer };
  }

  it('opens with credentials that the fleet made', async () => {
    const { heard, offer } = await join(Date.now() / 1000 + 60);
    assert.deepEqual(heard, new Uint8Array([2, 7, 7]));
    assert.match(offer, /typ relay/);
  });

  it('does not with credentials that have ended', async () => {
    const { heard, offer } = await join(Date.now() / 1000 - 60);
    assert.equal(heard, null);
    assert.doesNotMatch(offer, /typ relay/);
  });
});
