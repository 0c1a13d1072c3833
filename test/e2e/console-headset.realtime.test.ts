import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { AccessNews } from '../../src/messages/console-access.ts';
import type { Telemetry } from '../../src/messages/telemetry.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { launchChromium } from './chromium.ts';
import { emulateQuest, LOOPBACK_PEERS, Wearer } from './emulated-headset.ts';
import { type Running, root, stampsIn, startFarhand } from './farhand.ts';

const artifacts = path.join(root, 'artifacts');
const RIGHT = [0.25, 1.2, -0.4] as const;
const LEFT = [-0.25, 1.2, -0.4] as const;

interface Seen {
  telemetry: Telemetry;
  access: AccessNews;
  over: string;
  frames: number;
}

/** Kept in the page, so that nothing between two looks from here is missed. */
const KEEP = `window.kept = []; setInterval(() => {
  const { telemetry } = window.__farhandXr;
  if (telemetry && telemetry !== window.kept.at(-1)) window.kept.push(telemetry);
}, 5)`;

/** From the sample in the headset to the robot's joints, of commands whose tick is known from telemetry. */
function deviceToAppliedMs(kept: readonly Telemetry[]): number[] {
  const closed = kept.flatMap((one) => one.closed).filter(({ outcome }) => outcome === 'applied');
  return kept.flatMap(({ operatorNs, input, robot }) => {
    const command = closed.find(({ atS }) => Math.abs(atS * 1e9 - operatorNs) < 2e6);
    if (robot?.state !== 'engaged' || command?.oneWayMs == null || input.ageMs == null) return [];
    return [input.ageMs + command.oneWayMs];
  });
}

