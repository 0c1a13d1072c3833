import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { ANIMATED, expectAccessible, UNSEEN_FOCUS } from './accessible.ts';
import { launchChromium } from './chromium.ts';
import { faintTexts } from './contrast.ts';
import { type Running, startFarhand } from './farhand.ts';
import { PageDriver } from './page-driver.ts';

const PAGES = ['operate', 'latency', 'record', 'devices'] as const;

/** The console for people who see little, do not use a pointer, or do not want motion. */
describe('the accessibility of the console', { skip: needs('chromium'), timeout: 120_000 }, () => {
  const folder = temporaryFolder();
  let demo: Running;
  let browser: Browser;
  let page: Page;
  let url: string;
  let person: PageDriver;

  /** Presses Tab until that element has the focus. */
  const tabTo = async (testid: string, most = 60) => {
    for (let i = 0; i < most; i++) {
      await page.keyboard.press('Tab');
      const at = await page.evaluate<string | undefined>('document.activeElement?.dataset?.testid');
      if (at === testid) return;
    }
    assert.fail(`Tab does not reach ${testid}`);
  };

  before(async () => {
    demo = startFarhand([
      ...['demo', '--no-open', 'console.port=0', `trace.dir=${folder}/traces`],
      `record.dir=${folder}/recordings`,
    ]);
    url = (await demo.waitFor(/console: (http:\S+)/, 60_000))[1]!;
    browser = await launchChromium();
    page = await browser.newPage({ viewport: { width: 1100, height: 700 }, reducedMotion: 'reduce' });
    person = new PageDriver(page);
    await page.goto(url);
    await person.waitFor('telemetry', () => true);
  });

  after(async () => {
    await browser?.close();
    assert.equal(await demo?.end(), 0);
  });

  it('runs through by keyboard alone: drive, record, play back, stop, reset, arm', async () => {
    await tabTo('input-page');
    await page.keyboard.press('Enter');
    await person.waitFor('the page as input', ({ input }) => input.active === 'page');
    const from = (await person.waitFor('a hand', ({ hand }) => hand !== null)).hand!.positionM[2]!;
    await page.keyboard.press('n');
    await person.waitFor('a recording', ({ record }) => record?.state === 'recording');
    await page.keyboard.down('Shift');
    await page.keyboard.down('w');
    await person.waitFor('a hand that moves', ({ hand }) => (hand?.positionM[2] ?? 0) < from - 0.03);
    await page.keyboard.up('w');
    await page.keyboard.up('Shift');
    await person.waitFor('rows', ({ record }) => (record?.rows ?? 0) > 10);
    await page.keyboard.press('n');
    await person.waitFor('a kept recording', ({ record }) => record?.state !== 'recording');
    await page.keyboard.press('Escape');
    await person.waitFor('a stop', ({ robot }) => robot?.state === 'stopped', 100);
    await page.evaluate('document.activeElement?.blur()');
    await tabTo('reset');
    await page.keyboard.press('Enter');
    await page.locator('#arm:enabled').waitFor();
    await page.evaluate('document.activeElement?.blur()');
    await tabTo('arm');
    await page.keyboard.press('Enter');
    await person.waitFor(
      'an armed robot',
      ({ robot }) => robot?.state !== 'idle' && robot?.state !== 'stopped',
    );
    await page.evaluate('document.activeElement?.blur()');
    await tabTo('tab-record');
    await page.keyboard.press('Enter');
    await page.locator('[data-testid^="episode-2"]').waitFor();
    await page.keyboard.press('n');
    await page.getByTestId('play').waitFor();
    await tabTo('play');
    await page.keyboard.press('Enter');
    await page
      .getByTestId('play')
      .getByText('Pause')
      .or(page.getByTestId('play').getByText('Play'))
      .waitFor();
    assert.notEqual(await page.getByTestId('scrub').inputValue(), '', 'the recording is open');
  });

  it('replays it on the robot, behind a guard, and stops with the page that started it', async () => {
    const state = (name: string) =>
      page.locator(`[data-testid="replay-progress"][data-state="${name}"]`).waitFor({ timeout: 20_000 });
    const start = async () => {
      await page.getByTestId('replay-ask').click();
      assert.ok(await page.getByTestId('replay-start').isDisabled(), 'not before the space is clear');
      await page.getByTestId('replay-clear').check();
      await page.getByTestId('replay-speed').selectOption('1');
      await page.getByTestId('replay-start').click();
      await state('running');
    };
    await page.locator('[data-testid="replay-ask"]:enabled').waitFor();
    await start();
    await state('done');
    await person.waitFor('a robot that holds', ({ robot }) => robot?.state === 'hold');
    await start();
    await page.getByTestId('replay-stop').click();
    await state('stopped');
    await start();
    const other = await browser.newPage();
    await other.goto(url);
    await other.getByTestId('control-note-take').click();
    await state('stopped');
    await person.waitFor('a robot that holds', ({ robot }) => robot?.state === 'hold');
    await other.close();
  });

  it('shows where the focus is', async () => {
    for (const name of PAGES) {
      await page.getByTestId(`tab-${name}`).click();
      await page.evaluate('document.activeElement?.blur()');
      await page.waitForTimeout(300);
      const hidden = new Set<string>();
      for (let i = 0; i < 25; i++) {
        await page.keyboard.press('Tab');
        const unseen = await page.evaluate<string | null>(UNSEEN_FOCUS);
        if (unseen !== null) hidden.add(unseen);
      }
      assert.deepEqual([...hidden], [], `on ${name}`);
    }
  });

  for (const colorScheme of ['light', 'dark'] as const)
    it(`has enough contrast in the ${colorScheme} theme, on every page`, async () => {
      await page.emulateMedia({ colorScheme });
      for (const name of PAGES) {
        await page.getByTestId(`tab-${name}`).click();
        await page.locator(`#page-${name}`).waitFor();
        await page.waitForTimeout(250);
        assert.deepEqual(await faintTexts(page), [], `on ${name}`);
      }
      await page.keyboard.press('Escape');
      await page.getByTestId('tab-operate').click();
      await page.locator('#badge[data-state="stopped"]').waitFor();
      assert.deepEqual(await faintTexts(page), [], 'while stopped');
      await page.getByTestId('reset').click();
      const other = await browser.newPage({ colorScheme });
      for (const name of ['pair', 'trust']) {
        await other.goto(new URL(name, url).href);
        await other.waitForTimeout(300);
        assert.deepEqual(await faintTexts(other), [], `on /${name}`);
      }
      await other.close();
    });

  it('has a shape and a word for every state, not only a colour', async () => {
    const shapes = await page.evaluate<string[]>(CHIP_SHAPES);
    assert.equal(new Set(shapes).size, 3, shapes.join('; '));
    assert.match((await page.getByTestId('state').textContent()) ?? '', /\w/);
    const region = await page.evaluate<string>(
      "document.getElementById('announce').getAttribute('aria-live')",
    );
    assert.equal(region, 'polite');
    assert.match((await page.locator('#announce').textContent()) ?? '', /^Robot: \w+\./);
  });

  it('has a headset page that is accessible too', async () => {
    const other = await browser.newPage({ viewport: { width: 900, height: 640 } });
    await other.goto(new URL('vr', url).href);
    await other.locator('#state').getByText(/\w/).waitFor();
    await expectAccessible(other, '/vr');
    await other.close();
  });

  it('moves nothing of its own for people who asked for less motion', async () => {
    assert.equal(await page.evaluate('document.getAnimations().length'), 0);
    assert.equal(await page.evaluate(ANIMATED), 0);
  });
});

const CHIP_SHAPES = `['good', 'warn', 'bad'].map((tone) => {
  const chip = document.createElement('li');
  chip.className = 'chip';
  chip.dataset.tone = tone;
  const dot = chip.appendChild(document.createElement('i'));
  document.querySelector('.chips').append(chip);
  const shape = getComputedStyle(dot).clipPath;
  chip.remove();
  return shape;
})`;
