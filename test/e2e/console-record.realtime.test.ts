import assert from 'node:assert/strict';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { openConsole } from '../../src/app/open-console.ts';
import { openFrameSender } from '../../src/camera/channel/sender.ts';
import { loadJpegCoder } from '../../src/camera/encoder.ts';
import type { ConsoleHandle } from '../../src/console/server.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import type { ReceivedFrame, RecordRequest } from '../../src/messages/recording.ts';
import { listEpisodes } from '../../src/record/episodes.ts';
import { emptyInfo, rowOf, START_NS, startOf } from '../../src/record/test-episode.ts';
import { EpisodeWriter } from '../../src/record/writer.ts';
import { loadRig, type Rig } from '../../src/rig/rig.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { launchChromium } from './chromium.ts';
import { farhand, root } from './farhand.ts';
import { OperatorPeer } from './operator-peer.ts';

const artifacts = path.join(root, 'artifacts');
const [WIDTH, HEIGHT] = [160, 120];
const coder = await loadJpegCoder();

/** A frame with a light band whose position encodes its number. */
function picture(n: number): Uint8Array {
  const pixels = new Uint8Array(WIDTH * HEIGHT);
  for (let y = 0; y < HEIGHT; y++)
    for (let x = 0; x < WIDTH; x++)
      pixels[y * WIDTH + x] = Math.abs(x - ((n * 7) % WIDTH)) < 12 ? 230 : 40 + y;
  return coder.encodeGrey(pixels, WIDTH, HEIGHT, 75);
}

/** Writes an episode as the recorder does: 60 rows, two cameras. */
function writeEpisode(dir: string, id: string, task: string, peakVelocityRadS = 1): void {
  const cameras = ['front', 'wrist'];
  const info = {
    ...emptyInfo(id, 6, cameras),
    task,
    joints: loadModel('ur3').joints.map(({ name }) => name),
  };
  const writer = new EpisodeWriter(path.join(dir, `${id}.mcap`), startOf(info));
  for (let i = 0; i < 60; i++) {
    const sampledNs = START_NS + i * 33e6;
    const frame = (camera: string): ReceivedFrame => ({
      camera,
      captureNs: 1e12 + i * 33e6,
      encoding: 'jpeg',
      // Two cameras with the same pictures would not pass the check of an export.
      bytes: picture(camera === 'front' ? i : i + 11),
      captureOperatorNs: sampledNs - 12e6,
      uncertaintyNs: 1e5,
      arrivedNs: sampledNs - 4e6,
    });
    const pictures = new Map(cameras.map((camera) => [camera, frame(camera)]));
    writer.row({ ...rowOf(i, 6, pictures, sampledNs), timeNs: i * 33e6 }, sampledNs, pictures);
  }
  const quality = {
    skippedShare: 0,
    staleShare: 0.05,
    jerkP95RadS3: 42,
    frameAgeP95Ms: 13,
    oneWayP95Ms: 24,
    badWindows: 0,
    refusedBy: [],
    figures: {
      ...{ peakVelocityRadS, stillShare: 0.1, offsetRad: 0.01, endRad: [0, 0, 0, 0, 0, 0], interventions: 0 },
      motion: Array.from({ length: 32 }, (_, i) => Math.abs(Math.sin(i / 4))),
    },
  };
  writer.close({ ...info, rows: 60, durationS: 59 * 0.033, complete: true, quality });
}

