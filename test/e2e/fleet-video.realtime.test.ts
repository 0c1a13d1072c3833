import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { readAudit } from '../../src/fleet/audit.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { launchChromium } from './chromium.ts';
import { emulateQuest, LOOPBACK_PEERS } from './emulated-headset.ts';
import { type Running, startFarhand } from './farhand.ts';
import { type FleetWorld, startFleetWorld } from './fleet-rig.ts';
import { type ShownPicture, shownPictures, watchScreen } from './screen-strip.ts';

const skip = needs('nats-server', 'chromium', 'ffmpeg');
const CAMERA = '{ source: test-pattern, fpsHz: 10, widthPx: 320, heightPx: 240 }';

// The session's process, ffmpeg and Chromium start one after the other.
describe('a robot’s cameras as H.264', { skip, timeout: 180_000 }, () => {
  const folder = temporaryFolder();
  const running: Running[] = [];
  let world: FleetWorld;
  let browser: Browser;
  let page: Page;
  let url = '';
  const output = () => running.map((child) => child.stdout() + child.stderr()).join('\n');

  before(async () => {
    world = await startFleetWorld(folder);
    const arm = await world.credentials('arm', 'robot');
    const [port] = await freeUdpPorts(1);
    const cameras = ['left', 'right', 'wrist'].map((name) => `cameras.list.${name}=${CAMERA}`);
    const robot = startFarhand([
      ...['robot', '--fleet', world.server.url, '--creds', arm, 'fleet.rtcAddress=127.0.0.1', 'trace.dir='],
      ...[...cameras, `cameras.port=${port}`, 'cameras.stereo=[left, right]', 'fleet.video=h264'],
    ]);
    running.push(robot);
    await robot.waitFor(/on the fleet/);
    const file = await world.credentials('ann', 'operator');
    const access = ['--server', world.server.url, '--creds', file];
    const served = startFarhand(['fleet', 'console', ...access, '--port', '0']);
    running.push(served);
    [, url = ''] = await served.waitFor(/fleet console: (http:\S+)/);
    browser = await launchChromium(LOOPBACK_PEERS, 0);
    page = await browser.newPage({ viewport: { width: 840, height: 480 } });
    await page.goto(`${url}?robot=arm`);
    const tile = page.getByTestId('camera-wrist');
    const about = async () => {
      const log = await readAudit(world.admin.nats, 'arm', 20);
      return `${await page.getByTestId('state').textContent()}\n${JSON.stringify(log)}\n${output()}`;
    };
    await until('a camera', () => tile.isVisible(), about, 90_000);
  });
  after(async () => {
    await browser?.close();
    await Promise.all(running.map((child) => child.end()));
    await world?.close();
  });

  const shown = async (camera: string, count: number): Promise<ShownPicture[]> => {
    const all: ShownPicture[] = [];
    const enough = async () => {
      all.push(...(await shownPictures(page, camera)).filter(({ isVideo }) => isVideo));
      return all.length >= count;
    };
    await until(`${count} pictures of ${camera}`, enough, output, 60_000);
    return all;
  };

  it('reach the screen as video, in order', async (t) => {
    await watchScreen(page, 'wrist');
    const pictures = await shown('wrist', 40);
    const ages = pictures.map(({ ageMs }) => ageMs).sort((a, b) => a - b);
    t.diagnostic(`capture to screen: median ${ages[ages.length >> 1]!.toFixed(0)} ms`);
    for (const [i, { frame }] of pictures.entries())
      if (i > 0) assert.ok(((frame - pictures[i - 1]!.frame) & 0xffff) < 100, `${frame} at ${i}`);
    assert.ok(ages[ages.length >> 1]! < 2000, `${ages}`);
  });

  it('of a stereo pair are side by side, captured together', async () => {
    await watchScreen(page, 'left', 'left');
    await watchScreen(page, 'right', 'right');
    const [left, right] = [await shown('left', 20), await shown('right', 20)];
    assert.ok(left.length >= 20 && right.length >= 20);
    const size = await page.evaluate<number[]>(`(() => {
      const video = document.querySelector('[data-testid="camera-left"] video');
      return [video.videoWidth, video.videoHeight];
    })()`);
    assert.deepEqual(size, [640, 240]);
  });

  it('are a media layer in a headset that offers them, and else a board for each eye', async () => {
    await page.close();
    for (const offers of [true, false]) {
      const context = await browser.newContext();
      await emulateQuest(context);
      if (offers) await context.addInitScript(MEDIA_LAYERS);
      const headset = await context.newPage();
      await headset.goto(`${url}vr?robot=arm`);
      const enter = headset.locator('#enter-vr');
      await until('a headset', () => enter.isEnabled());
      await until(
        'a session',
        async () => (await headset.textContent('#state')) === 'idle',
        undefined,
        60_000,
      );
      await enter.click();
      const by = () => headset.evaluate<string>('window.__farhandXr.stereo()');
      await until('shown', async () => (await by()) === (offers ? 'media' : 'board'), by, 60_000);
      if (offers) {
        const [layout, width, height, frame, layers] = await headset.evaluate<unknown[]>('window.__layer');
        assert.deepEqual([layout, layers], ['stereo-left-right', 2]);
        // One eye's picture is 320 by 240.
        assert.ok(Math.abs((width as number) / (height as number) - 4 / 3) < 1e-6);
        assert.equal(frame, 640);
      }
      await context.close();
    }
  });
});

/** Media layers, which the emulated headset lacks: what is asked of them is kept, nothing is drawn. */
const MEDIA_LAYERS = `{
  window.XRProjectionLayer = XRWebGLLayer;
  const update = XRSession.prototype.updateRenderState;
  XRSession.prototype.updateRenderState = function ({ layers, ...state }) {
    if (layers) window.__layer.push(layers.length);
    else update.call(this, state);
  };
  window.XRMediaBinding = class {
    createQuadLayer(video, { layout, width, height }) {
      window.__layer = [layout, width, height, video.videoWidth];
      return { destroy() {} };
    }
  };
}`;
