import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { AccessState } from '../../src/messages/console-access.ts';
import type { Telemetry } from '../../src/messages/telemetry.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { launchChromium } from './chromium.ts';
import { emulateQuest, LOOPBACK_PEERS, Wearer } from './emulated-headset.ts';
import { type Running, root, stampsIn, startFarhand } from './farhand.ts';

const artifacts = path.join(root, 'artifacts');
const RIGHT = [0.25, 1.2, -0.4] as const;
const LEFT = [-0.25, 1.2, -0.4] as const;

interface Seen {
  telemetry: Telemetry;
  access: AccessState;
  over: string;
  frames: number;
}

/** Collected in the page: polling from here would miss messages. */
const KEEP = `window.kept = []; setInterval(() => {
  const { telemetry } = window.__farhandXr;
  if (telemetry && telemetry !== window.kept.at(-1)) window.kept.push(telemetry);
}, 5)`;

/** From the headset's sample to the robot's joints, for commands that telemetry identifies. */
function deviceToAppliedMs(kept: readonly Telemetry[]): number[] {
  const closed = kept.flatMap((one) => one.closed).filter(({ outcome }) => outcome === 'applied');
  return kept.flatMap(({ operatorNs, input, robot }) => {
    const command = closed.find(({ atS }) => Math.abs(atS * 1e9 - operatorNs) < 2e6);
    if (robot?.state !== 'engaged' || command?.oneWayMs == null || input.ageMs == null) return [];
    return [input.ageMs + command.oneWayMs];
  });
}

