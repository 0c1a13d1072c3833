import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, it } from 'node:test';
import { McapStreamReader } from '@mcap/core';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { Lifetime } from '../lifetime.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { launchChromium } from './chromium.ts';
import { root, startFarhand } from './farhand.ts';

const artifacts = path.join(root, 'artifacts');

/** A simulated hand whose motors can be heated and blocked through its standard input. */
async function startSim(port: string, calibration: string): Promise<ChildProcess> {
  const args = ['sim', 'orca', '--port', port, '--hand', 'v1-right', '--calibration', calibration];
  const sim = spawn(process.execPath, [path.join(root, 'bin', 'farhand'), ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let text = '';
  sim.stdout!.on('data', (part) => {
    text += String(part);
  });
  await until('a simulated hand', () => /sim orca ready/.test(text));
  return sim;
}

/** Messages of the newest recording's motor channel. */
function recordedMotors(folder: string): { temperatureC: (number | null)[] }[] {
  const [file] = readdirSync(folder).filter((name) => name.endsWith('.mcap'));
  const reader = new McapStreamReader();
  reader.append(readFileSync(path.join(folder, file!)));
  const found: { temperatureC: (number | null)[] }[] = [];
  let channel = -1;
  for (let record = reader.nextRecord(); record !== undefined; record = reader.nextRecord()) {
    if (record.type === 'Channel' && record.topic === '/farhand/motors') channel = record.id;
    if (record.type === 'Message' && record.channelId === channel)
      found.push(JSON.parse(Buffer.from(record.data).toString()) as never);
  }
  return found;
}

/** The whole rig around that hand, and its page. */
async function startRig(life: Lifetime, folder: string, settings: readonly string[]) {
  mkdirSync(artifacts, { recursive: true });
  const [port, calibration] = ['tty', 'hand.json'].map((name) => path.join(folder, name));
  const sim = await startSim(port!, calibration!);
  life.own(sim, async (each) => {
    each.kill('SIGTERM');
  });
  const ports = await freeUdpPorts(9);
  const inputs = ['right', 'left', 'button', 'pause'].map(
    (name, i) => `operator.inputs.openteach.${name}Port=${ports[5 + i]}`,
  );
  const demo = life.own(
    startFarhand([
      ...['demo', '--rig', 'orca', '--no-open', 'trace.dir=', 'console.port=0', ...settings],
      'operator.autoArm=true',
      'operator.inputs.openteach.listenHost=127.0.0.1',
      'operator.inputs.openteach.staleAfterMs=500',
      ...[`robot.options.port=${port}`, `robot.options.calibrationFile=${calibration}`],
      ...['robot.commandTimeoutMs=500', 'robot.feedbackTimeoutMs=1000'],
      ...['robot.options.feedbackTimeoutMs=900', 'robot.options.busWatchdogMs=2000'],
      ...[`link.commandPort=${ports[0]}`, `link.statePort=${ports[1]}`, `link.syncPort=${ports[2]}`],
      ...[`console.deskPort=${ports[3]}`, `console.telemetryPort=${ports[4]}`, ...inputs],
    ]),
    (each) => each.end(),
  );
  const browser = life.own(await launchChromium(), (each) => each.close());
  const page = await browser.newPage({ viewport: { width: 1280, height: 1100 } });
  await page.goto((await demo.waitFor(/console: (http:\S+)/, 55_000))[1]!);
  const panel = page.getByTestId('motors');
  const shows = (pattern: RegExp) => async () => pattern.test((await panel.textContent()) ?? '');
  const places = ['right', 'left', 'button', 'pause'].map((name, i) => `${name}=${ports[5 + i]}`).join(',');
  return { sim, demo, page, panel, shows, places };
}

interface SimState {
  deg: Record<string, number>;
  torque: number;
}

/** What the simulated motors do. */
async function stateOf(sim: ChildProcess): Promise<SimState> {
  let text = '';
  const listen = (part: unknown) => {
    text += String(part);
  };
  sim.stdout!.on('data', listen);
  sim.stdin!.write('state\n');
  await until('the state of the motors', () => /\{"deg".*\}\n/.test(text));
  sim.stdout!.off('data', listen);
  return JSON.parse(/\{"deg".*\}/.exec(text)![0]) as SimState;
}

describe('motors of an ORCA hand', { skip: needs('chromium') }, () => {
  const life = new Lifetime();
  afterEach(() => life.end());

  it('are shown on the page and recorded; a hot one warns, then stops the hand', {
    timeout: 180_000,
  }, async () => {
    const folder = temporaryFolder();
    const recordings = path.join(folder, 'rec');
    const { sim, demo, page, panel, shows } = await startRig(life, folder, [
      'operator.input=scripted',
      '--record',
      `record.dir=${recordings}`,
    ]);
    await until('temperature and supply', shows(/32 °C at most.*12\.0 V/s), () => demo.stderr());
    sim.stdin!.write('heat ring_pip 63\n');
    await until('a warning', shows(/ring_pip: warning, 63 °C/), () => demo.stderr());
    await panel.getByText('All motors').click();
    await page.screenshot({ path: path.join(artifacts, 'console-motors.png') });
    await page.waitForTimeout(2500);
    sim.stdin!.write('heat ring_pip 69\n');
    await until('a stop', shows(/ring_pip: stopped, 69 °C/), () => demo.stderr());
    const cause = () => page.evaluate<string>('window.__farhand.lastTelemetry.robot.cause');
    const named = async () => /ring_pip \(motor 6\) is at 69 °C/.test(await cause());
    await until('the cause', named, () => demo.stdout());
    await demo.end();
    const warmest = recordedMotors(recordings).map(({ temperatureC }) =>
      Math.max(...temperatureC.map((t) => t ?? 0)),
    );
    assert.ok(warmest.includes(63), `recorded ${warmest}`);
  });

  it('let a blocked finger yield and name it on the page, while the others hold', {
    timeout: 180_000,
  }, async () => {
    const { sim, demo, page, panel, shows, places } = await startRig(life, temporaryFolder(), [
      'robot.options.overloadMs=500',
    ]);
    await until('temperature and supply', shows(/32 °C at most.*12\.0 V/s), () => demo.stderr());
    sim.stdin!.write('block middle_pip\n');
    const headset = startFarhand(['send', 'openteach', '--shape', 'fist', '--ports', places]);
    life.own(headset, (each) => each.end());
    const state = page.getByTestId('state');
    await until('the finger’s name', shows(/middle_pip: stopped/), () => demo.stdout());
    const cause = page.getByTestId('cause');
    const named = async () =>
      /middle_pip \(motor \d+\) was overloaded/i.test((await cause.textContent()) ?? '');
    await until('the cause', named, () => demo.stdout());
    assert.equal(await state.textContent(), 'stopped');
    await until('one motor without torque', async () => (await stateOf(sim)).torque === 16);
    await panel.getByText('All motors').click();
    await page.screenshot({ path: path.join(artifacts, 'console-overload.png') });
    const at = await stateOf(sim);
    await page.waitForTimeout(1500);
    const later = await stateOf(sim);
    assert.equal(later.torque, 16, 'the others hold');
    for (const [joint, deg] of Object.entries(at.deg))
      assert.ok(
        Math.abs(later.deg[joint]! - deg) < 0.5,
        `${joint} moved from ${deg}° to ${later.deg[joint]}°`,
      );
    // The obstacle is gone: the finger gets its torque back, and only when the person asks for it.
    sim.stdin!.write('free middle_pip\n');
    await page.getByTestId('reset').click();
    await page.getByTestId('arm').click();
    await until(
      'all motors with torque',
      async () => (await stateOf(sim)).torque === 17,
      () => demo.stderr(),
    );
    sim.stdin!.write('fail thumb_mcp overheat\n');
    await until('the motor’s own alert', shows(/thumb_mcp: stopped/), () => demo.stderr());
    const alert = async () => /thumb_mcp \(motor \d+\): overheat/i.test((await cause.textContent()) ?? '');
    await until('its cause', alert, () => cause.textContent());
  });
});
