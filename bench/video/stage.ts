import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { type LinkEmulator, startLinkEmulator } from '../../src/app/link-emulator.ts';
import { freeTcpPort, freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { launchChromium } from '../../test/e2e/chromium.ts';
import { LOOPBACK_PEERS } from '../../test/e2e/emulated-headset.ts';
import { startFarhand } from '../../test/e2e/farhand.ts';
import { startFleetWorld } from '../../test/e2e/fleet-rig.ts';
import { type ShownPicture, shownPictures, watchScreen } from '../../test/e2e/screen-strip.ts';
import { startTurn } from '../../test/e2e/turn-server.ts';
import { Lifetime } from '../../test/lifetime.ts';
import { until } from '../../test/until.ts';

export type Codec = 'jpeg' | 'h264';

export interface Watched {
  pictures: ShownPicture[];
  kbitS: number;
  inBrowser: BrowserSeen;
}

/** What the browser counted while a video was watched; times per picture. Zeros for JPEG. */
export interface BrowserSeen {
  /** From the first packet of a picture to its decoding, and the decoding itself. */
  bufferMs: number;
  decodeMs: number;
  keys: number;
  /** Packets requested again, and requests for a key picture. */
  nacks: number;
  plis: number;
}

const TURN = '127.0.0.2';
const SECRET = 'bench';
const CAMERA = 'front';
const ROBOTS: readonly Codec[] = ['jpeg', 'h264'];

/** The page reaches the TURN server directly: only the robot's side is emulated. */
const directly = (port: number): string => `window.RTCPeerConnection = class extends RTCPeerConnection {
  constructor({ iceServers }) {
    super({ iceServers: iceServers.map((server) => ({ ...server, urls: 'turn:${TURN}:${port}' })) });
    window.__peer = this;
  }
};`;

/** Sums since the session began, as the browser counts them. */
const RECEIVED = `(async () => {
  const sums = { ms: performance.now(), bytes: 0, bufferS: 0, emitted: 0, decodeS: 0, decoded: 0, keys: 0, nacks: 0, plis: 0 };
  for (const entry of (await window.__peer.getStats()).values()) {
    if (entry.type === 'data-channel' && entry.label.startsWith('camera:')) sums.bytes += entry.bytesReceived;
    if (entry.type !== 'inbound-rtp' || entry.kind !== 'video') continue;
    sums.bytes += entry.bytesReceived + entry.headerBytesReceived;
    sums.bufferS += entry.jitterBufferDelay;
    sums.emitted += entry.jitterBufferEmittedCount;
    sums.decodeS += entry.totalDecodeTime;
    sums.decoded += entry.framesDecoded;
    sums.keys += entry.keyFramesDecoded;
    sums.nacks += entry.nackCount;
    sums.plis += entry.pliCount;
  }
  return sums;
})()`;
type Sums = Record<
  'ms' | 'bytes' | 'bufferS' | 'emitted' | 'decodeS' | 'decoded' | 'keys' | 'nacks' | 'plis',
  number
>;

/**
 * Two robots of a fleet with one camera each, a console and a browser. Everything between robot and page goes
 * through a TURN server, which the robot reaches over an emulated link.
 */
export class VideoStage {
  readonly link: LinkEmulator;
  readonly #browser: Browser;
  readonly #url: string;
  readonly #turnPort: number;
  readonly #life: Lifetime;

  private constructor(life: Lifetime, link: LinkEmulator, browser: Browser, url: string, turnPort: number) {
    this.#life = life;
    this.link = link;
    this.#browser = browser;
    this.#url = url;
    this.#turnPort = turnPort;
  }

  static async open(folder: string, camera: string, settings: readonly string[]): Promise<VideoStage> {
    const life = new Lifetime();
    return life.setUp(async () => {
      const world = life.own(await startFleetWorld(folder), (it) => it.close());
      const [port = 0] = await freeUdpPorts(1);
      life.own(await startTurn(TURN, port, SECRET), (turn) => turn.kill());
      const mapping = { listen: '0', target: `${TURN}:${port}` };
      const mappings = ROBOTS.map(() => mapping);
      const link = life.own(await startLinkEmulator({ mappings }), (it) => it.close());
      const secret = path.join(folder, 'secret');
      writeFileSync(secret, SECRET);
      for (const [i, codec] of ROBOTS.entries()) {
        const creds = await world.credentials(codec, 'robot', [codec]);
        const cameraPort = await freeTcpPort('127.0.0.1', 24_760 + 10 * i);
        const robot = startFarhand([
          ...['robot', '--fleet', world.server.url, '--creds', creds, 'fleet.rtcAddress=127.0.0.1'],
          ...['trace.dir=', `cameras.list.${CAMERA}=${camera}`, `cameras.port=${cameraPort}`],
          ...[`fleet.iceServers=[turn:127.0.0.1:${link.ports[i]}]`, `fleet.turnSecretFile=${secret}`],
          ...['fleet.relayOnly=true', `fleet.video=${codec}`, ...settings],
        ]);
        life.own(robot, (it) => it.end());
        await robot.waitFor(/on the fleet/);
      }
      const ann = await world.credentials('ann', 'operator', [...ROBOTS]);
      const access = ['--server', world.server.url, '--creds', ann, '--port', '0'];
      const served = life.own(startFarhand(['fleet', 'console', ...access]), (it) => it.end());
      const [, url = ''] = await served.waitFor(/fleet console: (http:\S+)/);
      const browser = life.own(await launchChromium(LOOPBACK_PEERS, 0), (it) => it.close());
      return new VideoStage(life, link, browser, url, port);
    });
  }

  /** What a page shows of one robot's camera, for each of the links in turn; `settleS` is not counted. */
  async watch(
    codec: Codec,
    links: readonly LinkSetting[],
    settleS: number,
    seconds: number,
  ): Promise<Watched[]> {
    const page = await this.#browser.newPage({ viewport: { width: 900, height: 600 } });
    try {
      await page.addInitScript(directly(this.#turnPort));
      await page.goto(`${this.#url}?robot=${codec}`);
      const about = () => page.locator('body').innerText();
      const tile = page.getByTestId(`camera-${CAMERA}`);
      await until(`a camera as ${codec}`, () => tile.isVisible(), about, 150_000);
      await watchScreen(page, CAMERA);
      // Each call returns what is new.
      let seen = 0;
      const isShown = async () => {
        seen += (await shownPictures(page, CAMERA)).length;
        return seen > 10;
      };
      await until('pictures', isShown, () => `${seen} seen`, 60_000);
      const all: Watched[] = [];
      for (const link of links) {
        await this.link.set(link);
        await sleep(1000 * settleS);
        all.push(await measure(page, seconds));
      }
      return all;
    } finally {
      await this.link.set({ profile: 'off' });
      await page.close();
    }
  }

  close(): Promise<void> {
    return this.#life.end();
  }
}

export type LinkSetting = Parameters<LinkEmulator['set']>[0];

async function measure(page: Page, seconds: number): Promise<Watched> {
  await shownPictures(page, CAMERA);
  const before = await page.evaluate<Sums>(RECEIVED);
  await sleep(1000 * seconds);
  const pictures = await shownPictures(page, CAMERA);
  const after = await page.evaluate<Sums>(RECEIVED);
  const more = (name: keyof Sums) => after[name] - before[name];
  const mean = (seconds: keyof Sums, count: keyof Sums) => (1000 * more(seconds)) / Math.max(1, more(count));
  return {
    pictures,
    kbitS: (8 * more('bytes')) / more('ms'),
    inBrowser: {
      bufferMs: mean('bufferS', 'emitted'),
      decodeMs: mean('decodeS', 'decoded'),
      ...{ keys: more('keys'), nacks: more('nacks'), plis: more('plis') },
    },
  };
}
