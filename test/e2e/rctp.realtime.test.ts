import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { freeUdpPorts } from '../../src/app/free-ports.ts';
import type { Telemetry } from '../../src/core/telemetry.ts';
import { emptyRctp, encodeRctp, RCTP_BYTES } from '../../src/input/codecs/rctp.ts';
import { encodeHello } from '../../src/wire/codecs/desk.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { farhand, type Running, startFarhand } from './farhand.ts';
import { FaultRig } from './fault-rig.ts';

/** Stale after 150 ms, then a tick; and what a busy machine adds. */
const HOLD_WITHIN_MS = 150 + 20;
const NOISE_MS = 150;
const CALM_RAD_S = 1.5;

interface Report {
  kind: string;
  inputs: string[];
  counters: Record<string, number>;
}

describe('an operator that listens to RCTP', () => {
  let rig: FaultRig;
  let port: number;
  let sender: Running;

  const send = (...more: string[]): Running =>
    startFarhand(['send', 'rctp', '--port', String(port), ...more]);
  const rearm = async () => {
    await rig.ask('disarm');
    await rig.waitFor('idle');
    // The last sample of a sender that was killed counts for 150 ms, and would engage.
    await sleep(300);
    await rig.ask('arm');
    await rig.waitFor('armed');
  };

  before(async () => {
    [port = 0] = await freeUdpPorts(1);
    const settings = ['operator.input=rctp', `operator.inputs.rctp.rightPort=${port}`];
    rig = await FaultRig.start([...settings, 'robot.playout=none', '--json'], 'armed');
  });
  after(() => rig.close());
  afterEach(async () => {
    sender.process.kill('SIGKILL');
    await sender.exited;
  });

  it('lets the arm follow `farhand send`, without a jump', async () => {
    const startNs = rig.nowNs();
    sender = send('--seconds', '4');
    await rig.waitFor('engaged');
    await sleep(2500);
    assert.equal(rig.last.state, 'engaged');
    const moved = rig.seen.filter(({ robotNs }) => robotNs > startNs).map((seen) => seen.measuredRad[0]!);
    assert.ok(Math.max(...moved) - Math.min(...moved) > 0.05, 'it moves');
    assert.ok(rig.topSpeedRadS(startNs) < CALM_RAD_S, `${rig.topSpeedRadS(startNs)} rad/s`);
    assert.equal(await sender.exited, 0);
    const rateHz = Number(/([\d.]+) per second/.exec(sender.stdout())?.[1]);
    assert.ok(Math.abs(rateHz - 50) < 1, sender.stdout());
  });

  it('holds when tracking is lost and follows again by itself', async () => {
    await rearm();
    sender = send('--seconds', '6', '--lose-tracking', '2-3');
    await rig.waitFor('engaged');
    const hold = await rig.waitFor('hold', 4000);
    assert.match(hold.cause, /tracking lost/);
    await rig.waitFor('engaged', 3000);
    await sleep(300);
    assert.equal(rig.last.state, 'engaged');
  });

  it('holds when the sender is killed', async () => {
    await rearm();
    sender = send();
    await rig.waitFor('engaged');
    await sleep(500);
    sender.process.kill('SIGKILL');
    const killNs = rig.nowNs();
    const hold = await rig.waitFor('hold', 2000);
    const tookMs = (hold.robotNs - killNs) / 1e6;
    assert.ok(tookMs < HOLD_WITHIN_MS + NOISE_MS, `hold after ${tookMs} ms`);
    await sleep(1500);
    assert.equal(rig.last.state, 'hold');
  });

  it('stops on the e-stop flag, and stays stopped', async () => {
    await rearm();
    sender = send('--seconds', '4', '--estop-after', '1.5');
    await rig.waitFor('engaged');
    await rig.waitFor('stopped', 4000);
    await sender.exited;
    await sleep(300);
    assert.equal(rig.last.state, 'stopped');
    await rig.ask('reset');
    await rig.waitFor('idle');
  });

  it('stops within a control cycle of the flag, though the pose with it is no pose', async () => {
    await rearm();
    const socket = createSocket('udp4');
    sender = send('--seconds', '0.01');
    await sender.exited;
    await sleep(1100);
    const packet = {
      ...emptyRctp(),
      timestampS: 1,
      tracking: true,
      estop: true,
      quatXyzw: new Float64Array(4),
    };
    const bytes = new Uint8Array(RCTP_BYTES);
    encodeRctp(packet, bytes);
    const sentNs = rig.nowNs();
    await new Promise<void>((resolve) => socket.send(bytes, port, '127.0.0.1', () => resolve()));
    const stopped = await rig.waitFor('stopped', 1000);
    const tookMs = (stopped.robotNs - sentNs) / 1e6;
    assert.ok(tookMs < 5 + NOISE_MS, `${tookMs} ms`);
    socket.close();
    await sleep(300);
    await rig.ask('reset');
    await rig.waitFor('idle');
  });

  it('does not listen to a second sender, not even to its e-stop', async () => {
    await sleep(1100);
    await rearm();
    sender = send('--seconds', '4');
    await rig.waitFor('engaged');
    const second = await farhand([
      'send',
      'rctp',
      '--port',
      String(port),
      '--seconds',
      '1',
      '--estop-after',
      '0',
    ]);
    assert.equal(second.code, 0);
    assert.equal(rig.last.state, 'engaged');
    await sender.exited;
  });

  it('says in the end what it listened on and what it refused', async () => {
    sender = send('--seconds', '0.01');
    await rig.operator.end();
    const lines = rig.operator.stdout().trim().split('\n');
    const [ready, report] = ['ready', 'report'].map((kind) =>
      lines.map((line) => JSON.parse(line) as Report).find((line) => line.kind === kind),
    );
    assert.deepEqual(ready?.inputs, [`rctp right on UDP 127.0.0.1:${port}`]);
    assert.ok(report!.counters['unknown-source']! >= 40, JSON.stringify(report!.counters));
    assert.equal(report!.counters['bad-quaternion'], 1);
    assert.equal(report!.counters['bad-tag'] ?? 0, 0);
  });
});