describe('recording from the page', { skip: needs('chromium') }, () => {
  const dir = path.join(temporaryFolder(), 'recordings');
  mkdirSync(dir);
  let browser: Browser;
  let page: Page;
  let served: ConsoleHandle;
  let peer: OperatorPeer;
  let rig: Rig;
  const complaints: string[] = [];

  before(async () => {
    mkdirSync(artifacts, { recursive: true });
    writeEpisode(dir, '20260101-120000-001', 'put the cup down');
    const [deskPort = 0, telemetryPort = 0, cameraPort = 0] = await freeUdpPorts(3);
    const overrides = ['link.security=plain', 'console.port=0', 'cameras.list.front={}', 'cameras.wire=udp'];
    const ports = [`console.deskPort=${deskPort}`, `console.telemetryPort=${telemetryPort}`];
    rig = loadRig('demo', [...overrides, ...ports, `cameras.port=${cameraPort}`]).config;
    peer = new OperatorPeer({ deskPort, telemetryPort }, loadModel('ur3'), (asked) =>
      record(asked as RecordRequest),
    );
    peer.record = status('idle', 0);
    served = await openConsole({ ...rig, record: { dir } } as Rig);
    browser = await launchChromium();
    page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
  });

  after(async () => {
    await browser?.close();
    await served?.close();
    peer?.close();
  });

  const status = (state: 'idle' | 'recording', rows: number) => ({
    state,
    episode: null,
    task: 'stack two cubes',
    rows,
    skippedRows: 0,
    durationS: rows / 30,
    message: '',
  });

  /** Acts as the operator's recorder. */
  function record(request: RecordRequest): void {
    if (request.kind !== 'record') return;
    if (request.action === 'start') peer.record = status('recording', 12);
    if (request.action === 'discard') peer.record = status('idle', 0);
    if (request.action === 'stop') {
      writeEpisode(dir, '20260101-120500-001', 'stack two cubes');
      peer.record = status('idle', 60);
    }
  }

  it('starts, discards, restarts and saves an episode', async () => {
    await page.goto(`${served.url}#/record`);
    await page.getByTestId('episode-20260101-120000-001').waitFor();
    await page.getByTestId('task').fill('stack two cubes');
    await page.getByTestId('record-start').click();
    await page.getByTestId('recorder-state').filter({ hasText: 'Recording' }).waitFor();
    await page.getByTestId('record-discard').click();
    await page.getByTestId('recorder-state').filter({ hasText: 'Ready' }).waitFor();
    await page.getByTestId('record-start').click();
    await page.getByTestId('recorder-state').filter({ hasText: 'Recording' }).waitFor();
    await page.screenshot({ path: path.join(artifacts, 'console-recording.png') });
    await page.getByTestId('record-stop').click();
    await page.getByTestId('episode-20260101-120500-001').waitFor();
    const actions = peer.asked.map(({ action }) => action).filter((action) => action !== 'task');
    assert.deepEqual(actions, ['start', 'discard', 'start', 'stop']);
    assert.equal(peer.asked.find(({ action }) => action === 'start')?.['task'], 'stack two cubes');
  });

  it('Space types in the task field; Escape still stops', async () => {
    const before = peer.asked.length;
    await page.getByTestId('task').fill('');
    await page.getByTestId('task').pressSequentially('a b');
    assert.equal(await page.getByTestId('task').inputValue(), 'a b');
    assert.ok(!peer.asked.slice(before).some(({ kind }) => kind === 'estop'));
    await page.keyboard.press('Escape');
    const stopped = () => peer.asked.slice(before).some(({ kind }) => kind === 'estop');
    for (let i = 0; i < 100 && !stopped(); i++) await page.waitForTimeout(20);
    assert.ok(stopped(), 'Escape stops from a field too');
  });

  it('plays an episode: scrubbing changes frame, joints and numbers', async () => {
    await page.getByTestId('episode-20260101-120000-001').click();
    const frame = page.getByTestId('frame-front');
    await frame.waitFor();
    const source = () => frame.getAttribute('src');
    const first = await source();
    await page.getByTestId('scrub').fill('40');
    await page.getByTestId('row-facts').filter({ hasText: 'row 40' }).waitFor();
    for (let i = 0; i < 40 && (await source()) === first; i++) await page.waitForTimeout(50);
    assert.match((await source()) ?? '', /row=40$/);
    const width = `(async () => {
      const image = document.querySelector('[data-testid=frame-front]');
      await image.decode();
      return image.naturalWidth;
    })()`;
    assert.equal(await page.evaluate<number>(width), WIDTH);
    assert.match((await page.getByTestId('quality').textContent()) ?? '', /passed/);
    const shot = await page.screenshot({ path: path.join(artifacts, 'console-record.png') });
    assert.ok(shot.length > 30_000, `${shot.length} bytes of PNG`);
    const plot = await page.getByTestId('joint-plot').screenshot();
    assert.ok(plot.length > 4000, `${plot.length} bytes of the joints`);
    await page.getByTestId('scrub').fill('0');
    await page.getByTestId('play').click();
    const at = async () => Number(await page.getByTestId('scrub').inputValue());
    for (let i = 0; i < 100 && (await at()) < 8; i++) await page.waitForTimeout(20);
    assert.ok((await at()) >= 8, `at row ${await at()}`);
    await page.getByTestId('play').click();
  });

  it('reviews episodes with the keyboard, and marks an unusual one', async () => {
    await page.evaluate('document.activeElement?.blur()');
    const labels = async () => (await listEpisodes(dir)).map(({ id, label }) => `${id} ${label}`);
    // Newest first: from the older to the newer one.
    await page.keyboard.press('p');
    await page.locator('[data-testid="episode-20260101-120500-001"][aria-pressed=true]').waitFor();
    await page.keyboard.press('Shift+F');
    await page.keyboard.press('s');
    await page.keyboard.press('n');
    await page.locator('[data-testid="episode-20260101-120000-001"][aria-pressed=true]').waitFor();
    await page.keyboard.press('d');
    await page.locator('[data-testid="episode-20260101-120000-001"] .tag:text-is("drop")').waitFor();
    assert.deepEqual(await labels(), ['20260101-120000-001 drop', '20260101-120500-001 success']);
    for (let n = 0; n < 10; n++)
      writeEpisode(dir, `20260102-12000${n}-001`, 'wave', n === 4 ? 9 : 1 + n / 100);
    await page.getByRole('button', { name: 'Refresh' }).click();
    const marks = page.getByTestId('marks-20260102-120004-001');
    await marks.waitFor();
    assert.match((await marks.textContent()) ?? '', /peak velocity/);
    assert.equal(await page.locator('[data-testid^=marks-]').count(), 1);
    assert.equal(await page.locator('.episodes .sparkline').count(), 12);
    await page.getByTestId('episode-20260102-120004-001').scrollIntoViewIfNeeded();
    const width = `document.querySelector('[data-testid="episode-20260102-120004-001"] img').naturalWidth`;
    for (let i = 0; i < 100 && (await page.evaluate<number>(width)) !== WIDTH; i++)
      await page.waitForTimeout(50);
    assert.equal(await page.evaluate<number>(width), WIDTH, 'the thumbnail is loaded');
    await page.screenshot({ path: path.join(artifacts, 'console-review.png') });
    for (let n = 0; n < 10; n++) rmSync(path.join(dir, `20260102-12000${n}-001.mcap`));
  });

  it('trims and deletes an episode, and undoes both', async () => {
    const id = '20260101-120500-001';
    await page.getByTestId(`episode-${id}`).click();
    await page.getByTestId('scrub').fill('20');
    await page.getByTestId('row-facts').filter({ hasText: 'row 20' }).waitFor();
    await page.keyboard.press('[');
    await page.getByTestId('scrub').fill('49');
    await page.getByTestId('row-facts').filter({ hasText: 'row 49' }).waitFor();
    await page.keyboard.press(']');
    await page.screenshot({ path: path.join(artifacts, 'console-cut.png') });
    await page.getByTestId('cut-trim').click();
    await page.getByTestId('quality').filter({ hasText: '30 at' }).waitFor();
    assert.equal(await page.getByTestId('scrub').getAttribute('max'), '29');
    assert.match((await page.getByTestId('undo').textContent()) ?? '', /^Trimmed: stack two cubes/);
    await page.getByTestId('undo-edit').click();
    await page.getByTestId('quality').filter({ hasText: '60 at' }).waitFor();
    await page.evaluate('document.activeElement?.blur()');
    await page.keyboard.press('Delete');
    await page.getByTestId(`episode-${id}`).waitFor({ state: 'detached' });
    assert.ok(!existsSync(path.join(dir, `${id}.mcap`)));
    // The next episode is shown.
    await page.locator('[data-testid="episode-20260101-120000-001"][aria-pressed=true]').waitFor();
    await page.getByTestId('undo-edit').click();
    await page.locator(`[data-testid="episode-${id}"][aria-pressed=true]`).waitFor();
    assert.ok(existsSync(path.join(dir, `${id}.mcap`)));
  });

  it('exports in a separate process and shows the progress', async () => {
    const { stdout } = await farhand(['--help']);
    const exists = /^ {2}export /m.test(stdout);
    await page.getByTestId('export').click();
    const progress = page.getByTestId('export-progress');
    const ended = exists ? 'done' : 'failed';
    await page.locator(`[data-testid=export-progress][data-state=${ended}]`).waitFor({ timeout: 30_000 });
    const text = (await progress.textContent()) ?? '';
    assert.match(text, exists ? /Written to .*dataset/ : /there is no verb "export"/);
  });

  it('shows a camera and reports display stamps for some frames', async () => {
    await page.goto(`${served.url}#/operate`);
    const canvas = page.getByTestId('camera-front').locator('canvas');
    await canvas.waitFor();
    const { cameras } = rig;
    const sender = await openFrameSender(
      {
        wire: 'udp',
        host: '127.0.0.1',
        port: cameras.port,
        cameras: ['front'],
        variant: { order: 'little', first: 0 },
        sendTo: [],
        curve: null,
      },
      () => {},
    );
    try {
      let n = 0;
      const timer = setInterval(() => {
        const captureNs = monotonicClock.nowNs();
        const encodedNs = captureNs + 1000;
        sender.send({ camera: 'front', captureNs, encodedNs, encoding: 'jpeg', bytes: picture(n++) });
      }, 33);
      const frames = async () => Number((await canvas.getAttribute('data-frames')) ?? 0);
      for (let i = 0; i < 100 && (await frames()) < 20; i++) await page.waitForTimeout(50);
      assert.ok((await frames()) >= 20, `${await frames()} pictures shown of ${n} sent`);
      const shot = await canvas.screenshot();
      assert.ok(shot.length > 1500, `${shot.length} bytes of the picture`);
      await page.screenshot({ path: path.join(artifacts, 'console-camera.png') });
      const shown = () => peer.pictures.filter(({ displayedNs }) => displayedNs !== null);
      for (let i = 0; i < 100 && shown().length < 3; i++) await page.waitForTimeout(50);
      clearInterval(timer);
      assert.ok(shown().length >= 3, `${shown().length} of ${peer.pictures.length} seen on the screen`);
      assert.ok(peer.pictures.length <= n / 3, 'reports only a few frames a second');
      for (const reported of shown()) {
        const { captureNs, encodedNs, receivedNs, decodedNs, displayedNs, pageUncertaintyNs } =
          reported as unknown as Record<string, number>;
        assert.equal(encodedNs! - captureNs!, 1000);
        assert.ok(receivedNs! > captureNs! && displayedNs! >= decodedNs!, JSON.stringify(reported));
        assert.ok(decodedNs! + pageUncertaintyNs! > receivedNs!, JSON.stringify(reported));
        assert.ok(displayedNs! - captureNs! < 5e9, JSON.stringify(reported));
      }
    } finally {
      await sender.close();
    }
  });

  it('B hands back to an interrupted policy, and only otherwise records again', async () => {
    peer.record = status('recording', 12);
    peer.isInterrupted = true;
    await page.goto(`${served.url}#/operate`);
    await page.getByTestId('hand-back').waitFor();
    const before = peer.asked.length;
    const asks = (kind: string, action?: string) =>
      peer.asked.slice(before).some((each) => each['kind'] === kind && each['action'] === action);
    await page.keyboard.press('b');
    await until('handing back', () => asks('hand-back'));
    peer.isInterrupted = false;
    await page.getByTestId('hand-back').waitFor({ state: 'hidden' });
    assert.equal(peer.record.state, 'recording');
    await page.keyboard.press('b');
    await until('a recording that begins again', () => asks('record', 'discard') && asks('record', 'start'));
  });

  it('shows bad seconds as the operator judged them', async () => {
    const nowS = performance.now() / 1000;
    const cause = 'the network was slow';
    const second = (agoS: number) => ({ fromS: nowS - agoS - 1, toS: nowS - agoS, cause });
    peer.feel = {
      ...{ windows: 90, badWindows: 7, strictWindows: 8, longestLateRun: 12 },
      last: { off: 9, ticks: 100, isBad: true, cause },
      bad: [second(50), second(12), second(3)],
    };
    peer.motionLatencyMs = 42.5;
    await page.goto(`${served.url}#/latency`);
    await page.getByTestId('lat-motion').filter({ hasText: '42.5' }).waitFor();
    assert.equal(await page.getByTestId('lat-bad').textContent(), '2', 'of the last 30 s');
    assert.match(
      (await page.getByTestId('lat-felt').textContent()) ?? '',
      /^7 of 90, longest late run 12 commands$/,
    );
    assert.equal(await page.locator('#lat-cause').textContent(), cause);
    await page.screenshot({ path: path.join(artifacts, 'console-feel.png') });
  });

  it('logs no errors in the browser', () => {
    assert.deepEqual(complaints, []);
  });
});
