import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { Telemetry } from '../../src/messages/telemetry.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { launchChromium } from './chromium.ts';
import { type Running, root, startFarhand } from './farhand.ts';

const artifacts = path.join(root, 'artifacts');
/** Sizes of windows, then of touch screens. */
const WINDOWS = [
  [1440, 900],
  [1024, 768],
  [860, 600],
] as const;
const TABLET = [768, 1024] as const;
const PHONE = [390, 844] as const;

/** The Operate page as people use it: with lists, fingers, small screens, and in a second window. */
describe('the Operate page', { skip: needs('chromium'), timeout: 120_000 }, () => {
  const traces = temporaryFolder();
  let demo: Running;
  let browser: Browser;
  let url: string;
  let page: Page;

  const telemetryOf = (of: Page) => of.evaluate<Telemetry | undefined>('window.__farhand?.lastTelemetry');
  const waitFor = async (
    what: string,
    holds: (seen: Telemetry) => boolean,
    of = page,
  ): Promise<Telemetry> => {
    for (let i = 0; i < 600; i++) {
      const seen = await telemetryOf(of);
      if (seen && holds(seen)) return seen;
      await of.waitForTimeout(50);
    }
    return assert.fail(`${what} not seen: ${JSON.stringify((await telemetryOf(of))?.robot)}`);
  };
  const driveByPage = async (of: Page) => {
    await waitFor('telemetry', () => true, of);
    // An earlier page may still be in control.
    await of.evaluate("document.getElementById('control-note-take').click()");
    const isFree = () => of.evaluate<boolean>("!document.getElementById('inputs').inert");
    await until('inputs to choose from', isFree);
    await of.getByTestId('input-page').click();
    await waitFor('the page as input', ({ input }) => input.active === 'page', of);
    await carryOn(of);
  };
  /** A busy machine stalls, and then the robot rightly holds or stops: this tests the page. */
  const carryOn = async (of: Page) => {
    for (let i = 0; i < 200; i++) {
      const { state } = (await telemetryOf(of))?.robot ?? {};
      if (state === 'armed' || state === 'hold' || state === 'engaged') return;
      const button = state === 'stopped' ? 'reset' : 'arm';
      await of
        .getByTestId(button)
        .click({ timeout: 300 })
        .catch(() => {});
    }
  };
  const touchScreen = async ([width, height]: readonly [number, number]) => {
    const context = await browser.newContext({
      viewport: { width, height },
      hasTouch: true,
      isMobile: true,
    });
    const mobile = await context.newPage();
    await mobile.goto(url);
    await driveByPage(mobile);
    return { context, mobile };
  };
  const handM = (seen: Telemetry) => seen.hand?.positionM ?? [0, 0, 0];

  before(async () => {
    mkdirSync(artifacts, { recursive: true });
    demo = startFarhand([
      ...['demo', '--no-open', 'console.port=0', `trace.dir=${traces}`],
      ...['robot.commandTimeoutMs=500', 'robot.feedbackTimeoutMs=1000'],
    ]);
    url = (await demo.waitFor(/console: (http:\S+)/, 60_000))[1]!;
    browser = await launchChromium();
    page = await browser.newPage({ viewport: { width: 1024, height: 768 } });
    await page.addInitScript(SPACE_MOUSE);
    await page.goto(url);
    await driveByPage(page);
  });

  after(async () => {
    await browser?.close();
    assert.equal(await demo?.end(), 0);
  });

  it('drives with the keys while a list has the focus, and the list does not change', async () => {
    const list = page.getByTestId('profiles');
    await list.selectOption('ethernet');
    await waitFor('telemetry', () => true);
    await list.focus();
    const before = handM(await waitFor('a hand', ({ hand }) => hand !== null))[2]!;
    await page.keyboard.down('Shift');
    await page.keyboard.down('w');
    await waitFor('a hand that moves away', (seen) => handM(seen)[2]! < before - 0.03);
    await page.keyboard.up('w');
    await page.keyboard.up('Shift');
    assert.equal(await list.inputValue(), 'ethernet');
    await list.selectOption('off');
  });

  it('shows, hides and docks panels, draws live plots, and remembers it', async () => {
    const shownIn = (dock: string, id: string) => page.locator(`#${dock} > #${id}:visible`).waitFor();
    await page.getByTestId('plots').waitFor({ state: 'hidden' });
    await page.getByTestId('panels-open').click();
    await page.getByTestId('panel-plots').check();
    await page.getByTestId('dock-plots').selectOption('left');
    await page.getByTestId('dock-latency').selectOption('below');
    await page.getByTestId('panel-input').uncheck();
    await page.screenshot({ path: path.join(artifacts, 'operate-panels.png') });
    await page.getByTestId('panels-open').click();
    await page.getByTestId('panels-menu').waitFor({ state: 'hidden' });
    await page.reload();
    await shownIn('dock-left', 'plots');
    await shownIn('dock-below', 'latency-card');
    await page.locator('#input-card').waitFor({ state: 'hidden' });
    await page.getByTestId('live-joints').getByText('rad').waitFor();
    // Not waitForFunction: the page's security policy forbids eval.
    await until('a drawn plot', () => page.evaluate<boolean>(DRAWN_PLOT));
    await page.screenshot({ path: path.join(artifacts, 'operate-docked.png') });
    await page.getByTestId('panels-open').click();
    await page.getByTestId('panels-reset').click();
    await shownIn('dock-right', 'input-card');
    await page.getByTestId('plots').waitFor({ state: 'hidden' });
    await page.getByTestId('panels-open').click();
    await driveByPage(page);
  });

  it('shows no warning that nobody can act on', async () => {
    const cause = (await page.getByTestId('cause').textContent()) ?? '';
    assert.doesNotMatch(cause, /tracking lost/i);
    assert.doesNotMatch((await page.getByTestId('limit').textContent()) ?? '', /jerk|acceleration/i);
  });

  it('says how to go on after the clutch was let go, and moves nothing below that text', async () => {
    const topOfInputs = () => page.evaluate<number>(TOP_OF_INPUTS);
    await carryOn(page);
    await page.keyboard.down('Shift');
    await waitFor('an engaged robot', ({ robot }) => robot?.state === 'engaged');
    const top = await topOfInputs();
    await page.keyboard.up('Shift');
    await page.getByTestId('cause').getByText('Hold Shift, or drag the pad or the hand.').waitFor();
    assert.equal(await topOfInputs(), top);
  });

  it('points to a hand that leaves the picture, and follows it when asked to', async () => {
    await page.getByTestId('view-wrist').click();
    await page.getByTestId('edge-hand').waitFor({ state: 'visible' });
    await page.getByTestId('view-shoulder').click();
    await page.getByTestId('edge-hand').waitFor({ state: 'hidden' });
  });

  it('moves and turns the hand with a SpaceMouse while Shift is held', async () => {
    await page.locator('#spacemouse', { hasText: 'SpaceMouse Compact' }).waitFor();
    await carryOn(page);
    const before = handM(await waitFor('a hand', ({ hand }) => hand !== null))[1]!;
    await page.keyboard.down('Shift');
    // Pulled up and twisted: z and the rotation about it, as the device reports them.
    await page.evaluate('window.__cap = [0, 0, -350, 0, 0, 350]');
    await waitFor('a hand that rises and turns', (seen) => {
      const [, y = 0] = seen.hand?.quatXyzw ?? [];
      return handM(seen)[1]! > before + 0.03 && y < -0.05;
    });
    await page.evaluate('window.__cap = [0, 0, 0, 0, 0, 0]');
    await page.keyboard.up('Shift');
  });

  it('disables the controls of a second window, names who drives and offers to take over', async () => {
    const second = await browser.newPage({ viewport: { width: 1024, height: 768 } });
    await second.goto(url);
    const note = second.getByTestId('control-note');
    // A page that a busy machine keeps silent for 3 s loses control.
    await until('a note of who drives', async () => {
      if (await note.isVisible()) return true;
      await page.evaluate("document.getElementById('control-note-take').click()");
      await page.waitForTimeout(200);
      return false;
    });
    assert.match((await note.textContent()) ?? '', /Another window .* is driving/);
    assert.equal(await second.evaluate('document.getElementById("actions").inert'), true);
    assert.doesNotMatch((await second.getByTestId('cause').textContent()) ?? '', /Hold Shift|Engage/);
    await second.getByTestId('control-note-take').click();
    await note.waitFor({ state: 'hidden' });
    await page.getByTestId('control-note').waitFor({ state: 'visible' });
    await second.close();
    await page.getByTestId('control-note').waitFor({ state: 'hidden' });
  });

  it('moves while a finger is on the pad, and holds when it is lifted', async () => {
    const { context, mobile } = await touchScreen(PHONE);
    await expectFit(mobile, PHONE);
    await mobile.getByTestId('input-page').getByText('Touch pads').waitFor();
    await mobile.getByTestId('cause').getByText('Drag a finger on the pad.').waitFor();
    const box = (await mobile.locator('#pad').boundingBox())!;
    const touch = await context.newCDPSession(mobile);
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x, y }] });
    await waitFor('the clutch closed by the finger', ({ input }) => input.clutch, mobile);
    const moved = [{ x: x + 30, y: y - 20 }];
    await touch.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: moved });
    await waitFor('a hand that follows the finger', (seen) => handM(seen)[0]! > 0.02, mobile);
    await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
    await waitFor('the clutch opened', ({ input }) => !input.clutch, mobile);
    await mobile.getByTestId('engage').tap();
    await mobile.waitForTimeout(300);
    assert.equal((await telemetryOf(mobile))?.input.clutch, false, 'a tap does not latch');
    await context.close();
  });

  it('has no panel over another and no cut text in a window of any size', async () => {
    await driveByPage(page);
    for (const [width, height] of WINDOWS) {
      await page.setViewportSize({ width, height });
      await expectFit(page, [width, height]);
    }
  });

  it('has no panel over another and no cut text on a tablet', async () => {
    const { context, mobile } = await touchScreen(TABLET);
    await expectFit(mobile, TABLET);
    await context.close();
  });
});

