import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { ArmTelemetry, Telemetry } from '../../src/messages/telemetry.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { launchChromium } from './chromium.ts';
import { emulateQuest, LOOPBACK_PEERS, Wearer } from './emulated-headset.ts';
import { farhand, type Running, root, startFarhand } from './farhand.ts';

const artifacts = path.join(root, 'artifacts');
type Side = ArmTelemetry['side'];

/** `farhand demo --rig two-arms` as a person uses it: one page, one keyboard, one recording. */
describe('two arms on one page', { skip: needs('chromium'), timeout: 180_000 }, () => {
  const folder = temporaryFolder();
  const recordings = path.join(folder, 'recordings');
  let demo: Running;
  let ports: string[] = [];
  let url: string;
  let browser: Browser;
  let page: Page;
  let telemetryOf: () => Promise<Telemetry | null>;

  const waitFor = async (what: string, holds: (seen: Telemetry) => boolean): Promise<Telemetry> => {
    for (let i = 0; i < 400; i++) {
      const seen = await telemetryOf();
      if (seen && holds(seen)) return seen;
      await page.waitForTimeout(50);
    }
    const seen = await telemetryOf();
    return assert.fail(`${what} not seen: ${JSON.stringify({ arms: seen?.arms, input: seen?.input })}`);
  };
  const arm = ({ arms }: Telemetry, side: Side): ArmTelemetry => arms!.find((one) => one.side === side)!;
  const stateOf = (seen: Telemetry, side: Side) => arm(seen, side).robot?.state;
  const jointsOf = async (side: Side) => arm((await telemetryOf())!, side).robot!.measuredRad;
  const movedRad = (before: number[], now: number[]) =>
    Math.max(...before.map((rad, i) => Math.abs(rad - now[i]!)));
  /** A busy machine stalls, and then the robot rightly stops. */
  const armBoth = async () => {
    for (let i = 0; i < 100; i++) {
      const seen = await telemetryOf();
      if (
        ['left', 'right'].every((side) =>
          ['armed', 'hold', 'engaged'].includes(stateOf(seen!, side as Side) ?? ''),
        )
      )
        return;
      const button = seen?.robot?.state === 'stopped' ? 'reset' : 'arm';
      await page
        .getByTestId(button)
        .click({ timeout: 300 })
        .catch(() => {});
      await page.waitForTimeout(100);
    }
    assert.fail('not armed');
  };

  before(async () => {
    mkdirSync(artifacts, { recursive: true });
    const [desk, telemetry] = await freeUdpPorts(2);
    ports = [`console.deskPort=${desk}`, `console.telemetryPort=${telemetry}`];
    demo = startFarhand([
      ...['demo', '--rig', 'two-arms', '--no-open', 'console.port=0'],
      ...[`trace.dir=${path.join(folder, 'traces')}`, `record.dir=${recordings}`],
      // A busy machine stalls. This tests what people see, not the watchdogs.
      ...['robot.commandTimeoutMs=500', 'robot.feedbackTimeoutMs=1000', 'robot.playout=fixed:20'],
      ...['operator.inputs.webxr.staleAfterMs=1000', 'operator.inputs.page.staleAfterMs=1000'],
      ...['arms.silenceMs=500', ...ports],
    ]);
    url = (await demo.waitFor(/console: (http:\S+)/))[1]!;
    browser = await launchChromium(LOOPBACK_PEERS);
    page = await browser.newPage({ viewport: { width: 1024, height: 640 } });
    telemetryOf = () => page.evaluate<Telemetry | null>('window.__farhand?.lastTelemetry ?? null');
    await page.goto(url);
  });

  after(async () => {
    await browser?.close();
    assert.equal(await demo?.end(), 0);
  });

  it('starts, arms, moves and records both arms', async () => {
    await waitFor('both arms', ({ arms }) => arms !== undefined);
    await armBoth();
    await waitFor(
      'both arms engaged',
      (seen) => seen.arms?.every(({ robot }) => robot?.state === 'engaged') ?? false,
    );
    assert.equal(await page.getByTestId('arms').isVisible(), true);
    const started = await farhand(['record', 'start', '--rig', 'two-arms', '--within', '20000', ...ports]);
    assert.equal(started.code, 0, started.stderr);
    await page.waitForTimeout(1500);
    await page.screenshot({ path: path.join(artifacts, 'two-arms.png') });
    const saved = await farhand(['record', 'stop', '--rig', 'two-arms', '--within', '20000', ...ports]);
    assert.equal(saved.code, 0, saved.stderr);
  });

  it('exports one dataset with the joints of both arms', async () => {
    const files = readdirSync(recordings).filter((name) => name.endsWith('.mcap'));
    assert.equal(files.length, 1);
    const dataset = path.join(folder, 'dataset');
    const made = await farhand(['export', 'lerobot', dataset, '--from', recordings]);
    assert.equal(made.code, 0, made.stderr);
    const info = JSON.parse(readFileSync(path.join(dataset, 'meta/info.json'), 'utf8')) as {
      features: Record<string, { names: string[] }>;
    };
    const names = info.features['action']!.names;
    assert.equal(names.length, 14);
    assert.deepEqual([names[0], names[6], names[13]], ['left_shoulder_pan', 'left_gripper', 'right_gripper']);
  });

  it('drives one arm at a time with the keyboard, and T changes the arm', async () => {
    await page.getByTestId('input-page').click();
    await waitFor('the page as input', ({ input }) => input.active === 'page');
    await armBoth();
    for (const [side, other] of [
      ['right', 'left'],
      ['left', 'right'],
    ] as const) {
      await waitFor(`${side} driven`, (seen) => arm(seen, side).isDriven);
      await page.waitForTimeout(400);
      const before = { [side]: await jointsOf(side), [other]: await jointsOf(other) };
      await page.keyboard.down('Shift');
      await waitFor(`${side} engaged`, (seen) => stateOf(seen, side) === 'engaged');
      await page.keyboard.down('KeyE');
      await waitFor(
        `the ${side} arm that moves`,
        (seen) => movedRad(before[side]!, arm(seen, side).robot!.measuredRad) > 0.02,
      );
      await page.keyboard.up('KeyE');
      await page.keyboard.up('Shift');
      assert.ok(movedRad(before[other]!, await jointsOf(other)) < 0.01, `the ${other} arm stayed`);
      await waitFor(`${side} holds`, (seen) => stateOf(seen, side) === 'hold');
      await page.keyboard.press('KeyT');
    }
  });

  it('stops both with one key, and one reset and one arm bring both back', async () => {
    await page.keyboard.press('Escape');
    await waitFor('both stopped', (seen) => seen.arms!.every(({ robot }) => robot?.state === 'stopped'));
    await armBoth();
  });

  it('follows each hand of a headset with its arm, and each hand has a clutch of its own', async () => {
    await page.close();
    const context = await browser.newContext({ viewport: { width: 480, height: 270 } });
    await emulateQuest(context);
    page = await context.newPage();
    telemetryOf = () => page.evaluate<Telemetry | null>('window.__farhandXr?.telemetry ?? null');
    const wearer = new Wearer(page);
    const places = { left: [-0.25, 1.2, -0.4], right: [0.25, 1.2, -0.4] } as const;
    await page.goto(`${url}vr`);
    await page.getByTestId('enter-vr').click();
    for (const side of ['left', 'right'] as const) {
      await wearer.place(side, places[side]);
      await wearer.show(side, 'open');
    }
    await waitFor('both hands', ({ input }) => input.active === 'webxr' && input.status === 'ok');
    /** Like a person: after a stall of a busy machine the clutch opens and closes again. */
    const engage = async (side: Side) => {
      for (let i = 0; i < 60; i++) {
        const state = stateOf((await telemetryOf())!, side) ?? '';
        if (state === 'engaged') return;
        if (state === 'stopped') await page.evaluate('window.__farhandXr.press("reset")');
        else if (state === 'idle') await page.evaluate('window.__farhandXr.press("arm")');
        else {
          await wearer.show(side, 'open');
          await page.waitForTimeout(400);
          await wearer.show(side, 'pinch-middle');
        }
        await page.waitForTimeout(600);
      }
      assert.fail(`${side} not engaged: ${JSON.stringify((await telemetryOf())?.arms)}`);
    };
    for (const [side, other] of [
      ['left', 'right'],
      ['right', 'left'],
    ] as const) {
      await engage(side);
      const before = { [side]: await jointsOf(side), [other]: await jointsOf(other) };
      const waving = wearer.wave(side, places[side], 3000);
      await waitFor(
        `the ${side} arm that follows`,
        (seen) => movedRad(before[side]!, arm(seen, side).robot!.measuredRad) > 0.05,
      );
      assert.ok(movedRad(before[other]!, await jointsOf(other)) < 0.01, `the ${other} arm stayed`);
      await waving;
      await wearer.show(side, 'open');
      await waitFor(`${side} holds`, (seen) => stateOf(seen, side) !== 'engaged');
    }
    for (const side of ['left', 'right'] as const) await engage(side);
    await waitFor('both engaged', (seen) => seen.arms!.every(({ robot }) => robot?.state === 'engaged'));
    for (const side of ['left', 'right'] as const) await wearer.shape(side, 'fist');
    await waitFor('both stopped by two fists', (seen) =>
      seen.arms!.every(({ robot }) => robot?.state === 'stopped'),
    );
  });
});
