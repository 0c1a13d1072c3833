import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { openConsole } from '../../src/app/open-console.ts';
import type { ConsoleHandle } from '../../src/console/server.ts';
import { loadRig } from '../../src/rig/rig.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { needs } from '../needs.ts';
import { until } from '../until.ts';
import { launchChromium } from './chromium.ts';
import { emulateQuest } from './emulated-headset.ts';
import { OperatorPeer, READ_NS } from './operator-peer.ts';

/** A gamepad whose motor keeps what it was asked to do. */
const GAMEPAD = `(() => {
  window.__effects = [];
  const buttons = Array.from({ length: 17 }, () => ({ pressed: false, touched: false, value: 0 }));
  const vibrationActuator = { playEffect: async (kind, effect) => void window.__effects.push({ kind, ...effect }) };
  Object.defineProperty(navigator, 'getGamepads', {
    value: () => [{ connected: true, mapping: 'standard', axes: [0, 0, 0, 0], buttons, vibrationActuator }],
  });
})()`;
/** The same for the controllers of a session that is open. */
const CONTROLLERS = `(() => {
  window.__effects = [];
  const [{ gamepad }] = quest.activeInputs.map(({ inputSource }) => inputSource);
  Object.getPrototypeOf(gamepad.hapticActuators[0]).pulse = async (strength, duration) =>
    void window.__effects.push({ strength, duration });
})()`;

interface Effect {
  duration: number;
  strongMagnitude?: number;
  strength?: number;
}

let browser: Browser;
let served: ConsoleHandle;
let peer: OperatorPeer;
const skip = needs('chromium');

before(async () => {
  if (skip) return;
  const [deskPort = 0, telemetryPort = 0] = await freeUdpPorts(2);
  const ports = [`console.deskPort=${deskPort}`, `console.telemetryPort=${telemetryPort}`];
  const rig = loadRig('demo', ['link.security=plain', 'console.port=0', ...ports]).config;
  peer = new OperatorPeer({ deskPort, telemetryPort }, loadModel('ur3'));
  peer.externalNm = [0, 0, 0, 0, 0, 0];
  served = await openConsole(rig);
  browser = await launchChromium();
});

after(async () => {
  await browser?.close();
  await served?.close();
  peer?.close();
});

const effectsOf = (page: Page) => page.evaluate<Effect[]>('window.__effects');
const pulses = () => peer.asked.filter(({ kind }) => kind === 'pulse');

/** None in free motion, one per contact, stronger for more force, and each reported with stamps in order. */
async function feels(page: Page, device: string, perPulse: number): Promise<void> {
  await page.waitForTimeout(300);
  assert.deepEqual(await effectsOf(page), [], 'free motion');
  const strengths: number[] = [];
  for (const nm of [0.5, 2.5]) {
    const before = pulses().length;
    peer.externalNm = [0, nm, 0, 0, 0, 0];
    await until(`a pulse for ${nm} N·m`, () => pulses().length > before);
    const given = await effectsOf(page);
    strengths.push(given.at(-1)!.strongMagnitude ?? given.at(-1)!.strength!);
    peer.externalNm = [0, 0, 0, 0, 0, 0];
    await until('a pulse at the end of it', () => pulses().length > before + 1);
  }
  await page.waitForTimeout(300);
  const effects = await effectsOf(page);
  assert.equal(effects.length, 4 * perPulse, 'one for each beginning and end, none while nothing changes');
  assert.ok(
    effects.every(({ duration }) => duration <= 40),
    'short enough never to wait for each other',
  );
  assert.ok(strengths[1]! > strengths[0]!);
  for (const pulse of pulses().filter((each) => each['device'] === device)) {
    const [readNs, publishedNs, givenNs, errorNs] = [
      'readNs',
      'publishedNs',
      'givenNs',
      'pageUncertaintyNs',
    ].map((name) => Number(pulse[name])) as [number, number, number, number];
    assert.equal(publishedNs - readNs, READ_NS, 'the stamps of the message that reported it');
    assert.ok(givenNs > publishedNs - errorNs, 'after it was published');
  }
}

it('a contact pulses a gamepad, and the operator learns when', { skip, timeout: 120_000 }, async () => {
  const page = await browser.newPage();
  await page.addInitScript(GAMEPAD);
  await page.goto(served.url);
  await until('telemetry', () => page.evaluate<boolean>('window.__farhand?.lastTelemetry != null'));
  await page.evaluate("document.getElementById('control-note-take').click()");
  await until('control', () => page.evaluate<boolean>("!document.getElementById('inputs').inert"));
  await feels(page, 'gamepad', 1);
  await page.close();
});

it('a contact pulses the controllers of a headset', { skip, timeout: 120_000 }, async () => {
  const context = await browser.newContext({ viewport: { width: 480, height: 270 } });
  await emulateQuest(context);
  const page = await context.newPage();
  await page.goto(`${served.url}vr`);
  await page.evaluate("quest.primaryInputMode = 'controller'");
  await page.getByTestId('enter-vr').click();
  await until('two controllers in control', () =>
    page.evaluate<boolean>(
      'window.__farhandXr?.access?.inControl === true && quest.activeInputs.length === 2 && quest.activeInputs[0].inputSource.gamepad != null',
    ),
  );
  await page.evaluate(CONTROLLERS);
  peer.asked.length = 0;
  await feels(page, 'controllers', 2);
  await context.close();
});
