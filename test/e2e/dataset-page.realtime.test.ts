import assert from 'node:assert/strict';
import { linkSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { openConsole } from '../../src/app/open-console.ts';
import { loadJpegCoder } from '../../src/camera/encoder.ts';
import type { ConsoleHandle } from '../../src/console/server.ts';
import { exportLeRobot } from '../../src/record/export/export-lerobot.ts';
import { findEpisodes } from '../../src/record/export/sources.ts';
import { checkDataset } from '../../src/record/lerobot/check.ts';
import { emptyInfo, received, rowOf, START_NS, startOf } from '../../src/record/test-episode.ts';
import { EpisodeWriter } from '../../src/record/writer.ts';
import { loadRig, type Rig } from '../../src/rig/rig.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { launchChromium } from './chromium.ts';
import { root } from './farhand.ts';

const [WIDTH, HEIGHT] = [96, 64];
const ROWS = 60;
const MANY = 1000;
const coder = await loadJpegCoder();

function picture(n: number): Uint8Array {
  const pixels = new Uint8Array(WIDTH * HEIGHT);
  for (let i = 0; i < pixels.length; i++)
    pixels[i] = Math.abs((i % WIDTH) - ((n * 5) % WIDTH)) < 9 ? 230 : 30 + Math.floor(i / WIDTH);
  return coder.encodeGrey(pixels, WIDTH, HEIGHT, 80);
}

function writeRecording(dir: string, id: string, salt: number): string {
  const info = { ...emptyInfo(id, 6, ['front']), task: `task ${salt}` };
  const file = path.join(dir, `${id}.mcap`);
  const writer = new EpisodeWriter(file, startOf(info));
  for (let i = 0; i < ROWS; i++) {
    const sampledNs = START_NS + i * 30e6;
    const pictures = new Map([['front', { ...received('front', i, 0), bytes: picture(i + 7 * salt) }]]);
    writer.row({ ...rowOf(i, 6, pictures, sampledNs), timeNs: i * 30e6 }, sampledNs, pictures);
  }
  writer.close({ ...info, rows: ROWS, durationS: (ROWS - 1) * 0.03, complete: true });
  return file;
}

describe('datasets on the page', { skip: needs('chromium') || needs('ffmpeg') }, () => {
  const home = temporaryFolder();
  const dir = path.join(home, 'recordings');
  const datasets = path.join(home, 'datasets');
  let browser: Browser;
  let page: Page;
  let served: ConsoleHandle;

  before(async () => {
    mkdirSync(dir);
    for (const [n, name] of ['cups', 'cups', 'lids', 'odd'].entries()) {
      writeRecording(dir, `20260101-12000${n}-001`, n);
      const episodes = await findEpisodes([`20260101-12000${n}-001`], dir);
      const out = path.join(datasets, name);
      await exportLeRobot({ dir: out, episodes, codec: 'h264', fps: 30, maxGapS: 1, version: '0' });
    }
    const [deskPort, telemetryPort] = await freeUdpPorts(2);
    const ports = [`console.deskPort=${deskPort}`, `console.telemetryPort=${telemetryPort}`];
    const { config } = loadRig('demo', ['link.security=plain', 'console.port=0', ...ports]);
    served = await openConsole({ ...config, record: { dir } } as Rig);
    browser = await launchChromium();
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.goto(`${served.url}#/record`);
    await page.getByTestId('datasets').waitFor();
  });

  after(async () => {
    await browser?.close();
    await served?.close();
    rmSync(home, { recursive: true, force: true });
  });

  const rows = async (name: string): Promise<number> => {
    const { problems, info } = await checkDataset(path.join(datasets, name), 'all');
    assert.deepEqual(problems.list, []);
    return info!.total_frames;
  };
  const idle = async (episodes: string) => {
    await page.locator('[data-testid=dataset-stats]:not([disabled])').waitFor({ timeout: 60_000 });
    await page.locator(`[data-testid=dataset] option:has-text("${episodes}")`).waitFor({ state: 'attached' });
  };

  it('trims an episode and merges with a chosen dataset; the results satisfy every rule', async () => {
    await page.getByTestId('dataset').selectOption('cups');
    await page.getByTestId('dataset-episode-1').check();
    await page.getByTestId('dataset-from').fill('0.4');
    await page.getByTestId('dataset-to').fill('1.2');
    const before = await rows('cups');
    await page.getByTestId('dataset-trim').click();
    await page.getByTestId('dataset-trim').waitFor({ state: 'detached' });
    await idle('cups (2)');
    const trimmed = await rows('cups');
    // Up to two rows earlier, for a key picture.
    const removed = before - trimmed;
    const episode = before / 2;
    assert.ok(Math.abs(episode - removed - 0.8 * 30) <= 3, `${removed} of ${episode} rows removed`);
    await page.getByTestId('dataset-text').fill('all');
    await page.getByTestId('dataset-other').selectOption('odd');
    await page.getByTestId('dataset-merge').click();
    await idle('all (3)');
    assert.equal(await rows('all'), trimmed + (await rows('odd')));
    await page.screenshot({ path: path.join(root, 'artifacts', 'console-datasets.png'), fullPage: true });
  });

  it('opens a thousand recordings', async () => {
    const first = path.join(dir, '20260101-120000-001.mcap');
    for (let n = 0; n < MANY; n++)
      linkSync(first, path.join(dir, `20260201-${String(100_000 + n)}-001.mcap`));
    const startedMs = performance.now();
    await page.reload();
    await page.locator(`.episodes li:nth-child(${MANY})`).waitFor({ state: 'attached', timeout: 60_000 });
    console.log(
      `${MANY} recordings shown ${((performance.now() - startedMs) / 1000).toFixed(2)} s after a reload`,
    );
    assert.ok(performance.now() - startedMs < 20_000);
  });
});
