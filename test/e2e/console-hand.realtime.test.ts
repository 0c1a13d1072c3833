import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { needs } from '../needs.ts';
import { until } from '../until.ts';
import { launchChromium } from './chromium.ts';
import { root, startFarhand } from './farhand.ts';

const artifacts = path.join(root, 'artifacts');

describe('console page with a robot hand', { skip: needs('chromium') }, () => {
  let browser: Browser;
  before(async () => {
    mkdirSync(artifacts, { recursive: true });
    browser = await launchChromium();
  });
  after(() => browser?.close());

  it('draws the moving tracked hand and robot hand', async () => {
    const [command, state, sync, desk, telemetry, right, left, button, pause] = await freeUdpPorts(9);
    const demo = startFarhand([
      ...['demo', '--rig', 'orca', '--no-open', 'robot.driver=sim', 'operator.autoArm=true', 'trace.dir='],
      ...['operator.input=scripted', 'operator.inputs.scripted.periodS=3', 'console.port=0'],
      ...[`link.commandPort=${command}`, `link.statePort=${state}`, `link.syncPort=${sync}`],
      ...[`console.deskPort=${desk}`, `console.telemetryPort=${telemetry}`],
      ...[`operator.inputs.openteach.rightPort=${right}`, `operator.inputs.openteach.leftPort=${left}`],
      ...[`operator.inputs.openteach.buttonPort=${button}`, `operator.inputs.openteach.pausePort=${pause}`],
      'operator.inputs.openteach.listenHost=127.0.0.1',
    ]);
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    try {
      const complaints: string[] = [];
      page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
      page.on('pageerror', (error) => complaints.push(String(error)));
      await page.goto((await demo.waitFor(/console: (http:\S+)/))[1]!);
      const fingers = page.getByTestId('fingers');
      await fingers.waitFor({ state: 'visible' });
      const before = await fingers.screenshot();
      await until('moving fingers', async () => !before.equals(await fingers.screenshot()));
      await page.screenshot({ path: path.join(artifacts, 'console-hand.png') });
      const numbers = await page.evaluate<number>('window.__farhand.lastTelemetry.hand.pointsM.length');
      assert.equal(numbers, 63);
      assert.deepEqual(complaints, []);
    } finally {
      await page.close();
      await demo.end();
    }
  });
});
