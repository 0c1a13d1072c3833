import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { ArmTelemetry, Telemetry } from '../../src/messages/telemetry.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { launchChromium } from './chromium.ts';
import { emulateQuest, LOOPBACK_PEERS, Wearer } from './emulated-headset.ts';
import { farhand, type Running, root, startFarhand } from './farhand.ts';

const artifacts = path.join(root, 'artifacts');
type Side = ArmTelemetry['side'];
const sides = ['left', 'right'] as const;

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
  const mustOpen = (seen: Telemetry, side: Side) => arm(seen, side).operator.mustOpenClutch === true;
  const jointsOf = async (side: Side) => arm((await telemetryOf())!, side).robot!.measuredRad;
  const movedRad = (before: number[], now: number[]) =>
    Math.max(...before.map((rad, i) => Math.abs(rad - now[i]!)));
  /** An arm that has just been let go still comes to rest. */
  const atRest = async (side: Side) => {
    let last = arm((await telemetryOf())!, side).robot!;
    await waitFor(`${side} at rest`, (seen) => {
      const before = last;
      last = arm(seen, side).robot!;
      return last.readNs !== before.readNs && movedRad(before.measuredRad, last.measuredRad) < 1e-4;
    });
  };
  /** A busy machine stalls, and then the robot rightly stops. */
  const armBoth = async () => {
    for (let i = 0; i < 100; i++) {
      const seen = await telemetryOf();
      if (sides.every((side) => ['armed', 'hold', 'engaged'].includes(stateOf(seen!, side) ?? ''))) return;
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

  /** Shift and a key until the arm moves; pressed again after a stall, which opens the page's clutch. */
  const driveByKeys = async (side: Side, other: Side) => {
    for (let press = 0; press < 10; press++) {
      await armBoth();
      await waitFor('an open clutch', (seen) => !arm(seen, side).clutch);
      await atRest(other);
      const before = { [side]: await jointsOf(side), [other]: await jointsOf(other) };
      const hasMoved = (seen: Telemetry) =>
        movedRad(before[side]!, arm(seen, side).robot!.measuredRad) > 0.02;
      let wasClosed = false;
      await page.keyboard.down('Shift');
      await waitFor(`${side} engaged`, (seen) => {
        const { clutch, robot } = arm(seen, side);
        const isReleased = wasClosed && !clutch;
        wasClosed ||= clutch;
        return robot?.state === 'engaged' || robot?.state === 'stopped' || mustOpen(seen, side) || isReleased;
      });
      await page.keyboard.down('KeyE');
      const seen = await waitFor(
        `the ${side} arm that moves`,
        (now) => hasMoved(now) || stateOf(now, side) !== 'engaged',
      );
      await page.keyboard.up('KeyE');
      await page.keyboard.up('Shift');
      assert.ok(movedRad(before[other]!, await jointsOf(other)) < 0.01, `the ${other} arm stayed`);
      if (hasMoved(seen)) return;
    }
    assert.fail(`the ${side} arm never moved before a stall`);
  };

  it('drives one arm at a time with the keyboard, and T changes the arm', async () => {
    await page.getByTestId('input-page').click();
    await waitFor('the page as input', ({ input }) => input.active === 'page');
    await armBoth();
    for (const [side, other] of [
      ['right', 'left'],
      ['left', 'right'],
    ] as const) {
      await waitFor(`${side} driven`, (seen) => arm(seen, side).isDriven);
      await driveByKeys(side, other);
      await waitFor(`${side} holds`, (seen) => stateOf(seen, side) !== 'engaged');
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
    const press = (kind: 'arm' | 'reset' | 'hold') => page.evaluate(`window.__farhandXr.press("${kind}")`);
    const places = { left: [-0.25, 1.2, -0.4], right: [0.25, 1.2, -0.4] } as const;
    await page.goto(`${url}vr`);
    await page.getByTestId('enter-vr').click();
    for (const side of sides) {
      await wearer.place(side, places[side]);
      await wearer.show(side, 'open');
    }
    await waitFor('both hands', ({ input }) => input.active === 'webxr' && input.status === 'ok');
    /** Closes the clutch, and goes on as a person does: what the board asks for, until the arm follows. */
    const engage = async (side: Side) => {
      for (let step = 0; step < 40; step++) {
        const seen = (await telemetryOf())!;
        const state = stateOf(seen, side);
        const { clutch, operator } = arm(seen, side);
        if (state === 'engaged') return;
        if (state === 'stopped' || state === 'idle') {
          await press(state === 'stopped' ? 'reset' : 'arm');
          await waitFor(`${side} no longer ${state}`, (now) => stateOf(now, side) !== state);
        } else if (clutch && operator.mustOpenClutch) {
          await wearer.show(side, 'open');
          await waitFor(`the open clutch of the ${side} hand`, (now) => !arm(now, side).clutch);
        } else {
          await wearer.show(side, 'pinch-middle');
          await waitFor(
            `what the ${side} clutch does`,
            (now) => stateOf(now, side) !== state || mustOpen(now, side),
          );
        }
      }
      assert.fail(`${side} not engaged: ${JSON.stringify((await telemetryOf())?.arms)}`);
    };
    /** The hand waves until its arm moves. A busy machine stalls, and then the arm rightly holds. */
    const follow = async (side: Side, other: Side) => {
      for (let wave = 0; wave < 10; wave++) {
        await atRest(other);
        await engage(side);
        const before = { [side]: await jointsOf(side), [other]: await jointsOf(other) };
        const hasMoved = (seen: Telemetry) =>
          movedRad(before[side]!, arm(seen, side).robot!.measuredRad) > 0.05;
        const waving = wearer.wave(side, places[side], 3000);
        const seen = await waitFor(
          `the ${side} arm that follows`,
          (now) => hasMoved(now) || stateOf(now, side) !== 'engaged',
        );
        assert.ok(movedRad(before[other]!, await jointsOf(other)) < 0.01, `the ${other} arm stayed`);
        await waving;
        if (hasMoved(seen)) return;
      }
      assert.fail(`the ${side} arm never moved before a stall`);
    };
    const engageBoth = async () => {
      for (let i = 0; i < 10; i++) {
        for (const side of sides) await engage(side);
        if ((await telemetryOf())!.arms!.every(({ robot }) => robot?.state === 'engaged')) return;
      }
      assert.fail('never engaged at the same time');
    };
    for (const [side, other] of [sides, [...sides].reverse()] as [Side, Side][]) {
      await follow(side, other);
      await wearer.show(side, 'open');
      await waitFor(`${side} holds`, (seen) => stateOf(seen, side) !== 'engaged');
    }
    await engageBoth();
    // Both hands keep their clutches closed, and the board says what to do.
    await press('hold');
    await waitFor('both clutches ignored', (seen) => sides.every((side) => mustOpen(seen, side)));
    const advice = () => page.evaluate<string>('window.__farhandXr.advice()');
    await until(
      'the advice of the board',
      async () => (await advice()) === 'both arms: open the clutch, then close it again',
      advice,
    );
    await engageBoth();
    for (const side of sides) await wearer.shape(side, 'fist');
    await waitFor('both stopped by two fists', (seen) =>
      seen.arms!.every(({ robot }) => robot?.state === 'stopped'),
    );
  });
});
