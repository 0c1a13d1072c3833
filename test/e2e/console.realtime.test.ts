import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { WebSocket } from 'ws';
import type { Telemetry } from '../../src/messages/telemetry.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { launchChromium } from './chromium.ts';
import { type Running, root, stampsIn, startFarhand } from './farhand.ts';

const artifacts = path.join(root, 'artifacts');

describe('console page in a real browser', { skip: needs('chromium'), timeout: 120_000 }, () => {
  const traces = temporaryFolder();
  let demo: Running;
  let url: string;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];

  const telemetry = () => page.evaluate<Telemetry | undefined>('window.__farhand?.lastTelemetry');
  const waitFor = async (
    what: string,
    holds: (seen: Telemetry) => boolean,
    meanwhile = async (_: Telemetry) => {},
  ) => {
    // Not waitForFunction: the page's security policy forbids eval.
    for (let i = 0; i < 600; i++) {
      const seen = await telemetry();
      if (seen && holds(seen)) return;
      if (seen && i % 20 === 19) await meanwhile(seen);
      await page.waitForTimeout(50);
    }
    assert.fail(`${what} not seen: ${JSON.stringify((await telemetry())?.robot)}`);
  };
  /** A busy machine stalls, and then the robot rightly stops: this tests the page, not the watchdogs. */
  const carryOn = async ({ robot }: Telemetry) => {
    if (robot?.state === 'stopped') assert.match(robot.cause, /stalled|silent|no joint feedback/);
    const button = { stopped: 'reset', idle: 'arm' }[String(robot?.state)];
    if (button === undefined) return;
    await page
      .getByTestId(button)
      .click({ timeout: 500 })
      .catch(() => {});
  };
  const farthest = (fromRad: readonly number[], { robot }: Telemetry) =>
    Math.max(...fromRad.map((angle, i) => Math.abs(angle - robot!.measuredRad[i]!)));
  const waitState = (state: string) => waitFor(state, (seen) => seen.robot?.state === state);

  before(async () => {
    mkdirSync(artifacts, { recursive: true });
    demo = startFarhand([
      ...['demo', '--no-open', 'console.port=0', `trace.dir=${traces}`],
      // A busy machine stalls. This tests the page, not the watchdogs.
      ...[
        'robot.commandTimeoutMs=500',
        'robot.feedbackTimeoutMs=1000',
        'operator.inputs.page.staleAfterMs=1000',
      ],
    ]);
    url = (await demo.waitFor(/console: (http:\S+)/, 55_000))[1]!;
    browser = await launchChromium();
    page = await browser.newPage({ viewport: { width: 960, height: 600 } });
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

  it('shows the arm following the scripted hand', async () => {
    await waitFor('engaged', (seen) => seen.robot?.state === 'engaged', carryOn);
    const first = (await telemetry())!.robot!.measuredRad;
    await waitFor('motion', (seen) => farthest(first, seen) > 0.02, carryOn);
    const shown = async () => (await page.getByTestId('state').textContent()) ?? '';
    await until('its state', async () => /engaged/i.test(await shown()), shown);
  });

  it('draws a view that is not blank and changes', async () => {
    const shot = await page.screenshot({ path: path.join(artifacts, 'console.png') });
    assert.ok(shot.length > 30_000, `${shot.length} bytes of PNG`);
    const view = page.getByTestId('view');
    const before = await view.screenshot();
    await until('a robot that moves on the screen', async () => !before.equals(await view.screenshot()));
  });

  it('shows the live one-way latency', async () => {
    const read = async () => Number.parseFloat((await page.getByTestId('latency-p50').textContent()) ?? '');
    // The adaptive delay depends on the load of the machine.
    await until('a latency', async () => (await read()) > 0);
    assert.match(
      (await page.getByTestId('playout').textContent()) ?? '',
      /^adaptive · [\d.]+ ms · \d+ queued$/,
    );
    const { applied } = (await telemetry())!.totals;
    await waitFor('commands that close', ({ totals }) => totals.applied > applied + 20);
  });

  it('stops the robot with the e-stop button until reset and arm', async () => {
    await page.getByTestId('estop').click();
    await waitState('stopped');
    // It brakes inside its limits, then stays.
    let from = (await telemetry())!.robot!.measuredRad;
    await until('rest', async () => {
      await page.waitForTimeout(300);
      const seen = (await telemetry())!;
      const isAtRest = farthest(from, seen) < 0.001;
      from = seen.robot!.measuredRad;
      return isAtRest;
    });
    assert.equal((await telemetry())!.robot!.state, 'stopped');
    await page.screenshot({ path: path.join(artifacts, 'console-stopped.png') });
    await page.getByTestId('reset').click();
    await waitState('idle');
    await page.getByTestId('arm').click();
    await waitState('engaged');
  });

  it('stops the robot with Space while a button has the focus', async () => {
    await page.getByTestId('arm').focus();
    await page.keyboard.press('Space');
    await waitState('stopped');
    await page.getByTestId('reset').click();
    await waitState('idle');
    await page.getByTestId('arm').click();
    await waitState('engaged');
  });

  it('moves the arm towards home until asked to hold, then continues with the scripted hand', async () => {
    // Kept in the page: polling from here could miss a mode.
    await page.evaluate(`window.modes = new Set(); setInterval(() => {
      const { operator, robot } = window.__farhand.lastTelemetry;
      window.modes.add(operator.mode + ' ' + robot.state);
    }, 10)`);
    // A quarter of the figure, so that homing takes a while.
    await page.waitForTimeout(1500);
    await page.getByTestId('home').click();
    await until('homing', () => page.evaluate<boolean>("window.modes.has('home engaged')"));
    // On a busy machine it may have arrived, or a stall may hold it; otherwise the person does.
    if ((await telemetry())!.operator.mode === 'home')
      await page
        .getByTestId('home')
        .filter({ hasText: 'Hold' })
        .click({ timeout: 5000 })
        .catch(() => {});
    await waitFor('the end of homing', (seen) => seen.operator.mode !== 'home');
    await page.screenshot({ path: path.join(artifacts, 'console-home.png') });
    if ((await telemetry())!.operator.mode === 'hold')
      await page.getByTestId('arm').filter({ hasText: 'Engage' }).click();
    await waitFor(
      'teleop',
      ({ operator, robot }) => operator.mode === 'teleop' && robot?.state === 'engaged',
    );
    await page.getByTestId('arm').filter({ hasText: 'Arm' }).waitFor();
  });

  it('drives with the keyboard and holds on key release', async () => {
    await page.getByTestId('input-page').click();
    await waitFor('page input', (seen) => seen.input.active === 'page');
    await waitState('hold');
    const before = (await telemetry())!.robot!.measuredRad;
    await page.keyboard.down('Shift');
    await waitState('engaged');
    await page.keyboard.down('KeyD');
    await waitFor('motion', (seen) => farthest(before, seen) > 0.05);
    await page.screenshot({ path: path.join(artifacts, 'console-keyboard.png') });
    await page.keyboard.up('KeyD');
    await page.keyboard.up('Shift');
    await waitState('hold');
    // A trace line is written after the motion of its command.
    const fromPage = () =>
      stampsIn(traces).filter((stamps) => 'device.sampled' in stamps && 'device.arrived' in stamps);
    await until('traces that begin in the page', () => fromPage().length > 20);
    const driven = fromPage();
    for (const stamps of driven)
      assert.ok(stamps['device.sampled']! < stamps['device.arrived']!, JSON.stringify(stamps));
  });

  it('fits a phone in light colours', async () => {
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 390, height: 844 });
    await page.waitForTimeout(500);
    const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    assert.ok(overflow <= 0, `page is ${overflow} px wider than the screen`);
    assert.ok(await page.getByTestId('estop').isVisible());
    await page.screenshot({ path: path.join(artifacts, 'console-phone-light.png') });
  });

  it('rejects foreign origins and host names', async () => {
    const code = await new Promise<number | undefined>((resolve) => {
      const socket = new WebSocket(`${url.replace('http', 'ws')}ws`, { origin: 'http://evil.example' });
      socket.on('unexpected-response', (_request, response) => resolve(response.statusCode));
      socket.on('open', () => resolve(101));
      socket.on('error', () => {});
    });
    assert.equal(code, 401);
    const status = await new Promise<number | undefined>((resolve, reject) => {
      http
        .get(url, { headers: { host: 'evil.example' } }, (response) => resolve(response.statusCode))
        .on('error', reject);
    });
    assert.equal(status, 403);
  });

  it('logs no errors in the browser', () => {
    assert.deepEqual(complaints, []);
  });
});
