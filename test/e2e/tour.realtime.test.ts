import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { needs, needsPackage } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { launchChromium } from './chromium.ts';
import { type Running, root, startFarhand } from './farhand.ts';
import { PageDriver } from './page-driver.ts';

const artifacts = path.join(root, 'artifacts');
const missing = needs('chromium') || (await needsPackage('@mujoco/mujoco'));

/** A newcomer's first minutes, with the keys that the page names. */
describe('the tour in a real browser', { skip: missing, timeout: 240_000 }, () => {
  const folder = temporaryFolder();
  let demo: Running;
  let browser: Browser;
  let page: Page;
  let person: PageDriver;

  const atStep = (step: string) => page.locator(`#tour[data-step="${step}"]`).waitFor({ timeout: 60_000 });
  const picture = (name: string) => page.screenshot({ path: path.join(artifacts, `tour-${name}.png`) });

  before(async () => {
    mkdirSync(artifacts, { recursive: true });
    demo = startFarhand([
      ...['demo', '--rig', 'world', '--no-open', 'console.port=0', `trace.dir=${folder}/traces`],
      ...[`record.dir=${folder}/recordings`, 'cameras.list.wrist.fpsHz=2', 'cameras.list.front.fpsHz=2'],
    ]);
    const url = (await demo.waitFor(/console: (http:\S+)/, 120_000))[1]!;
    browser = await launchChromium();
    page = await browser.newPage({ viewport: { width: 1024, height: 768 } });
    person = new PageDriver(page);
    await page.goto(url);
  });

  after(async () => {
    await browser?.close();
    assert.equal(await demo?.end(), 0);
  });

  it('is offered to a newcomer, and waits until the expert has a cube', async () => {
    await page.getByTestId('tour-start').click();
    await page.locator('#tour[data-step]').waitFor();
    await picture('watch');
    await person.waitFor('a cube in the gripper', ({ world }) => (world?.held ?? -1) >= 0);
    await atStep('take-over');
  });

  it('goes on when the person drives by keyboard', async () => {
    await page.getByTestId('input-page').click();
    await person.waitFor('the page as input', ({ input }) => input.active === 'page');
    // What the expert carried falls; the round begins again.
    await page.getByTestId('task-again').click();
    for (let i = 0; i < 10 && (await page.getAttribute('#tour', 'data-step')) === 'take-over'; i++)
      await person.press('e', 400);
    await atStep('place');
  });

  it('goes on when a cube is in the tray', async () => {
    await picture('place');
    for (let body = 1; body <= 3; body++) {
      await person.place(body).catch(() => {});
      const placed = await atStepWithin(page, 'shake', 3000);
      if (placed) break;
    }
    await atStep('shake');
  });

  it('shows the difference between no smoothing and adaptive smoothing on the same bad Wi-Fi', async () => {
    await page.getByTestId('tour-set').click();
    await person.waitFor('no smoothing', ({ link }) => link.playout.startsWith('none'));
    for (let i = 0; i < 20 && (await page.getAttribute('#tour', 'data-step')) === 'shake'; i++) {
      await person.press(i % 2 ? 'a' : 'd', 300);
      await person.carryOn();
    }
    await atStep('smooth');
    await picture('smooth');
    await page.getByTestId('playout-mode-adaptive').click();
    for (let i = 0; i < 20 && (await page.getAttribute('#tour', 'data-step')) === 'smooth'; i++) {
      await person.press(i % 2 ? 'a' : 'd', 300);
      await person.carryOn();
    }
    await atStep('record');
    await person.release();
  });

  it('records, plays the recording back, and ends', async () => {
    await page.keyboard.press('n');
    await person.waitFor('a recording', ({ record }) => record?.state === 'recording');
    await person.press('e', 500);
    await person.waitFor('rows', ({ record }) => (record?.rows ?? 0) > 20);
    await person.release();
    await page.keyboard.press('n');
    await atStep('play');
    await page.getByTestId('tour-playback').click();
    await page.getByTestId('play').click();
    await atStep('end');
    await picture('end');
    assert.match(
      (await page.locator('.tour-text').textContent()) ?? '',
      /varied by \d+ ms without smoothing/,
    );
    await page.getByTestId('tour-end').click();
    await page.getByTestId('tour').waitFor({ state: 'hidden' });
    await person.waitFor('adaptive smoothing again', ({ link }) => link.playout.startsWith('adaptive'));
    await page.reload();
    await person.waitFor('telemetry', ({ world }) => world != null);
    await page.getByTestId('tab-operate').click();
    await page.getByTestId('tour-open').waitFor();
    assert.equal(await page.getByTestId('tour').isVisible(), false, 'not offered again');
  });
});

const atStepWithin = (page: Page, step: string, timeout: number): Promise<boolean> =>
  page
    .locator(`#tour[data-step="${step}"]`)
    .waitFor({ timeout })
    .then(
      () => true,
      () => false,
    );
