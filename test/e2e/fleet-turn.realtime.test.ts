import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { turnCredentials } from '../../src/fleet/turn.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { RtcLink } from '../../src/wire/transports/rtc-link.ts';
import { loadRtc } from '../../src/wire/transports/webrtc.ts';
import { needs } from '../needs.ts';
import { startTurn, type TurnServer } from './turn-server.ts';

const SECRET = 'shared with the server';

// The TURN server needs another address than both ends: it permits peers by address, not by port.
const [ENDS, TURN] = ['127.0.0.1', '127.0.0.2'];

describe('a peer connection through TURN', { skip: needs('turnserver') }, () => {
  let server: TurnServer;
  let port = 0;
  const links: RtcLink[] = [];

  before(async () => {
    [port = 0] = await freeUdpPorts(1);
    server = await startTurn(TURN, port, SECRET);
  });
  after(async () => {
    for (const link of links) link.close();
    await server?.kill();
  });

  /**
   * Connects both ends with credentials until `expiresS`. `received`: the far end's first datagram, or null.
   */
  async function join(expiresS: number, isNearRelayed = true, isFarRelayed = true) {
    const rtc = await loadRtc();
    const ice = [{ url: `turn:${TURN}:${port}`, ...turnCredentials(SECRET, 'ann', expiresS) }];
    const settings = (relayOnly: boolean) => ({ ice, bindAddress: ENDS, relayOnly });
    let received: Uint8Array | null = null;
    const silent = { datagram: () => {}, control: () => {}, opened: () => {}, closed: () => {} };
    const near = new RtcLink(rtc, settings(isNearRelayed), silent);
    links.push(near);
    const offer = await near.description();
    const receiver = { ...silent, datagram: (bytes: Uint8Array) => (received = bytes.slice()) };
    const far = new RtcLink(rtc, settings(isFarRelayed), receiver, offer);
    links.push(far);
    near.accept(await far.description());
    far.begin();
    for (let waits = 0; waits < (expiresS * 1000 > Date.now() ? 100 : 24) && received === null; waits++) {
      near.send(new Uint8Array([2, 7, 7]));
      await sleep(50);
    }
    // Time to find a shorter path.
    await sleep(received === null ? 0 : 700);
    return { received, offer, paths: [near.path, far.path] };
  }

  it('opens with credentials from the fleet', async () => {
    const { received, offer, paths } = await join(Date.now() / 1000 + 60);
    assert.deepEqual(received, new Uint8Array([2, 7, 7]));
    assert.match(offer, /typ relay/);
    assert.doesNotMatch(offer, /typ host/);
    assert.deepEqual(paths, ['relay', 'relay']);
  });

  it('takes no direct path if either end allows only relays', async () => {
    const expiresS = Date.now() / 1000 + 60;
    const [robot, operator, neither] = await Promise.all([
      join(expiresS, true, false),
      join(expiresS, false, true),
      join(expiresS, false, false),
    ]);
    assert.deepEqual(robot.paths, ['relay', 'relay']);
    assert.deepEqual(operator.paths, ['relay', 'relay']);
    assert.deepEqual(neither.paths, ['host', 'host']);
  });

  it('does not open with expired credentials', async () => {
    const { received, offer } = await join(Date.now() / 1000 - 60);
    assert.equal(received, null);
    assert.doesNotMatch(offer, /typ relay/);
  });
});
