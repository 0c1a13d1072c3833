import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { openTelemetryFeed, type TelemetryFeed } from '../src/desk/telemetry-feed.ts';
import type { Telemetry } from '../src/messages/telemetry.ts';
import { loadRig } from '../src/rig/rig.ts';
import { createKey, writeKeyFile } from '../src/wire/secure/key-file.ts';
import { freeUdpPorts } from '../src/wire/transports/free-ports.ts';
import { launchChromium } from './e2e/chromium.ts';
import { farhand, type Running, startFarhand } from './e2e/farhand.ts';
import { armOf } from './kinematics/poses.ts';
import { needs } from './needs.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** A loaded machine may stall a process this long; this tests the path, not the watchdogs. */
const PATIENCE = ['robot.commandTimeoutMs=500', 'robot.feedbackTimeoutMs=1000'];
/** Slow enough for the arm, and without roll: the tool's height follows the hand's. */
const HAND = { periodS: 4, widthM: 0.05, heightM: 0.05, rollRad: 0 };
const WAIT_MS = 50_000;
const TIMEOUT = { timeout: 60_000 };

const range = (values: readonly number[]): number => Math.max(...values) - Math.min(...values);

describe('robot, operator and page as processes', () => {
  const processes: Running[] = [];
  const arm = armOf('ur3', 'analytic');
  let seen: Telemetry[] = [];
  let feed: TelemetryFeed;
  let desk: string[] = [];
  let shared: string[] = [];

  const start = (...args: string[]): Running => {
    const child = startFarhand(args);
    processes.push(child);
    return child;
  };

  /** Newest telemetry that satisfies the condition. */
  async function until(what: string, holds: (telemetry: Telemetry) => boolean): Promise<Telemetry> {
    for (const untilMs = performance.now() + WAIT_MS; performance.now() < untilMs; await sleep(20)) {
      const last = seen.at(-1);
      if (last !== undefined && holds(last)) return last;
    }
    const output = processes.map((child) => child.stdout() + child.stderr()).join('\n');
    return assert.fail(`${what} not seen; last: ${JSON.stringify(seen.at(-1)?.robot)}\n${output}`);
  }
  const untilState = (state: string) => until(state, ({ robot }) => robot?.state === state);

  const handHeightsM = () => seen.map(({ hand }) => hand?.positionM[1] ?? 0);
  const toolHeightsM = () => seen.map(({ robot }) => arm.poseOf(robot!.measuredRad).positionM[2]!);

  /** While the hand moves up and down, the tool does too, and no further. */
  async function assertFollows(): Promise<void> {
    await untilState('engaged');
    seen = [];
    const isWhole = () => range(handHeightsM()) > 1.9 * HAND.heightM;
    await until('a following tool', () => isWhole() && range(toolHeightsM()) > 1.7 * HAND.heightM);
    assert.ok(range(toolHeightsM()) < 3 * HAND.heightM, `the tool moved by ${range(toolHeightsM())} m`);
  }

  /** The hand keeps moving, the robot does not. */
  async function assertLatched(): Promise<void> {
    await untilState('stopped');
    seen = [];
    await until('rest', () => seen.length > 5 && range(toolHeightsM().slice(-5)) < 1e-4);
    seen = [];
    await until('a moving hand', () => range(handHeightsM()) > HAND.heightM);
    assert.deepEqual([...new Set(seen.map(({ robot }) => robot!.state))], ['stopped']);
    assert.ok(range(toolHeightsM()) < 1e-3, `a stopped robot moved by ${range(toolHeightsM())} m`);
  }

  before(async () => {
    const folder = temporaryFolder();
    const keyFile = path.join(folder, 'test.key');
    writeKeyFile(keyFile, { name: 'test', key: createKey(), createdAt: '2026-01-01T00:00:00Z' });
    const [command, state, sync, deskPort, telemetryPort] = await freeUdpPorts(5);
    const link = [`link.commandPort=${command}`, `link.statePort=${state}`, `link.syncPort=${sync}`];
    shared = [...link, `link.keyFile=${keyFile}`, 'trace.dir=', ...PATIENCE];
    desk = [`console.deskPort=${deskPort}`, `console.telemetryPort=${telemetryPort}`];
    feed = openTelemetryFeed(loadRig('demo', desk).config, (telemetry) => seen.push(telemetry));
    const hand = Object.entries(HAND).map(([key, value]) => `operator.inputs.scripted.${key}=${value}`);
    start('robot', '--json', ...shared);
    start('operator', '--json', ...shared, ...desk, ...hand);
  });
  after(async () => {
    feed?.close();
    await Promise.all(processes.map((child) => child.end()));
  });

  it('the robot follows the hand', TIMEOUT, assertFollows);

  it(
    'an e-stop from a terminal stops it and latches; after reset and arm it follows again',
    TIMEOUT,
    async () => {
      const ask = async (kind: string) => {
        const { code, stderr } = await farhand(['ask', kind, '--within', String(WAIT_MS), ...desk]);
        assert.equal(code, 0, stderr);
      };
      await ask('estop');
      await assertLatched();
      await ask('reset');
      await untilState('idle');
      await ask('arm');
      await assertFollows();
    },
  );

  describe('the page', { skip: needs('chromium') }, () => {
    let browser: Browser;
    let page: Page;

    before(async () => {
      const server = start('console', 'console.port=0', ...shared, ...desk);
      browser = await launchChromium();
      page = await browser.newPage({ viewport: { width: 640, height: 360 } });
      page.setDefaultTimeout(WAIT_MS);
      await page.goto((await server.waitFor(/console: (http:\S+)/))[1]!);
    });
    after(() => browser?.close());

    it('shows the robot, stops it by its button, and arms it again', TIMEOUT, async () => {
      const shows = (state: string) => page.getByTestId('state').getByText(state).waitFor();
      await shows('engaged');
      await page.getByTestId('estop').click();
      await assertLatched();
      await shows('stopped');
      await page.getByTestId('reset').click();
      await untilState('idle');
      await page.getByTestId('arm').click();
      await assertFollows();
      await shows('engaged');
    });
  });
});