async function expectFit(page: Page, [width, height]: readonly [number, number]): Promise<void> {
  await page.waitForTimeout(400);
  await page.screenshot({ path: path.join(artifacts, `operate-${width}.png`) });
  const faults = [
    ...(await page.evaluate<string[]>(CUT_TEXT)).map((text) => `"${text}" is cut`),
    ...(await page.evaluate<string[]>(OVERLAPS)),
  ];
  assert.deepEqual(faults, [], `at ${width} × ${height}`);
}

const TOP_OF_INPUTS = "document.getElementById('input-card').offsetTop";

const DRAWN_PLOT = `(() => {
  const canvas = document.querySelector('[data-testid="live-joints"] canvas');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  return data.some((value) => value > 0);
})()`;

/** Buttons and tabs whose text does not fit. */
const CUT_TEXT = `[...document.querySelectorAll('button, .tabs a, dt, dd')]
  .filter((node) => node.offsetParent !== null && node.clientWidth > 0 && node.scrollWidth > node.clientWidth + 1)
  .map((node) => node.textContent.trim())`;

/** Pairs of panels that share more than a sliver. */
const OVERLAPS = `(() => {
  const parts = ['.brand-text', '.tabs', '#theme', '#estop', '.stage-head', '.stage-tools', '#cameras', '#drive', '.side']
    .map((name) => [name, document.querySelector(name)])
    .filter(([, node]) => node.offsetParent !== null)
    .map(([name, node]) => [name, node.getBoundingClientRect()]);
  const pairs = [];
  for (const [a, p] of parts) for (const [b, q] of parts) {
    if (a >= b) continue;
    const w = Math.min(p.right, q.right) - Math.max(p.left, q.left);
    const h = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
    if (w > 2 && h > 2) pairs.push(a + ' over ' + b);
  }
  return pairs;
})()`;

/** A SpaceMouse that was permitted before: its reports 1 and 2, every 16 ms, as WebHID delivers them. */
const SPACE_MOUSE = `(() => {
  window.__cap = [0, 0, 0, 0, 0, 0];
  const device = Object.assign(new EventTarget(), { opened: false, productName: 'SpaceMouse Compact', open: async () => {} });
  const report = (reportId, counts) => {
    const data = new DataView(new ArrayBuffer(6));
    counts.forEach((count, i) => data.setInt16(2 * i, count, true));
    device.dispatchEvent(Object.assign(new Event('inputreport'), { reportId, data }));
  };
  setInterval(() => {
    report(1, window.__cap.slice(0, 3));
    report(2, window.__cap.slice(3));
  }, 16);
  Object.defineProperty(navigator, 'hid', {
    value: Object.assign(new EventTarget(), { getDevices: async () => [device], requestDevice: async () => [device] }),
  });
})()`;
