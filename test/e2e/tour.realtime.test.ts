import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { holdForM } from '../../src/desk/page-hand.ts';
import { needs, needsPackage } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
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

  const atStep = (step: string) => page.locator(`#tour[data-step="${step}"]`).waitFor({ timeout: 20_000 });
  const picture = (name: string) => page.screenshot({ path: path.join(artifacts, `tour-${name}.png`) });

  before(async () => {
    mkdirSync(artifacts, { recursive: true });
    demo = startFarhand([
      ...['demo', '--rig', 'world', '--no-open', 'console.port=0', `trace.dir=${folder}/traces`],
      ...[`record.dir=${folder}/recordings`, 'cameras.list.wrist.fpsHz=2', 'cameras.list.front.fpsHz=2'],
    ]);
    const url = (await demo.waitFor(/console: (http:\S+)/, 120_000))[1]!;
    browser = await launchChromium();
    page = await browser.newPage({ viewport: { width: 860, height: 600 } });
    person = new PageDriver(page);
    await page.goto(url);
  });

  after(async () => {
    await browser?.close();
    assert.equal(await demo?.end(), 0);
  });

  it('leads from watching to playing back', async (context) => {
    for (const [name, part] of Object.entries({ watch, takeOver, placeCube, feelWifi, recordAndPlay })) {
      const startMs = performance.now();
      await part();
      context.diagnostic(`${name}: ${((performance.now() - startMs) / 1000).toFixed(1)} s`);
    }
  });

  /** Offered to a newcomer, who has tried the keyboard; the expert drives again, and has a cube in the end. */
  const watch = async () => {
    await page.locator('[data-testid="input-page"]:enabled').click();
    await person.waitFor('the page as input', ({ input }) => input.active === 'page');
    await page.getByTestId('tour-start').click();
    await page.locator('#tour[data-step]').waitFor();
    await picture('watch');
    await person.waitFor('a cube in the gripper', ({ world }) => (world?.held ?? -1) >= 0);
    await atStep('take-over');
  };

  const takeOver = async () => {
    await page.getByTestId('input-page').click();
    await person.waitFor('the page as input', ({ input }) => input.active === 'page');
    await driveUntil('place', ['e', 'q']);
    await person.release();
  };

  /** Presses the keys that the page names, for as long as the distance it shows takes. */
  const placeCube = async () => {
    await person.waitFor('one cube', ({ world }) => world?.task === 'cube');
    await picture('place');
    const hint = page.getByTestId('tour-hint');
    for (let i = 0; i < 80 && (await page.getAttribute('#tour', 'data-step')) === 'place'; i++) {
      await person.carryOn();
      const [key, mm] = [await hint.getAttribute('data-key'), Number(await hint.getAttribute('data-mm'))];
      if (key === 'g') await person.grip();
      else if (key === 'c') await person.centre();
      else if (key !== null)
        await person.press(key, Math.max(40, Math.min(1200, 1000 * holdForM(mm / 1000))));
    }
    await atStep('shake');
    await person.waitFor('the task of before', ({ world }) => world?.task === 'sort');
  };

  /** Drives to and fro until the tour is at that step. */
  const driveUntil = async (step: string, keys: readonly [string, string]) => {
    for (let i = 0; i < 40 && (await page.getAttribute('#tour', 'data-step')) !== step; i++) {
      await person.press(keys[i % 2]!, 450);
      await person.carryOn();
    }
    await atStep(step);
  };

  const feelWifi = async () => {
    await page.getByTestId('tour-set').click();
    await person.waitFor('no smoothing', ({ link }) => link.playout.startsWith('none'));
    await driveUntil('smooth', ['a', 'd']);
    await picture('smooth');
    await page.getByTestId('playout-mode-adaptive').click();
    await driveUntil('record', ['a', 'd']);
    await person.release();
  };

  /** The recorded arm and its world in 3D, also beside another episode, and the curves. */
  const lookAtReview = async () => {
    const scene = page.getByTestId('episode-scene');
    const pictureAt = async (row: string) => {
      const drawn = Number(await scene.first().getAttribute('data-drawn'));
      await page.getByTestId('scrub').fill(row);
      await until(
        'another picture',
        async () => Number(await scene.first().getAttribute('data-drawn')) > drawn,
      );
      return scene.first().screenshot();
    };
    // The older of the two: in it the arm moves.
    await page.locator('[data-testid^="episode-2"]').nth(1).click();
    await page.locator('[data-drawn]').first().waitFor();
    await page.getByTestId('play').getByText('Play').waitFor();
    const last = Number(await page.getByTestId('scrub').getAttribute('max'));
    assert.notDeepEqual(await pictureAt(String(last)), await pictureAt('0'), 'the arm moves');
    const seen = await page.evaluate<{ world?: { world: { task: string } }[] }[]>(
      `Promise.all([...document.querySelectorAll('[data-testid^="episode-2"]')]
        .map(async (node) => (await fetch('api/episodes/' + node.dataset.testid.slice(8))).json()))`,
    );
    assert.equal(seen[0]?.world?.[0]?.world.task, 'sort');
    await page.getByTestId('plot-gripper').waitFor();
    await page.getByTestId('time-line').waitFor();
    await page.getByTestId('compare').selectOption({ index: 1 });
    await scene.nth(1).waitFor();
    await page.locator('[data-drawn]').nth(1).waitFor();
    await picture('compare');
  };

  const recordAnother = async () => {
    const first = (await person.waitFor('no recording', ({ record }) => record?.state !== 'recording'))
      .record;
    // The cross of a gamepad: right starts, right again keeps.
    await page.evaluate(GAMEPAD);
    const press = async (button: number) => {
      await page.evaluate(`window.__pressed = ${button}`);
      await page.waitForTimeout(150);
      await page.evaluate('window.__pressed = -1');
    };
    await press(15);
    await person.waitFor('rows', ({ record }) => record?.state === 'recording' && record.rows > 20);
    await press(15);
    await person.waitFor(
      'another episode',
      ({ record }) => record?.state !== 'recording' && record?.episode !== first?.episode,
    );
  };

  const recordAndPlay = async () => {
    await page.keyboard.press('n');
    await person.waitFor('a recording', ({ record }) => record?.state === 'recording');
    const from = (await person.telemetry())!.robot!.measuredRad;
    const movedRad = async () =>
      Math.max(...(await person.telemetry())!.robot!.measuredRad.map((rad, i) => Math.abs(rad - from[i]!)));
    for (let i = 0; i < 8 && (await movedRad()) < 0.1; i++) await person.press(i < 4 ? 'e' : 's', 500);
    await person.waitFor('rows', ({ record }) => (record?.rows ?? 0) > 20);
    await person.release();
    await page.keyboard.press('n');
    await atStep('play');
    await recordAnother();
    await page.getByTestId('tour-playback').click();
    await page.getByTestId('play').click();
    await atStep('end');
    await picture('end');
    await lookAtReview();
    assert.equal((await person.telemetry())?.input.active, 'page', 'the person keeps the robot');
    assert.match(
      (await page.locator('.tour-text').textContent()) ?? '',
      /varied by \d+ ms without smoothing/,
    );
    await page.getByTestId('tour-end').click();
    await page.getByTestId('tour').waitFor({ state: 'hidden' });
    await person.waitFor('adaptive smoothing again', ({ link }) => link.playout.startsWith('adaptive'));
    await page.reload();
    await page.getByTestId('tab-operate').click();
    await page.getByTestId('tour-open').waitFor();
    assert.equal(await page.getByTestId('tour').isVisible(), false, 'not offered again');
  };
});

/** A gamepad that reports one pressed button. */
const GAMEPAD = `(() => {
  window.__pressed = -1;
  const buttons = () => Array.from({ length: 17 }, (_, i) => ({ pressed: i === window.__pressed, touched: false, value: Number(i === window.__pressed) }));
  Object.defineProperty(navigator, 'getGamepads', {
    value: () => [{ connected: true, mapping: 'standard', axes: [0, 0, 0, 0], buttons: buttons() }],
  });
})()`;
