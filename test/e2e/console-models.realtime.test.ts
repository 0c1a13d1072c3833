import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { Telemetry } from '../../src/messages/telemetry.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { needs } from '../needs.ts';
import { launchChromium } from './chromium.ts';
import { root, startFarhand } from './farhand.ts';

const artifacts = path.join(root, 'artifacts');

/** Replaces an operator process: sends a pose to each subscriber over the real socket. */
class PoseSender {
  measuredRad: number[];
  readonly #socket: Socket;

  limitedBy: NonNullable<Telemetry['robot']>['limitedBy'] = '';

  constructor(port: number, measuredRad: number[]) {
    this.measuredRad = measuredRad;
    this.#socket = createSocket('udp4');
    this.#socket.bind(port, '127.0.0.1');
    this.#socket.on('message', (_hello, from) => this.#send(from.port));
  }

  /** Ten a second; a subscription comes every second. */
  #send(port: number): void {
    for (let i = 0; i < 10; i++)
      setTimeout(
        () => this.#socket.send(JSON.stringify(this.#telemetry()), port, '127.0.0.1', () => {}),
        i * 100,
      );
  }

  close(): void {
    this.#socket.removeAllListeners();
    this.#socket.send = (() => {}) as Socket['send'];
    this.#socket.close();
  }

  #telemetry(): Telemetry {
    const { measuredRad } = this;
    const link = { connected: true, stateAgeMs: 5, offsetMs: 0, uncertaintyMs: 0.1, driftPpm: 0 };
    return {
      kind: 'telemetry',
      model: 'test',
      operatorNs: performance.now() * 1e6,
      link: { ...link, stampSource: 'kernel', playout: 'none', quality: null },
      input: {
        active: 'scripted',
        available: ['scripted'],
        status: 'ok',
        clutch: true,
        rateHz: null,
        jitterMs: null,
      },
      operator: { mode: 'teleop', mapping: 'ok', filterDelayMs: null },
      hand: { positionM: [0, 0, 0], quatXyzw: [0, 0, 0, 1] },
      robot: {
        state: 'engaged',
        cause: '',
        epoch: 1,
        measuredRad,
        targetRad: measuredRad,
        gripper: (performance.now() / 1000) % 1,
        limitedBy: this.limitedBy,
        clearanceM: 0.0123,
        nearest: 'forearm ↔ table',
      },
      commandedRad: measuredRad.map((rad) => rad + 0.05),
      closed: [],
      totals: { commands: 0, applied: 0, late: 0, dropped: 0, rejected: 0, lost: 0 },
      counters: {},
    };
  }
}

/** Waits until the page received this angle of the first joint and drew a few frames. */
async function seen(page: Page, firstRad: number): Promise<void> {
  const frames = () => page.evaluate<number>('window.__farhand.frames');
  const reported = () =>
    page.evaluate<number>('window.__farhand.lastTelemetry?.robot?.measuredRad[0] ?? NaN');
  for (let i = 0; i < 200 && Math.abs((await reported()) - firstRad) > 1e-9; i++)
    await page.waitForTimeout(50);
  const from = await frames();
  for (let i = 0; i < 200 && (await frames()) < from + 5; i++) await page.waitForTimeout(50);
  assert.ok((await frames()) >= from + 5, 'the page draws');
}

describe('console page with every robot model', { skip: needs('chromium') }, () => {
  let browser: Browser;
  before(async () => {
    mkdirSync(artifacts, { recursive: true });
    browser = await launchChromium();
  });
  after(() => browser?.close());

  for (const model of ['test/data/seven-joint.yaml', 'ur3'])
    it(`${model}: draws the moving robot without errors`, async () => {
      const { homeRad, title, name } = loadModel(model);
      const [deskPort = 0, telemetryPort = 0] = await freeUdpPorts(2);
      const ports = [
        'console.port=0',
        `console.deskPort=${deskPort}`,
        `console.telemetryPort=${telemetryPort}`,
      ];
      const sender = new PoseSender(telemetryPort, [...homeRad]);
      const served = startFarhand(['console', `model=${model}`, ...ports]);
      const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
      try {
        const complaints: string[] = [];
        page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
        page.on('pageerror', (error) => complaints.push(String(error)));
        await page.goto((await served.waitFor(/console: (http:\S+)/))[1]!);
        await page.getByText(title).waitFor();
        await seen(page, homeRad[0]!);
        await page.screenshot({ path: path.join(artifacts, `console-${name}.png`) });
        const view = page.getByTestId('view');
        const still = await view.screenshot();
        assert.ok(still.length > 20_000, `${still.length} bytes of PNG`);
        sender.measuredRad = homeRad.map((rad, i) => rad + (i % 2 === 0 ? 0.5 : -0.3));
        await seen(page, sender.measuredRad[0]!);
        await page.screenshot({ path: path.join(artifacts, `console-${name}-moved.png`) });
        assert.equal(await page.locator('#limit').textContent(), '');
        sender.limitedBy = 'collision';
        await page.getByText('Limited by contact: forearm ↔ table, 12 mm').waitFor({ timeout: 5000 });
        await page.screenshot({ path: path.join(artifacts, `console-${name}-limited.png`) });
        sender.limitedBy = 'joint-limit';
        await page.getByText('Limited by a joint’s range').waitFor({ timeout: 5000 });
        assert.notDeepEqual(await view.screenshot(), still, 'the arm moves on the screen');
        assert.deepEqual(complaints, []);
      } finally {
        await page.close();
        sender.close();
        await served.end();
      }
    });
});