describe('headset page with an emulated Quest 3', { skip: needs('chromium') }, () => {
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
  /** Like a person: reopens and closes the clutch if it closed while tracking was lost. */
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
  /** Resets and arms; this page keeps control. */
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
      // A busy machine stalls. This tests the headset page, not the watchdogs.
      ...['robot.commandTimeoutMs=500', 'robot.feedbackTimeoutMs=1000', 'robot.playout=fixed:20'],
      'operator.inputs.webxr.staleAfterMs=1000',
      ...[`link.commandPort=${command}`, `link.statePort=${state}`, `link.syncPort=${sync}`],
      ...[`console.deskPort=${desk}`, `console.telemetryPort=${telemetry}`],
    ]);
    url = (await demo.waitFor(/console: (http:\S+)/, 55_000))[1]!;
    browser = await launchChromium(LOOPBACK_PEERS, 0);
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

  it('enters VR, takes control and sends poses over WebRTC', async () => {
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
    assert.equal(telemetry.hand?.pointsM?.length, 63, 'includes the fingers');
    assert.equal(telemetry.robot?.state, 'armed');
  });

  it('engages with a pinch of the other hand, and the arm follows', async () => {
    await page.evaluate(KEEP);
    await engage();
    const before = (await seen()).telemetry.robot!.measuredRad;
    let farRad = 0;
    const waving = wearer.wave('right', RIGHT, 4500);
    for (let i = 0; i < 25; i++) {
      await page.waitForTimeout(100);
      const { measuredRad, state } = (await seen()).telemetry.robot!;
      farRad = Math.max(farRad, ...before.map((rad, joint) => Math.abs(rad - measuredRad[joint]!)));
      // A stall holds the robot: open and close the clutch.
      if (state === 'hold') await engage();
    }
    const shot = await page.screenshot({ path: path.join(artifacts, 'vr.png') });
    await waving;
    assert.ok(farRad > 0.1, `joints moved ${farRad} rad`);
    assert.ok(shot.length > 6000, `${shot.length} bytes of PNG`);
  });

  it('measures the time from headset sample to robot', async () => {
    let ms: number[] = [];
    await until('commands of the headset', async () => {
      ms = deviceToAppliedMs(await page.evaluate<Telemetry[]>('window.kept')).sort((a, b) => a - b);
      return ms.length > 10;
    });
    const at = (share: number) => ms[Math.floor(share * (ms.length - 1))]!;
    console.log(
      `headset sample → applied, by WebRTC on loopback: p50 ${at(0.5).toFixed(1)} ms, p99 ${at(0.99).toFixed(1)} ms, n ${ms.length}`,
    );
    assert.ok(at(0) > 0 && at(0.5) < 1000, `${at(0)} … ${at(0.5)} ms`);
  });

  it('stamps headset samples on the operator clock in the trace', async () => {
    await page.waitForTimeout(800); // A trace line is written after the motion of its command.
    const whole = stampsIn(traces).filter((stamps) => 'device.sampled' in stamps && 'device.sent' in stamps);
    assert.ok(whole.length > 30, `${whole.length} commands`);
    const ORDER = ['device.sampled', 'device.sent', 'device.arrived', 'operator.sampled'];
    for (const stamps of whole) {
      const ordered = ORDER.map((name) => stamps[name]!);
      assert.deepEqual(
        ordered,
        ordered.toSorted((a, b) => a - b),
        JSON.stringify(stamps),
      );
      assert.ok(ordered[3]! - ordered[0]! < 1.1e9, JSON.stringify(stamps));
    }
  });

  it('holds when the hand is lost, until the clutch opens and closes', async () => {
    await engage();
    await wearer.see('right', false);
    await waitState('hold');
    await wearer.see('right', true);
    await page.waitForTimeout(500);
    assert.equal((await seen()).telemetry.robot?.state, 'hold', 'the clutch did not open');
    await engage();
  });

  it('holds when joints are missing from a tracked hand', async () => {
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

  it('holds while a headset menu covers the page', async () => {
    await page.evaluate("quest.updateVisibilityState('visible-blurred')");
    await waitState('hold');
    await page.evaluate("quest.updateVisibilityState('visible')");
    await engage();
  });

  it('stops on two fists', async () => {
    await wearer.pinch('left', false);
    for (const side of ['left', 'right'] as const) await wearer.shape(side, 'fist');
    await waitState('stopped');
    await recover();
  });

  it('stops on Escape, Space, or Enter on the button', async () => {
    for (const key of ['Escape', 'Space', 'Enter']) {
      if (key === 'Enter') await page.getByTestId('stop').focus();
      await page.keyboard.press(key);
      await waitState('stopped');
      await page.getByTestId('stop').filter({ hasText: 'STOPPED' }).waitFor();
      await recover();
    }
  });

  it('stops on controller button B and ignores emulated positions', async () => {
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

  it('falls back to the WebSocket without WebRTC, then reconnects', async () => {
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

  it('follows controllers in passthrough: grip engages, trigger moves the gripper', async () => {
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

  it('loses control when another page takes over', async () => {
    const desk = await context.newPage();
    await desk.setViewportSize({ width: 1280, height: 720 });
    await desk.goto(url);
    // A background page draws once a second, so its hand would be stale.
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
    assert.equal((await seen()).telemetry.robot?.state, 'hold', 'rejects poses from a page without control');
    await desk.close();
  });

  it('takes control as soon as it is connected, when the wearer was faster', async () => {
    const late = await context.newPage();
    let connect = () => {};
    const isConnected = new Promise<void>((resolve) => {
      connect = resolve;
    });
    await late.routeWebSocket(/.*/, async (socket) => {
      await isConnected;
      socket.connectToServer();
    });
    await late.goto(`${url}vr`);
    await late.getByTestId('enter-vr').click();
    await until('the session', () => late.evaluate<boolean>('quest.activeSession !== undefined'));
    connect();
    await waitFor(
      'control',
      ({ access, telemetry: { input } }) => access?.inControl && input.active === 'webxr',
      () => late.evaluate<Seen>('window.__farhandXr'),
    );
    await late.close();
  });

  it('logs no errors in the browser', () => {
    assert.deepEqual(complaints, []);
  });
});
