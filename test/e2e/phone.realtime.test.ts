import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { Telemetry } from '../../src/messages/telemetry.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { launchChromium } from './chromium.ts';
import { emulatePhone, LOOPBACK_PEERS } from './emulated-headset.ts';
import { type Running, root, startFarhand } from './farhand.ts';

const START = [0, 1.3, -0.2] as const;

describe('an emulated Android phone as the hand', { skip: needs('chromium') }, () => {
  let demo: Running;
  let browser: Browser;
  let page: Page;
  let url: string;
  const complaints: string[] = [];
  const telemetry = () => page.evaluate<Telemetry | null>('window.__farhandXr.telemetry');
  const waitFor = async (what: string, isSo: (seen: Telemetry) => boolean): Promise<Telemetry> => {
    for (let i = 0; i < 400; i++) {
      const seen = await telemetry();
      if (seen !== null && isSo(seen)) return seen;
      await page.waitForTimeout(50);
    }
    const seen = await telemetry();
    return assert.fail(`${what}: ${JSON.stringify({ robot: seen?.robot, input: seen?.input })}`);
  };
  const waitState = (state: string) => waitFor(state, ({ robot }) => robot?.state === state);
  const hold = ([x, y, z]: readonly number[]) => page.evaluate(`phone.position.set(${x}, ${y}, ${z})`);
  /** The emulator's picture covers the page, as no phone does: a press is sent to the button itself. */
  const press = async (name: string) => {
    for (const type of ['pointerdown', 'pointerup', 'click'])
      await page.getByTestId(name).dispatchEvent(type);
  };
  const fingers = (count: number) =>
    page.evaluate(`{
      const main = document.querySelector('main');
      const event = (type, id) => main.dispatchEvent(new PointerEvent(type, { pointerId: id, pointerType: 'touch', bubbles: true }));
      for (let id = 100; id < 102; id++) event(id - 100 < ${count} ? 'pointerdown' : 'pointerup', id);
    }`);

  /** Like a person: after a stall of a busy machine the robot holds, until the finger is lifted and put down again. */
  const drive = async (
    count: number,
    what: string,
    isSo: (seen: Telemetry) => boolean,
  ): Promise<Telemetry> => {
    for (let i = 0; i < 300; i++) {
      const seen = await telemetry();
      if (seen !== null && seen.robot?.state === 'engaged' && isSo(seen)) return seen;
      if (seen?.robot?.state === 'hold' || seen?.robot?.state === 'armed') {
        await fingers(0);
        await waitFor('an open clutch', ({ input }) => !input.clutch);
        await page.waitForTimeout(200);
        await fingers(count);
        await page.waitForTimeout(300);
      }
      await page.waitForTimeout(50);
    }
    return waitFor(what, isSo);
  };

  before(async () => {
    const [command, state, sync, desk, telemetryPort] = await freeUdpPorts(5);
    demo = startFarhand([
      ...['demo', '--no-open', 'operator.input=webxr', `trace.dir=${temporaryFolder()}`, 'console.port=0'],
      // A busy machine stalls. This tests the phone's page, not the watchdogs.
      ...['robot.commandTimeoutMs=500', 'robot.feedbackTimeoutMs=1000', 'robot.playout=fixed:20'],
      'operator.inputs.webxr.staleAfterMs=1000',
      ...[`link.commandPort=${command}`, `link.statePort=${state}`, `link.syncPort=${sync}`],
      ...[`console.deskPort=${desk}`, `console.telemetryPort=${telemetryPort}`],
    ]);
    url = (await demo.waitFor(/console: (http:\S+)/, 55_000))[1]!;
    browser = await launchChromium(LOOPBACK_PEERS, 0);
    const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
    await emulatePhone(context);
    page = await context.newPage();
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    await page.goto(`${url}vr`);
  });

  after(async () => {
    await browser?.close();
    assert.equal(await demo?.end(), 0);
  });

  it('is offered where AR is and VR is not', async () => {
    const enter = page.getByTestId('enter-ar').filter({ hasText: 'Drive with this phone' });
    await enter.waitFor();
    assert.ok(!(await page.getByTestId('enter-vr').isVisible()));
    mkdirSync(path.join(root, 'artifacts'), { recursive: true });
    await page.screenshot({ path: path.join(root, 'artifacts', 'phone-page.png') });
    await enter.click();
    await hold(START);
    await waitFor(
      'the phone',
      ({ input }) => input.active === 'webxr' && input.status === 'ok' && !input.clutch,
    );
    assert.equal((await telemetry())!.robot?.state, 'armed', 'no finger: nothing moves');
    await page.screenshot({ path: path.join(root, 'artifacts', 'phone-drives.png') });
  });

  it('moves the arm with one finger, closes the gripper with a second, and holds without', async () => {
    await fingers(1);
    const before = (await drive(1, 'engaged', () => true)).robot!;
    assert.ok(before.gripper < 0.1, 'one finger leaves the gripper open');
    let farRad = 0;
    for (let i = 1; i <= 40 || (farRad < 0.1 && i < 200); i++) {
      await hold([START[0] + 0.06 * Math.sin(i / 10), START[1], START[2]]);
      const { robot } = await drive(1, 'engaged', () => true);
      farRad = Math.max(
        farRad,
        ...before.measuredRad.map((rad, k) => Math.abs(rad - robot!.measuredRad[k]!)),
      );
    }
    assert.ok(farRad > 0.1, `joints moved ${farRad} rad`);
    await fingers(2);
    await drive(2, 'a closed gripper', ({ robot }) => robot!.gripper > 0.9);
    await fingers(1);
    await drive(1, 'an open gripper', ({ robot }) => robot!.gripper < 0.1);
    await fingers(0);
    await waitFor('no motion', ({ robot, input }) => robot?.state !== 'engaged' && !input.clutch);
    const rest = (await telemetry())!.robot!.measuredRad;
    await hold([START[0] - 0.2, START[1], START[2]]);
    await page.waitForTimeout(500);
    const after = (await telemetry())!.robot!.measuredRad;
    rest.forEach((rad, i) => {
      assert.ok(Math.abs(rad - after[i]!) < 0.05, `joint ${i} moved by ${after[i]! - rad}`);
    });
  });

  it('stops with its button, which is no finger on the robot', async () => {
    await fingers(1);
    await drive(1, 'engaged', () => true);
    await press('stop');
    await waitState('stopped');
    await fingers(0);
    const step = page.getByTestId('step');
    await step.filter({ hasText: 'RESET' }).waitFor();
    await press('step');
    // The press is repeated until the page sees its effect. On a busy machine a repeat may arrive after the reset, and rightly stops
    // the robot again.
    for (let i = 0; i < 100 && (await telemetry())!.robot?.state !== 'idle'; i++) {
      await page.waitForTimeout(200);
      if ((await telemetry())!.robot?.state === 'stopped' && /RESET/.test((await step.textContent()) ?? ''))
        await press('step');
    }
    await waitState('idle');
    await page.getByTestId('step').getByText('ARM', { exact: true }).waitFor();
    await press('step');
    await waitState('armed');
    assert.equal((await telemetry())!.input.clutch, false, 'a press on a button does not close the clutch');
  });

  it('holds when the session ends', async () => {
    await fingers(1);
    await drive(1, 'engaged', () => true);
    await press('leave');
    await waitFor('the end', ({ robot }) => robot?.state !== 'engaged');
    assert.deepEqual(complaints, []);
  });

  it('says what is missing in a browser without AR, and without HTTPS', async () => {
    const plain = await browser.newPage();
    await plain.goto(`${url}vr`);
    await plain.getByTestId('why').filter({ hasText: 'offers neither VR nor AR' }).waitFor();
    await plain.addInitScript("Object.defineProperty(window, 'isSecureContext', { value: false })");
    await plain.reload();
    await plain.getByTestId('why').filter({ hasText: 'need HTTPS' }).waitFor();
    assert.ok(!(await plain.getByTestId('enter-ar').isEnabled()));
    await plain.close();
  });
});
