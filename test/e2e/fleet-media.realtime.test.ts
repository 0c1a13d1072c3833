import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { readdirSync, readFileSync } from 'node:fs';
import http, { type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { startRole } from '../../src/app/role.ts';
import { withStamp } from '../../src/camera/jpeg-structure.ts';
import { openFrameReceiver, sameClock } from '../../src/camera/receiver.ts';
import { readAudit } from '../../src/fleet/audit.ts';
import type { OperatorAgentStart } from '../../src/fleet/operator-agent.ts';
import type { ReceivedFrame } from '../../src/messages/recording.ts';
import { TEST_TONE_HZ } from '../../src/messages/sound-device.ts';
import { frameReceiverConfig } from '../../src/rig/camera-channel.ts';
import { loadRig, type Rig } from '../../src/rig/rig.ts';
import { writeFrame } from '../../src/wire/codecs/frame.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import type { CutEvent } from './cut-operator.ts';
import { farhand, type Running, stampsIn, startFarhand } from './farhand.ts';
import { type FleetWorld, startFleetWorld } from './fleet-rig.ts';

const skip = needs('nats-server', 'ffmpeg');
const HERE = 'fleet.rtcAddress=127.0.0.1';
const PICTURE_BYTES = 40_000;
const SAMPLE_HZ = 48_000;

/** A network camera whose pictures the test creates: 30 a second while it streams. */
class NetworkCamera {
  readonly sent = new Map<string, Uint8Array>();
  readonly #server = http.createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'multipart/x-mixed-replace; boundary=x' });
    this.#viewers.push([request.url!.slice(1), response]);
  });
  readonly #viewers: [string, ServerResponse][] = [];
  #timer: NodeJS.Timeout | undefined;
  #count = 0;

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  stream(isOn: boolean): void {
    clearInterval(this.#timer);
    if (isOn) this.#timer = setInterval(() => this.#picture(), 33);
  }

  close(): void {
    this.stream(false);
    for (const [, response] of this.#viewers) response.destroy();
    this.#server.close();
  }

  #picture(): void {
    this.#count++;
    for (const [name, response] of this.#viewers) {
      const jpeg = jpegOf(`${name} ${this.#count}`);
      this.sent.set(textOf(jpeg), jpeg);
      response.write(`--x\r\nContent-Type: image/jpeg\r\nContent-Length: ${jpeg.length}\r\n\r\n`);
      response.write(jpeg);
      response.write('\r\n');
    }
  }
}

/** A JPEG as far as anything on the path reads it: a segment that identifies it, then a scan. */
function jpegOf(text: string): Uint8Array {
  const jpeg = new Uint8Array(PICTURE_BYTES).fill(0x55);
  jpeg.set([0xff, 0xd8, 0xff, 0xe1, 0, text.length + 2, ...Buffer.from(text)]);
  jpeg.set([0xff, 0xda, 0, 2], 6 + text.length);
  jpeg.set([0xff, 0xd9], jpeg.length - 2);
  return jpeg;
}

const textOf = (jpeg: Uint8Array): string => Buffer.from(jpeg.subarray(6, 4 + jpeg[5]!)).toString();