describe('a headset’s page, with an emulated Quest 3', { skip: needs('chromium') }, () => {
  const traces = temporaryFolder();
  let demo: Running;
  let url: string;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let wearer: Wearer;
  const complaints: string[] = [];

  const seen = () => page.evaluate<Seen>('window.__farhandXr');
  const waitFor = async (what: string, holds: (seen: Seen) => boolean, of = seen) => {
    for (let i = 0; i < 400; i++) {
      const now = await of();
      if (now?.telemetry && holds(now)) return now;
      await page.waitForTimeout(50);
    }
    const { telemetry, access, over } = await of();
    assert.fail(
      `${what} not seen: ${JSON.stringify({ robot: telemetry?.robot, input: telemetry?.input, access, over })}`,
    );
  };
  const waitState = (state: string) => waitFor(state, ({ telemetry }) => telemetry.robot?.state === state);
  /** As a person does: a clutch that closed while the headset was lost does not count, and is opened and closed again. */
  const engage = async (close = (isClosed: boolean) => wearer.pinch('left', isClosed)) => {
    const isEngaged = async () => (await seen()).telemetry.robot?.state === 'engaged';
    for (let tries = 0; tries < 5 && !(await isEngaged()); tries++) {
      await close(false);
      await waitFor('an open clutch', ({ telemetry: { input } }) => input.status === 'ok' && !input.clutch);
      await page.waitForTimeout(300);
      await close(true);
      for (let i = 0; i < 40 && !(await isEngaged()); i++) await page.waitForTimeout(50);
    }
    await waitState('engaged');
  };
  /** Reset and arm as another page of this machine would; this one keeps control. */
  const recover = async () => {
    for (const side of ['left', 'right'] as const) await wearer.shape(side, 'default');
    await wearer.pinch('left', false);
    await page.waitForTimeout(400);
    await wearer.place('left', [-0.52, 1.02, -0.42]);
    await page.evaluate('window.__farhandXr.press("reset")');
    await waitState('idle');
    await page.evaluate('window.__farhandXr.press("arm")');
    await waitState('armed');
    await wearer.place('left', LEFT);
  };

  before(async () => {
    mkdirSync(artifacts, { recursive: true });
    const [command, state, sync, desk, telemetry] = await freeUdpPorts(5);
    demo = startFarhand([
      ...['demo', '--no-open', 'operator.input=webxr', `trace.dir=${traces}`, 'console.port=0'],
      // A shared machine stalls; what is tried here is the headset, not the watchdog.
      ...['robot.commandTimeoutMs=500', 'robot.feedbackTimeoutMs=1000', 'robot.playout=fixed:20'],
      'operator.inputs.webxr.staleAfterMs=1000',
      ...[`link.commandPort=${command}`, `link.statePort=${state}`, `link.syncPort=${sync}`],
      ...[`console.deskPort=${desk}`, `console.telemetryPort=${telemetry}`],
    ]);
    url = (await demo.waitFor(/console: (http:\S+)/, 55_000))[1]!;
    browser = await launchChromium(LOOPBACK_PEERS);
    context = await browser.newContext({ viewport: { width: 480, height: 270 } });
    await emulateQuest(context);
    page = await context.newPage();
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    wearer = new Wearer(page);
    await page.goto(`${url}vr`);
  });

  after(async () => {
    await browser?.close();
    assert.equal(await demo?.end(), 0);
  });

  it('enters VR, takes control, and sends its poses by WebRTC', async () => {
    await page.screenshot({ path: path.join(artifacts, 'vr-page.png') });
    await page.getByTestId('enter-vr').click();
    await wearer.place('right', RIGHT);
    await wearer.place('left', LEFT);
    const { telemetry } = await waitFor(
      'a hand by WebRTC',
      ({ telemetry: { input, hand }, over, access }) =>
        over === 'webrtc' &&
        access.inControl &&
        input.active === 'webxr' &&
        input.status === 'ok' &&
        hand !== null,
    );
    assert.equal(telemetry.hand?.pointsM?.length, 63, 'the fingers come too');
    assert.equal(telemetry.robot?.state, 'armed');
  });

  it('engages by a pinch of the other hand, and the arm follows the hand', async () => {
    await page.evaluate(KEEP);
    await engage();
    const before = (await seen()).telemetry.robot!.measuredRad;
    let farRad = 0;
    const waving = wearer.wave('right', RIGHT, 4500);
    for (let i = 0; i < 25; i++) {
      await page.waitForTimeout(100);
      const { measuredRad, state } = (await seen()).telemetry.robot!;
      farRad = Math.max(farRad, ...before.map((rad, joint) => Math.abs(rad - measuredRad[joint]!)));
      // A stall of this machine holds the robot; the clutch then has to be opened.
      if (state === 'hold') await engage();
    }
    const shot = await page.screenshot({ path: path.join(artifacts, 'vr.png') });
    await waving;
    assert.ok(farRad > 0.1, `joints moved ${farRad} rad`);
    assert.ok(shot.length > 6000, `${shot.length} bytes of PNG`);
  });

  it('tells how long it is from the headset’s sample to the robot', async () => {
    const kept = await page.evaluate<Telemetry[]>('window.kept');
    const ms = deviceToAppliedMs(kept).sort((a, b) => a - b);
    const at = (share: number) => ms[Math.floor(share * (ms.length - 1))]!;
    console.log(
      `headset sample → applied, by WebRTC on loopback: p50 ${at(0.5).toFixed(1)} ms, p99 ${at(0.99).toFixed(1)} ms, n ${ms.length}`,
    );
    assert.ok(ms.length > 10, `${ms.length} commands`);
    assert.ok(at(0) > 0 && at(0.5) < 1000, `${at(0)} … ${at(0.5)} ms`);
  });

  it('begins its traces in the headset’s frame, on the operator’s clock', async () => {
    await page.waitForTimeout(800); // A line waits for its command's motion.
    const whole = stampsIn(traces).filter((stamps) => 'device.sampled' in stamps && 'device.sent' in stamps);
    assert.ok(whole.length > 30, `${whole.length} commands`);
    const ORDER = ['device.sampled', 'device.sent', 'device.arrived', 'operator.sampled'];
    for (const stamps of whole) {
      const way = ORDER.map((name) => stamps[name]!);
      assert.deepEqual(
        way,
        way.toSorted((a, b) => a - b),
        JSON.stringify(stamps),
      );
      assert.ok(way[3]! - way[0]! < 1.1e9, JSON.stringify(stamps));
    }
  });

  it('holds when the hand is lost, and follows again only after the clutch was opened', async () => {
    await engage();
    await wearer.see('right', false);
    await waitState('hold');
    await wearer.see('right', true);
    await page.waitForTimeout(500);
    assert.equal((await seen()).telemetry.robot?.state, 'hold', 'the clutch was never opened');
    await engage();
  });

  it('holds when joints are lost though the hand is said to be there', async () => {
    await page.evaluate(`{
      const { prototype } = XRFrame;
      window.realJoint = prototype.getJointPose;
      prototype.getJointPose = function (joint, space) {
        return joint.jointName === 'ring-finger-tip' ? undefined : window.realJoint.call(this, joint, space);
      };
    }`);
    await waitState('hold');
    await page.evaluate('XRFrame.prototype.getJointPose = window.realJoint');
    await engage();
  });

  it('holds while a menu of the headset is over the page', async () => {
    await page.evaluate("quest.updateVisibilityState('visible-blurred')");
    await waitState('hold');
    await page.evaluate("quest.updateVisibilityState('visible')");
    await engage();
  });

  it('is stopped by two fists', async () => {
    await wearer.pinch('left', false);
    for (const side of ['left', 'right'] as const) await wearer.shape(side, 'fist');
    await waitState('stopped');
    await recover();
  });

  it('is stopped from a keyboard: Escape, Space, or Enter on the button', async () => {
    for (const key of ['Escape', 'Space', 'Enter']) {
      if (key === 'Enter') await page.getByTestId('stop').focus();
      await page.keyboard.press(key);
      await waitState('stopped');
      await page.getByTestId('stop').filter({ hasText: 'STOPPED' }).waitFor();
      await recover();
    }
  });

  it('is stopped by B of a controller, and does not follow a controller whose place is a guess', async () => {
    await page.evaluate("quest.primaryInputMode = 'controller'");
    await page.evaluate("quest.controllers.right.updateButtonValue('squeeze', 1)");
    await page.waitForTimeout(400);
    assert.equal((await seen()).telemetry.robot?.state, 'armed');
    await page.evaluate("quest.controllers.right.updateButtonValue('b-button', 1)");
    await waitState('stopped');
    await page.evaluate("quest.controllers.right.updateButtonValue('b-button', 0)");
    await page.evaluate("quest.controllers.right.updateButtonValue('squeeze', 0)");
    await page.evaluate("quest.primaryInputMode = 'hand'");
    await recover();
  });

  it('goes on over the WebSocket when the peer connection dies, and finds its way back', async () => {
    await page.evaluate('window.__farhandXr.dropPeer()');
    await waitFor(
      'websocket',
      ({ over, telemetry }) => over === 'websocket' && telemetry.input.status === 'ok',
    );
    await engage();
    await waitFor('webrtc', ({ over }) => over === 'webrtc');
    await wearer.pinch('left', false);
    await waitState('hold');
  });

  it('follows controllers, with passthrough: grip to engage, trigger for the gripper', async () => {
    await page.goto(`${url}vr?guesses=follow`);
    await page.evaluate("quest.primaryInputMode = 'controller'");
    await page.getByTestId('enter-ar').click();
    await waitFor(
      'control',
      ({ access, telemetry: { input } }) => access?.inControl && input.status === 'ok',
    );
    await page.evaluate("quest.controllers.right.updateButtonValue('trigger', 1)");
    await engage((isClosed) =>
      page.evaluate(`quest.controllers.right.updateButtonValue('squeeze', ${isClosed ? 1 : 0})`),
    );
    await waitFor('a closed gripper', ({ telemetry }) => telemetry.robot!.gripper > 0.9);
    await page.evaluate("quest.controllers.right.updateButtonValue('squeeze', 0)");
    await waitState('hold');
    await page.evaluate("quest.primaryInputMode = 'hand'");
    await wearer.place('right', RIGHT);
    await wearer.place('left', LEFT);
  });

  it('is one of two pages: the desk’s sees who is in control, and takes over', async () => {
    const desk = await context.newPage();
    await desk.setViewportSize({ width: 1280, height: 720 });
    await desk.goto(url);
    // A page behind another draws once a second: its hand would come and go.
    await page.bringToFront();
    await engage();
    const text = async () => (await desk.getByTestId('control').textContent()) ?? '';
    for (let i = 0; i < 60 && (await text()) !== 'this computer'; i++) await desk.waitForTimeout(50);
    assert.equal(await text(), 'this computer');
    await desk.screenshot({ path: path.join(artifacts, 'console-control.png') });
    await desk.getByTestId('take-control').click();
    await waitState('hold');
    await waitFor('no more control', ({ access }) => !access.inControl);
    await wearer.pinch('left', false);
    await page.waitForTimeout(200);
    await wearer.pinch('left', true);
    await page.waitForTimeout(400);
    assert.equal(
      (await seen()).telemetry.robot?.state,
      'hold',
      'poses of a page that only looks on are refused',
    );
    await desk.close();
  });

  it('made no complaint in the browser console', () => {
    assert.deepEqual(complaints, []);
  });
});