/** One telemetry message, as the console gets it. */
async function telemetryOf(port: number): Promise<Telemetry> {
  const socket = createSocket('udp4');
  const hello = new Uint8Array(64);
  const length = encodeHello(1, hello);
  const heard = new Promise<Telemetry>((resolve, reject) => {
    socket.once('message', (bytes) => resolve(JSON.parse(bytes.toString()) as Telemetry));
    setTimeout(() => reject(new Error('no telemetry')), 3000).unref();
  });
  socket.send(hello.subarray(0, length), port, '127.0.0.1');
  return heard.finally(() => socket.close());
}

describe('an operator that listens to RCTP without native sockets', () => {
  const running: Running[] = [];
  const start = (...args: string[]): Running => {
    const child = startFarhand(args);
    running.push(child);
    return child;
  };
  afterEach(async () => {
    for (const child of running.splice(0)) await child.end();
  });

  for (const setting of ['link.reactor=dgram', 'link.transport=zmq'])
    it(`follows, tells how well it hears, and stops with ${setting}`, async () => {
      const [command, state, sync, desk, telemetry, input] = await freeUdpPorts(6);
      const link = [`link.commandPort=${command}`, `link.statePort=${state}`, `link.syncPort=${sync}`];
      const shared = [...link, 'link.security=plain', 'trace.dir=', setting, '--json'];
      const robot = start('robot', ...shared);
      await robot.waitFor(/"ready"/);
      const desks = [`console.deskPort=${desk}`, `console.telemetryPort=${telemetry}`];
      const inputs = ['operator.input=rctp', `operator.inputs.rctp.rightPort=${input}`];
      start('operator', ...shared, ...desks, ...inputs);
      await robot.waitFor(/"to":"armed"/);
      const sender = start('send', 'rctp', '--port', String(input), '--seconds', '5', '--estop-after', '4');
      await robot.waitFor(/"to":"engaged"/);
      await sleep(1000);
      const told = await telemetryOf(telemetry!);
      assert.equal(told.input.active, 'rctp');
      assert.ok(Math.abs(told.input.rateHz! - 50) < 5, `${told.input.rateHz} Hz`);
      assert.ok(told.input.jitterMs! >= 0 && told.input.jitterMs! < 20, `${told.input.jitterMs} ms`);
      await robot.waitFor(/"to":"stopped"/);
      assert.equal(await sender.exited, 0);
    });
});