// Processes, ffmpeg and Chromium start on a machine that may be busy.
describe('a fleet session', { skip, timeout: 180_000 }, () => {
  let world: FleetWorld;
  let robot: Running;
  let ann: Running;
  let annDesk = 0;
  let cameras: string[];
  let operatorCameraPort = 0;
  const camera = new NetworkCamera();
  const folder = temporaryFolder();
  const traces = path.join(folder, 'traces');
  const running: Running[] = [];

  const states = (): string[] =>
    [...robot.stdout().matchAll(/"kind":"transition".*?"to":"([a-z-]+)"/g)].map(([, to]) => to!);
  const until = async (what: string, isTrue: () => boolean, withinMs: number) => {
    for (const endMs = performance.now() + withinMs; performance.now() < endMs; await sleep(20))
      if (isTrue()) return;
    const output = running.map((child) => child.stdout() + child.stderr()).join('\n');
    assert.fail(`not within ${withinMs} ms: ${what}\n${states()}\n${output}`);
  };

  before(async () => {
    process.env['XDG_STATE_HOME'] = folder;
    world = await startFleetWorld(folder);
    const arm = await world.credentials('arm', 'robot');
    await world.credentials('ann', 'operator');
    const at = await camera.listen();
    cameras = ['front', 'wrist'].flatMap((name) => [
      `cameras.list.${name}.source=mjpeg`,
      `cameras.list.${name}.options.from=http://127.0.0.1:${at}/${name}`,
    ]);
    const robotCameraPort = (await freeUdpPorts(1))[0]!;
    operatorCameraPort = (await freeUdpPorts(1))[0]!;
    const settings = [`cameras.port=${robotCameraPort}`, 'fleet.audio=test', HERE];
    robot = startFarhand([
      'robot',
      '--json',
      '--fleet',
      world.server.url,
      '--creds',
      arm,
      ...cameras,
      ...settings,
    ]);
    running.push(robot);
    await robot.waitFor(/on the fleet/);
  });
  after(async () => {
    camera.close();
    await Promise.all(running.map((child) => child.end()));
    await world?.close();
  });

  it('brings the robot’s pictures, with stamps, to the operator’s own camera channel', async () => {
    const [desk = 0, telemetry, audio] = await freeUdpPorts(3);
    annDesk = desk;
    const ports = [`console.deskPort=${desk}`, `console.telemetryPort=${telemetry}`];
    const access = ['--server', world.server.url, '--creds', path.join(folder, 'ann.creds')];
    const settings = [...cameras, `cameras.port=${operatorCameraPort}`, `trace.dir=${traces}`, HERE];
    ann = startFarhand([
      ...['fleet', 'operate', 'arm', '--json', '--audio', String(audio)],
      ...[...access, ...ports, ...settings],
    ]);
    running.push(ann);
    await ann.waitFor(/drives arm over WebRTC \(host\)/);
    const frames: ReceivedFrame[] = [];
    const rig = loadRig('demo', [...settings, 'link.transport=webrtc']).config;
    const receiver = await openFrameReceiver(frameReceiverConfig(rig), (frame) => frames.push(frame), {
      project: sameClock,
    });
    camera.stream(true);
    await until('40 pictures', () => frames.length >= 40, 30_000);
    camera.stream(false);
    receiver.close();
    for (const name of ['front', 'wrist']) {
      const own = frames.filter((frame) => frame.camera === name);
      assert.ok(own.length >= 5, `${own.length} of ${name}`);
      for (const { bytes, captureNs, encodedNs, captureOperatorNs, arrivedNs } of own) {
        const text = [...camera.sent].find(([, jpeg]) =>
          Buffer.from(withStamp(jpeg, captureNs, encodedNs)).equals(bytes),
        )?.[0];
        assert.ok(text?.startsWith(name), `${text} is not an unchanged picture of ${name}`);
        const ageMs = (arrivedNs - captureOperatorNs) / 1e6;
        assert.ok(ageMs > 0, `${ageMs} ms`);
      }
      const stamps = own.map(({ captureNs }) => captureNs);
      assert.deepEqual(
        stamps,
        [...stamps].sort((a, b) => a - b),
        'in order',
      );
    }
  });

  it('carries the robot’s sound to the operator', async () => {
    const [, sdp = ''] = /-i (\S+\.sdp)/.exec(ann.stdout())!;
    const input = ['-protocol_whitelist', 'file,udp,rtp', '-i', sdp];
    const output = ['-t', '1', '-ac', '1', '-ar', String(SAMPLE_HZ), '-f', 's16le', 'pipe:1'];
    const player = spawn('ffmpeg', ['-hide_banner', '-loglevel', 'error', '-nostdin', ...input, ...output]);
    const chunks: Buffer[] = [];
    player.stdout.on('data', (data: Buffer) => chunks.push(data));
    let complaint = '';
    player.stderr.on('data', (data: Buffer) => {
      complaint += data.toString();
    });
    const timer = setTimeout(() => player.kill('SIGKILL'), 30_000);
    await new Promise((resolve) => player.once('close', resolve));
    clearTimeout(timer);
    const sound = Buffer.concat(chunks);
    const samples = Float64Array.from({ length: sound.length / 2 }, (_, i) => sound.readInt16LE(2 * i));
    assert.ok(samples.length > SAMPLE_HZ / 2, `${samples.length} samples; ${complaint}`);
    const [tone, other] = [powerAt(samples, TEST_TONE_HZ), powerAt(samples, 3 * TEST_TONE_HZ + 100)];
    assert.ok(tone > 100 && tone > 30 * other, `${tone} at the tone, ${other} elsewhere`);
  });

  it('carries commands and an e-stop beside the pictures', async () => {
    await until('engaged', () => states().at(-1) === 'engaged', 30_000);
    camera.stream(true);
    const fromNs = Number(process.hrtime.bigint());
    const received = () =>
      stampsIn(traces).filter((stamps) => (stamps['remote.kernel_received'] ?? 0) > fromNs).length;
    await until('commands', () => received() > 20, 30_000);
    const seen = states().length;
    await ask(annDesk, 'estop');
    await until('stopped', () => states().slice(seen).includes('stopped'), 30_000);
    camera.stream(false);
    assert.equal(await ann.end(), 0, ann.stdout().slice(-1000) + ann.stderr());
  });

  it('is recorded in the trace with the transport webrtc', () => {
    const [file = ''] = readdirSync(traces).filter((name) => name.startsWith('robot_trace_'));
    const [header = ''] = readFileSync(path.join(traces, file), 'utf8').split('\n');
    const { rig } = JSON.parse(header) as { rig: Rig };
    assert.equal(rig.link.transport, 'webrtc');
  });

  it('is reopened for the same operator when its path is cut', async () => {
    const { config } = loadRig('demo', ['trace.dir=', HERE]);
    const start: OperatorAgentStart = {
      ...{ url: world.server.url, credentials: path.join(folder, 'ann.creds'), robot: 'arm' },
      ...{ config: config.fleet, cameras: null, audio: null, askHolder: false },
    };
    const agent = new Worker(new URL('./cut-operator.js', import.meta.url), { workerData: start });
    const reported: CutEvent[] = [];
    agent.on('message', (event: CutEvent) => reported.push(event));
    const opened = () => reported.find((event) => event.kind === 'opened')?.opened;
    await until('open', () => opened() !== undefined, 40_000);
    const { ports, key } = opened()!;
    const [commandPort = 0, statePort = 0, syncPort = 0] = ports;
    const [deskPort = 0, telemetryPort = 0] = await freeUdpPorts(2);
    const link = { ...config.link, commandPort, statePort, syncPort };
    const desk = { ...config.console, deskPort, telemetryPort };
    const role = startRole('operator', { ...config, link, console: desk }, () => {}, undefined, [key]);
    try {
      agent.postMessage({ flags: role.memory.flags });
      const drive = async () => {
        for (let tries = 0; tries < 60 && states().at(-1) !== 'engaged'; tries++) {
          await ask(deskPort, states().at(-1) === 'idle' ? 'arm' : 'reset');
          await sleep(150);
        }
        assert.equal(states().at(-1), 'engaged');
      };
      await drive();
      const before = states().length;
      agent.postMessage('cut');
      await until('stopped', () => states().slice(before).includes('stopped'), 40_000);
      assert.ok(states().slice(before).includes('hold'));
      await sleep(2000);
      await drive();
      assert.ok(!reported.some((event) => event.kind === 'ended'), JSON.stringify(reported));
      const lines = (await readAudit(world.admin.nats, 'arm', 50)).map(({ by, what }) => `${by} ${what}`);
      for (const line of ['ann session-lost', 'ann session-reopened']) assert.ok(lines.includes(line), line);
    } finally {
      role.windDown();
      await role.done;
      agent.postMessage('close');
      await until('closed', () => reported.some((event) => event.kind === 'closed'), 40_000);
      await agent.terminate();
    }
  });
});

