import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { launchChromium } from './chromium.ts';
import { type Running, startFarhand } from './farhand.ts';
import { type FleetWorld, startFleetWorld } from './fleet-rig.ts';
import { startTurn, type TurnServer } from './turn-server.ts';

const skip = needs('nats-server', 'chromium', 'turnserver');
const SECRET = 'shared with the server';
// A TURN server permits peers by address, so it has another one than both ends.
const TURN = '127.0.0.2';

// The session's process, Chromium and the TURN server start one after the other.
describe('a page that drives through TURN', { skip, timeout: 180_000 }, () => {
  const folder = temporaryFolder();
  const running: Running[] = [];
  let world: FleetWorld;
  let turn: TurnServer;
  let browser: Browser;

  before(async () => {
    world = await startFleetWorld(folder);
    const [port = 0] = await freeUdpPorts(1);
    turn = await startTurn(TURN, port, SECRET);
    const secret = path.join(folder, 'secret');
    writeFileSync(secret, SECRET);
    const arm = await world.credentials('arm', 'robot');
    const ice = [
      `fleet.iceServers=[turn:${TURN}:${port}]`,
      `fleet.turnSecretFile=${secret}`,
      'fleet.relayOnly=true',
    ];
    const settings = ['fleet.rtcAddress=127.0.0.1', 'trace.dir=', ...ice];
    const robot = startFarhand(['robot', '--fleet', world.server.url, '--creds', arm, ...settings]);
    running.push(robot);
    await robot.waitFor(/on the fleet/);
    browser = await launchChromium();
  });
  after(async () => {
    await browser?.close();
    await Promise.all(running.map((child) => child.end()));
    await turn?.kill();
    await world?.close();
  });

  it('shows that the path is relayed, and loses it with the TURN server', async () => {
    const file = await world.credentials('ann', 'operator');
    const served = startFarhand([
      'fleet',
      'console',
      '--server',
      world.server.url,
      '--creds',
      file,
      '--port',
      '0',
    ]);
    running.push(served);
    const [, url = ''] = await served.waitFor(/fleet console: (http:\S+)/);
    const page = await browser.newPage({ viewport: { width: 840, height: 480 } });
    await page.addInitScript(KEEP_PEER);
    await page.goto(`${url}?robot=arm`);
    const text = async (id: string) =>
      (await page
        .getByTestId(id)
        .textContent()
        .catch(() => '')) ?? '';
    const about = async () => `${await text('state')} ${await text('path')} ${await text('why')}`;
    await until('a relayed path', async () => /relay/.test(await text('path')), about, 90_000);
    assert.match(await text('state'), /idle|disconnected|stopped/);
    // The browser's own view of the path.
    const [kind, address] = await page.evaluate<string[]>(PAIR);
    assert.ok(kind === 'relay' || address === TURN, `${kind} ${address}`);
    assert.match(turn.said(), /user <\d+:ann>/);
    await turn.kill();
    await until('lost', async () => !/relay/.test(await text('path')), about, 60_000);
    await page.close();
  });
});

const KEEP_PEER = `window.RTCPeerConnection = class extends RTCPeerConnection {
  constructor(settings) {
    super(settings);
    window.__farhandPeer = this;
  }
};`;

/** The kind of the pair's remote candidate, and its address. */
const PAIR = `(async () => {
  for (const [, pair] of await window.__farhandPeer.getStats())
    if (pair.type === 'candidate-pair' && pair.nominated) {
      const remote = (await window.__farhandPeer.getStats()).get(pair.remoteCandidateId);
      return [remote.candidateType, remote.address];
    }
  return ['none', ''];
})()`;