describe('the verbs for RCTP', () => {
  it('play a recording in its own time, and hear it', async () => {
    const [port] = await freeUdpPorts(1);
    const file = path.join(temporaryFolder(), 'hand.jsonl');
    const line = (i: number) =>
      JSON.stringify({
        timestampS: 40 + i / 25,
        positionM: [0.1, 1.2, -0.3],
        quatXyzw: [0, 0, 0, 1],
        gripper: 0.25,
        tracking: true,
        estop: false,
      });
    writeFileSync(file, Array.from({ length: 51 }, (_, i) => line(i)).join('\n'));
    const ear = startFarhand([
      'listen',
      'rctp',
      '--port',
      String(port),
      '--seconds',
      '4',
      'resumeAfterMs=100',
    ]);
    const untilMs = performance.now() + 10_000;
    while (!/listening/.test(ear.stderr()) && performance.now() < untilMs) await sleep(20);
    const sent = await farhand([
      'send',
      'rctp',
      '--port',
      String(port),
      '--from',
      'recorded',
      '--file',
      file,
      '--json',
    ]);
    const report = JSON.parse(sent.stdout) as { sent: number; rateHz: number };
    assert.equal(report.sent, 51);
    assert.ok(Math.abs(report.rateHz - 25) < 1, sent.stdout);
    assert.equal(await ear.exited, 0);
    const heard = ear
      .stdout()
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text));
    assert.ok(heard.length >= 3);
    assert.ok(heard.some(({ rateHz, clutch }) => clutch === true && Math.abs(rateHz - 25) < 3));
    const { received, lostEstimate, gripperClosed, rejected } = heard.at(-1)!;
    assert.deepEqual([received, lostEstimate, gripperClosed, rejected], [51, 0, 0.75, {}]);
  });

  it('take their lines from standard input', () => {
    const piped = (args: string[], input: string) =>
      spawnSync(process.execPath, ['bin/farhand', ...args], { input, encoding: 'utf8', timeout: 20_000 });
    const vectors = JSON.parse(readFileSync('test/data/rctp.json', 'utf8')) as {
      hex: string;
      valid: boolean;
    }[];
    const decoded = piped(['decode', 'rctp'], vectors.map(({ hex }) => hex).join('\n'));
    const packets = decoded.stdout.trim().split('\n');
    assert.deepEqual(
      packets.map((line) => (JSON.parse(line) as { ok: boolean }).ok),
      vectors.map(({ valid }) => valid),
    );
    const good = packets.filter((_, i) => vectors[i]!.valid);
    const encoded = piped(['encode', 'rctp'], good.join('\n'));
    assert.equal(encoded.stdout.trim().split('\n').length, good.length);
    // Nobody listens on the discard port; what counts is what was sent.
    const args = ['send', 'rctp', '--port', '9', '--from', 'stdin', '--json'];
    const sent = piped(args, `${good.join('\n')}\nnot a packet\n`);
    const { sent: count, refused } = JSON.parse(sent.stdout) as { sent: number; refused: number };
    assert.deepEqual([count, refused, sent.status], [good.length, 1, 1]);
  });

  it('decode and encode from arguments', async () => {
    const hex = '524354500000000000002940cdcccc3d9a99993f9a9999be0000000000000000000000000000803f0000803f01';
    const decoded = await farhand(['decode', 'rctp', hex, '5243', 'xyz']);
    const [first, ...rest] = decoded.stdout.trim().split('\n');
    assert.deepEqual(rest, ['{"ok":false,"reason":"short"}', '{"ok":false,"reason":"not-hexadecimal"}']);
    const encoded = await farhand(['encode', 'rctp', first!]);
    assert.deepEqual([encoded.code, encoded.stdout.trim()], [0, hex]);
    const refused = await farhand(['encode', 'rctp', '{"timestampS":1}']);
    assert.equal(refused.code, 1);
    assert.match(refused.stdout, /"ok":false/);
  });

  it('say what is wrong with the asking', async () => {
    for (const [args, complaint] of [
      [['send', 'rcpt'], /Did you mean "rctp"/],
      [['send', 'rctp', '--from', 'recorded'], /needs --file/],
      [['send', 'rctp', '--lose-tracking', '3'], /span of seconds/],
      [['listen', 'page'], /These do: .*rctp/],
      [['decode'], /which protocol/],
    ] as const) {
      const { code, stderr } = await farhand(args);
      assert.equal(code, 2, args.join(' '));
      assert.match(stderr, complaint);
    }
  });
});