it('rejects link.transport=webrtc outside a fleet', async () => {
  const [command, state, sync, desk, telemetry] = await freeUdpPorts(5);
  const ports = [
    ...[`link.commandPort=${command}`, `link.statePort=${state}`, `link.syncPort=${sync}`],
    ...[`console.deskPort=${desk}`, `console.telemetryPort=${telemetry}`],
  ];
  for (const verb of ['robot', 'operator']) {
    const { code, stderr } = await farhand([verb, 'link.transport=webrtc', ...ports]);
    assert.equal(code, 2);
    assert.match(stderr, /bad-config/);
    assert.match(stderr, /farhand fleet operate/);
  }
});

/** Amplitude of a sine wave of that frequency. */
function powerAt(samples: Float64Array, hz: number): number {
  let [re, im] = [0, 0];
  samples.forEach((value, i) => {
    const phase = (2 * Math.PI * hz * i) / SAMPLE_HZ;
    re += value * Math.cos(phase);
    im += value * Math.sin(phase);
  });
  return (2 * Math.hypot(re, im)) / samples.length;
}

async function ask(deskPort: number, kind: string): Promise<void> {
  const out = new Uint8Array(128);
  const length = writeFrame('request', { kind }, out);
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.send(out, 0, length, deskPort, '127.0.0.1', () => resolve()));
  socket.close();
}
