import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { WebSocket } from 'ws';
import { SCENES } from '../../src/robot/drivers/bento/arm-facts.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { type SimProcess, startSimProcess } from '../contract/sim-process.ts';
import { needs } from '../needs.ts';
import { expectAccessible } from './accessible.ts';
import { launchChromium } from './chromium.ts';
import { root } from './farhand.ts';

const artifacts = path.join(root, 'artifacts');

describe('Bento page in a real browser', {
  skip: needs('chromium'),
  timeout: 120_000,
}, () => {
  let sim: SimProcess;
  let url: string;
  let browser: Browser;
  let page: Page;
  const errors: string[] = [];

  const degrees = async (joint: number): Promise<number> =>
    Number.parseFloat((await page.locator('#joints output').nth(joint).textContent()) ?? 'NaN');
  const eventually = async (what: string, holds: () => Promise<boolean>) => {
    for (let i = 0; i < 200; i++) {
      if (await holds()) return;
      await page.waitForTimeout(50);
    }
    assert.fail(what);
  };

  before(async () => {
    mkdirSync(artifacts, { recursive: true });
    const [feedbackPort] = await freeUdpPorts(1);
    sim = await startSimProcess([
      'bento',
      '--port',
      '0',
      '--feedback-port',
      `${feedbackPort}`,
      '--page',
      '0',
    ]);
    url = /page (http:\S+)/.exec(sim.ready)![1]!;
    browser = await launchChromium();
    page = await browser.newPage({ viewport: { width: 1280, height: 760 } });
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text());
    });
    page.on('pageerror', (error) => errors.push(error.message));
    await page.goto(url);
  });
  after(async () => {
    await browser?.close();
    await sim?.stop();
  });

  SCENES.forEach(({ task, camera }, index) => {
    if (index === 0) return;
    it(`shows scene ${index}, ${task}, from its camera`, async () => {
      await page
        .locator('#scenes button')
        .nth(index - 1)
        .click();
      await eventually('the title', async () => (await page.getByTestId('task').textContent()) === task);
      const view = camera.join(', ');
      await eventually('the view', async () => (await page.getByTestId('camera').textContent()) === view);
      await page.waitForTimeout(400);
      await page.screenshot({ path: path.join(artifacts, `bento-scene-${index}.png`) });
      assert.ok(await differentPixels(page, '#view'), 'something is drawn');
    });
  });

  it('moves each joint while its key is held and stops on release', async () => {
    await page.locator('#scenes button').first().click();
    await page.locator('body').focus();
    for (const [joint, key, sign] of [
      [1, 'KeyW', 1],
      [0, 'KeyD', 1],
      [0, 'KeyA', -1],
      [2, 'Semicolon', 1],
      [3, 'KeyO', 1],
      [4, 'ShiftLeft', 1],
    ] as const) {
      await page.waitForTimeout(300);
      const from = await degrees(joint);
      await page.keyboard.down(key);
      await page.waitForTimeout(500);
      await page.keyboard.up(key);
      await page.waitForTimeout(400);
      const to = await degrees(joint);
      assert.ok(sign * (to - from) > 5, `${key}: from ${from} to ${to}`);
      await page.waitForTimeout(400);
      assert.ok(Math.abs((await degrees(joint)) - to) < 0.5, 'at rest');
    }
    await page.screenshot({ path: path.join(artifacts, 'bento-keys.png') });
  });

  it('stops when the window loses the focus with a key down', async () => {
    const isMoving = async () =>
      (await page.locator('#joints li').first().getAttribute('data-moving')) === 'true';
    await page.keyboard.down('KeyD');
    await eventually('it moves', isMoving);
    await page.evaluate('dispatchEvent(new Event("blur"))');
    await eventually('it rests', async () => !(await isMoving()));
    await page.keyboard.up('KeyD');
  });

  it('resets a dragged camera', async () => {
    const reset = page.getByTestId('view-reset');
    assert.equal(await reset.isVisible(), false);
    await page.mouse.move(400, 400);
    await page.mouse.down();
    await page.mouse.move(500, 380, { steps: 5 });
    await page.mouse.up();
    assert.equal(await reset.isVisible(), true);
    await reset.click();
    assert.equal(await reset.isVisible(), false);
  });

  it('is accessible', () => expectAccessible(page, 'Bento'));

  it('logs no errors in the browser', () => {
    assert.deepEqual(errors, []);
  });

  it('rejects foreign origins and host names', async () => {
    const { port } = new URL(url);
    const status = (host: string) =>
      new Promise<number>((resolve, reject) => {
        http
          .get({ host: '127.0.0.1', port, path: '/bento.html', headers: { host } }, (response) => {
            response.resume();
            resolve(response.statusCode ?? 0);
          })
          .on('error', reject);
      });
    assert.equal(await status(`localhost:${port}`), 200);
    assert.equal(await status('evil.example'), 403);
    const opens = (origin: string | undefined) =>
      new Promise<boolean>((resolve) => {
        const socket = new WebSocket(
          `ws://127.0.0.1:${port}/bento-ws`,
          origin === undefined ? {} : { origin },
        );
        socket.on('open', () => {
          socket.send('{"kind":"scene","index":1e9}');
          socket.send('nonsense');
          socket.close();
          resolve(true);
        });
        socket.on('error', () => resolve(false));
      });
    assert.equal(await opens(`http://127.0.0.1:${port}`), true);
    assert.equal(await opens('http://evil.example'), false);
    assert.equal(await opens(undefined), false);
    assert.equal(await status(`localhost:${port}`), 200, 'still served after invalid messages');
  });
});

/** Whether a screenshot has more than one colour, judged by its compressed size. */
async function differentPixels(page: Page, selector: string): Promise<boolean> {
  const png = await page.locator(selector).screenshot();
  return png.length > 20_000;
}
