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

describe('motors of an ORCA hand', { skip: needs('chromium') }, () => {
  const life = new Lifetime();
  afterEach(() => life.end());

  it('are shown on the page and recorded; a hot one warns, then stops the hand', {
    timeout: 180_000,
  }, async () => {
    mkdirSync(artifacts, { recursive: true });
    const folder = temporaryFolder();
    const [port, calibration, recordings] = ['tty', 'hand.json', 'rec'].map((name) =>
      path.join(folder, name),
    );
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
        ...[
          'demo',
          '--rig',
          'orca',
          '--no-open',
          'trace.dir=',
          'console.port=0',
          '--record',
          `record.dir=${recordings}`,
        ],
        ...[
          'operator.input=scripted',
          'operator.autoArm=true',
          'operator.inputs.openteach.listenHost=127.0.0.1',
        ],
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
    const warmest = recordedMotors(recordings!).map(({ temperatureC }) =>
      Math.max(...temperatureC.map((t) => t ?? 0)),
    );
    assert.ok(warmest.includes(63), `recorded ${warmest}`);
  });
});
