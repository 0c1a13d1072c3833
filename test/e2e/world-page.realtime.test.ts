import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import type { Browser, Page } from 'playwright-core';
import type { Telemetry } from '../../src/messages/telemetry.ts';
import type { Observation } from '../../src/policy/observation.ts';
import { needs, needsPackage } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { launchChromium } from './chromium.ts';
import { farhand, type Running, root, startFarhand } from './farhand.ts';
import { stateHash } from './world-hash.ts';

const artifacts = path.join(root, 'artifacts');
const missing = needs('chromium') || (await needsPackage('@mujoco/mujoco'));

/** What `npm start` shows. Physics, cameras and a browser together are slow on a busy machine. */
describe('the world in a real browser', { skip: missing, timeout: 240_000 }, () => {
  const traces = temporaryFolder();
  let demo: Running;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];

  const telemetry = () => page.evaluate<Telemetry | undefined>('window.__farhand?.lastTelemetry');
  /** A busy machine stalls, and then the robot rightly stops: this tests the page, not the watchdogs. */
  const carryOn = async (seen: Telemetry | undefined) => {
    const button = { stopped: 'reset', idle: 'arm', hold: 'arm' }[String(seen?.robot?.state)];
    if (button !== undefined)
      await page
        .getByTestId(button)
        .click({ timeout: 500 })
        .catch(() => {});
  };
  const waitFor = async (what: string, holds: (seen: Telemetry) => boolean): Promise<Telemetry> => {
    for (let i = 0; i < 3000; i++) {
      const seen = await telemetry();
      if (seen && holds(seen)) return seen;
      if (i % 20 === 19) await carryOn(seen);
      await page.waitForTimeout(50);
    }
    const { robot, world } = (await telemetry()) ?? {};
    return assert.fail(`${what} not seen: ${JSON.stringify([robot, world])}\n${demo.stdout()}`);
  };

  before(async () => {
    mkdirSync(artifacts, { recursive: true });
    demo = startFarhand([
      ...['demo', '--rig', 'world', '--no-open', 'console.port=0', `trace.dir=${traces}`],
      ...['robot.commandTimeoutMs=500', 'robot.feedbackTimeoutMs=1000', 'cameras.list.wrist.fpsHz=2'],
    ]);
    const url = (await demo.waitFor(/console: (http:\S+)/, 120_000))[1]!;
    browser = await launchChromium();
    page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
    await page.goto(url);
  });

  after(async () => {
    await browser?.close();
    assert.equal(await demo?.end(), 0);
  });

  it('shows the task, and the expert at work', async () => {
    const first = await waitFor('world', ({ world }) => world != null);
    assert.equal(first.world?.task, 'sort');
    assert.match(
      (await page.getByTestId('world-task').textContent()) ?? '',
      /Put the three cubes into the tray/,
    );
    await waitFor('a cube in the gripper', ({ world }) => (world?.held ?? -1) >= 0);
    await page.screenshot({ path: path.join(artifacts, 'world.png') });
    assert.match((await page.getByTestId('touch').textContent()) ?? '', /contact/);
  });

  it('starts the next round, and another task, from the page', async () => {
    const { world } = await waitFor('world', (seen) => seen.world != null);
    await page.getByTestId('task-next').click();
    const next = await waitFor('the next round', (seen) => seen.world!.round > world!.round);
    assert.notDeepEqual(next.world!.poses.slice(7, 9), world!.poses.slice(7, 9));
    await page.getByTestId('task-choice').selectOption('peg');
    await waitFor('another task', (seen) => seen.world?.task === 'peg');
    assert.match((await page.getByTestId('world-task').textContent()) ?? '', /hole/);
  });

  it('shows what its camera sees', async () => {
    const picture = page.getByTestId('cameras').locator('canvas, img').first();
    await picture.waitFor({ state: 'visible', timeout: 60_000 });
  });

  it('shows no errors', () => assert.deepEqual(complaints, []));
});

it('a policy or a person can be judged without a page: an expert does seeds, one line each', {
  skip: await needsPackage('@mujoco/mujoco'),
}, async () => {
  const run = async () => {
    const { code, stdout } = await farhand(['world', 'run', '--task', 'peg', '--seeds', '7-8', '--json']);
    assert.equal(code, 0);
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  };
  const [first, second] = [await run(), await run()];
  assert.equal(first.length, 3);
  assert.deepEqual([first[0]!['seed'], first[0]!['success'], first[2]!['rate']], [7, true, 1]);
  const hashes = (lines: Record<string, unknown>[]) => lines.slice(0, 2).map((line) => line['hash']);
  assert.deepEqual(hashes(first), hashes(second), 'two processes reach the same state');
});

/** Pictures cross HTTP as base64. */
type JsonObservation = Omit<Observation, 'frames'> & { frames: Record<string, { data: string }> };

it('a policy over HTTP is judged: one that holds still fails, and gets joints and two pictures', {
  skip: await needsPackage('@mujoco/mujoco'),
}, async () => {
  let seen: JsonObservation | null = null;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      seen = JSON.parse(Buffer.concat(chunks).toString()) as JsonObservation;
      response.end(JSON.stringify({ action: [...seen.state.positionsRad, 0] }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const args = ['--task', 'peg', '--seeds', '7', '--hz', '1', '--json'];
    const { code, stdout } = await farhand([
      'world',
      'run',
      '--input',
      `policy:http://127.0.0.1:${port}/`,
      ...args,
    ]);
    assert.equal(code, 1);
    assert.match(stdout, /"success":false/);
    const { state, frames, task } = seen! as JsonObservation;
    assert.equal(state.positionsRad.length, 6);
    assert.match(task, /peg/);
    for (const camera of ['front', 'wrist'])
      assert.equal(Buffer.from(frames[camera]!.data, 'base64').readUInt16BE(0), 0xffd8, 'JPEG');
  } finally {
    server.close();
  }
});

it('tasks are listed and described, and a wrong name gets a remedy', async () => {
  const list = await farhand(['world', 'list', '--json']);
  const names = (JSON.parse(list.stdout) as { name: string }[]).map(({ name }) => name);
  assert.deepEqual(names.slice(0, 6), ['sort', 'stack', 'peg', 'drawer', 'handover', 'turn']);
  for (const name of ['drawer', 'bento-cups']) {
    const { code, stdout } = await farhand(['world', 'show', name, '--model', 'piper']);
    assert.equal(code, 0);
    assert.match(stdout, /time limit/);
  }
  const wrong = await farhand(['world', 'show', 'juggle']);
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /there is no task "juggle"[\s\S]*sort, stack, peg, drawer, handover, turn/);
});

it('a seed ends in the same state on another thread', {
  skip: await needsPackage('@mujoco/mujoco'),
}, async () => {
  const seed = { task: 'stack', seed: 100_007 };
  const worker = new Worker(new URL('./world-hash-worker.js', import.meta.url), { workerData: seed });
  const [there] = (await once(worker, 'message')) as [string];
  await worker.terminate();
  assert.equal(await stateHash(seed), there);
});
