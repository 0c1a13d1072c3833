import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { emptyRctp, encodeRctp, RCTP_BYTES } from '../../src/input/codecs/rctp-codec.ts';
import type { Telemetry } from '../../src/messages/telemetry.ts';
import { encodeHello } from '../../src/wire/codecs/desk.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { farhand, type Running, startFarhand } from './farhand.ts';
import { FaultRig } from './fault-rig.ts';

const WAIT_MS = 20_000;
const TIMEOUT = { timeout: 60_000 };

interface Report {
  kind: string;
  inputs: string[];
  counters: Record<string, number>;
}

/** Packet handling is tested in simulated time: test/loops/rctp.test.ts. */
describe('an operator that listens to RCTP, as a process', () => {
  let rig: FaultRig;
  let port: number;
  const senders: Running[] = [];

  const send = (...more: string[]): Running => {
    const sender = startFarhand(['send', 'rctp', '--port', String(port), ...more]);
    senders.push(sender);
    return sender;
  };

  /** One datagram with the flag and a quaternion of zeros. */
  async function sendEstop(fromHost: string): Promise<void> {
    const socket = createSocket('udp4');
    await new Promise<void>((resolve) => socket.bind(0, fromHost, resolve));
    const bytes = new Uint8Array(RCTP_BYTES);
    encodeRctp(
      { ...emptyRctp(), timestampS: 1, tracking: true, estop: true, quatXyzw: new Float64Array(4) },
      bytes,
    );
    await new Promise<void>((resolve) => socket.send(bytes, port, '127.0.0.1', () => resolve()));
    socket.close();
  }

  before(async () => {
    [port = 0] = await freeUdpPorts(1);
    const settings = ['operator.input=rctp', `operator.inputs.rctp.rightPort=${port}`];
    rig = await FaultRig.start([...settings, 'robot.playout=none', '--json'], 'armed');
  }, TIMEOUT);
  after(async () => {
    for (const sender of senders) sender.process.kill('SIGKILL');
    await rig?.close();
  });

  it(
    'follows `farhand send`, ignores a second sender and a stranger’s e-stop, holds when the first is killed',
    TIMEOUT,
    async () => {
      const sender = send();
      await rig.waitFor('engaged', WAIT_MS);
      const startNs = rig.nowNs();
      const second = await farhand(['send', 'rctp', '--port', String(port), '--seconds', '1']);
      assert.equal(second.code, 0);
      await sendEstop('127.0.0.2');
      await sleep(200);
      const moved = rig.seen.filter(({ robotNs }) => robotNs > startNs).map((seen) => seen.measuredRad[0]!);
      assert.ok(Math.max(...moved) - Math.min(...moved) > 0.02, 'it moves');
      assert.ok(rig.seen.every(({ robotNs, state }) => robotNs < startNs || state !== 'stopped'));
      sender.process.kill('SIGKILL');
      await rig.waitFor('hold', WAIT_MS);
    },
  );

  it('stops on the e-stop flag even with an invalid pose, and stays stopped', TIMEOUT, async () => {
    // Another sender is accepted after a second of silence.
    await sleep(1200);
    await sendEstop('127.0.0.1');
    await rig.waitFor('stopped', WAIT_MS);
  });

  it('reports at exit what it listened on and what it rejected', TIMEOUT, async () => {
    await rig.operator.end();
    const lines = rig.operator.stdout().trim().split('\n');
    const [ready, report] = ['ready', 'report'].map((kind) =>
      lines.map((line) => JSON.parse(line) as Report).find((line) => line.kind === kind),
    );
    assert.deepEqual(ready?.inputs, [`rctp right on UDP 127.0.0.1:${port}`]);
    assert.ok(report!.counters['unknown-source']! >= 20, JSON.stringify(report!.counters));
    assert.equal(report!.counters['bad-quaternion'], 1);
    assert.equal(report!.counters['bad-tag'] ?? 0, 0);
  });
});

/** One telemetry message, as the console receives it. */
async function telemetryOf(port: number): Promise<Telemetry> {
  const socket = createSocket('udp4');
  const hello = new Uint8Array(64);
  const length = encodeHello(1, hello);
  const received = new Promise<Telemetry>((resolve, reject) => {
    socket.once('message', (bytes) => resolve(JSON.parse(bytes.toString()) as Telemetry));
    setTimeout(() => reject(new Error('no telemetry')), 10_000).unref();
  });
  socket.send(hello.subarray(0, length), port, '127.0.0.1');
  return received.finally(() => socket.close());
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
    it(`follows, reports reception quality, and stops with ${setting}`, TIMEOUT, async () => {
      const [command, state, sync, desk, telemetry, input] = await freeUdpPorts(6);
      const link = [`link.commandPort=${command}`, `link.statePort=${state}`, `link.syncPort=${sync}`];
      const shared = [...link, 'link.security=plain', 'trace.dir=', setting, '--json'];
      const robot = start('robot', ...shared);
      await robot.waitFor(/"ready"/);
      const desks = [`console.deskPort=${desk}`, `console.telemetryPort=${telemetry}`];
      const inputs = ['operator.input=rctp', `operator.inputs.rctp.rightPort=${input}`];
      start('operator', ...shared, ...desks, ...inputs);
      await robot.waitFor(/"to":"armed"/);
      start('send', 'rctp', '--port', String(input), '--estop-after', '3');
      await robot.waitFor(/"to":"engaged"/);
      const reported = await telemetryOf(telemetry!);
      assert.equal(reported.input.active, 'rctp');
      // A busy machine sends late and receives in bursts: this only checks that there are figures.
      assert.ok(reported.input.rateHz! > 0 && reported.input.jitterMs! >= 0, JSON.stringify(reported.input));
      await robot.waitFor(/"to":"stopped"/);
    });
});

describe('the verbs for RCTP', () => {
  it('play a recording at its own pace, and receive it', TIMEOUT, async () => {
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
    const receiver = startFarhand(['listen', 'rctp', '--port', String(port), 'resumeAfterMs=100']);
    after(() => receiver.end());
    const reported = () => receiver.stderr() + receiver.stdout();
    await until('listening', () => /listening/.test(receiver.stderr()), reported);
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
    assert.ok(report.rateHz > 10 && report.rateHz < 26, 'no faster than recorded');
    await until('all packets', () => /"received":51/.test(receiver.stdout()), reported);
    assert.equal(await receiver.end(), 0);
    const reports = receiver
      .stdout()
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text));
    assert.ok(reports.some(({ rateHz, clutch }) => clutch === true && rateHz > 5 && rateHz < 50));
    const { received, lostEstimate, gripperClosed, rejected } = reports.at(-1)!;
    assert.deepEqual([received, lostEstimate, gripperClosed, rejected], [51, 0, 0.75, {}]);
  });

  it('read lines from standard input', () => {
    const piped = (args: string[], input: string) =>
      spawnSync(process.execPath, ['bin/farhand', ...args], { input, encoding: 'utf8', timeout: WAIT_MS });
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
    // Nothing listens on the discard port; only what was sent matters.
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

  it('report invalid arguments', async () => {
    for (const [args, complaint] of [
      [['send', 'rcpt'], /Did you mean "rctp"/],
      [['send', 'rctp', '--from', 'recorded'], /needs --file/],
      [['send', 'rctp', '--lose-tracking', '3'], /range of seconds/],
      [['listen', 'page'], /These do: .*rctp/],
      [['decode'], /no protocol given/],
    ] as const) {
      const { code, stderr } = await farhand(args);
      assert.equal(code, 2, args.join(' '));
      assert.match(stderr, complaint);
    }
  });
});
