/**
 * SocketCAN on a real kernel interface. Run by `node scripts/socketcan-uml.mjs` inside user-mode Linux with vcan0 up;
 * not a part of `npm test`, which cannot count on a kernel with CAN.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { PiperArm } from '../../sim/piper/arm.ts';
import { answersTo, FeedbackRound } from '../../sim/piper/feedback.ts';
import { piperModel } from '../../sim/piper/model.ts';
import { loadPlugin, pluginConfig } from '../../src/app/registry.ts';
import { percentiles } from '../../src/core/statistics/percentiles.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { CanBus } from '../../src/robot/buses/can.ts';
import { type CanFrame, frameText, parseFrameText } from '../../src/robot/buses/can-frame.ts';
import { socketcanBackend } from '../../src/robot/buses/socketcan.ts';
import { Arm } from '../../src/testing/driver-bench.ts';

const NAME = 'vcan0';
const BITRATE = 1_000_000;
/** Python's own CAN sockets as a peer: sends one frame of each kind and an error frame, prints what it gets. */
const PEER = `
import socket, struct, sys
s = socket.socket(socket.AF_CAN, socket.SOCK_RAW, socket.CAN_RAW)
s.setsockopt(socket.SOL_CAN_RAW, socket.CAN_RAW_FD_FRAMES, 1)
s.bind(("${NAME}",))
print("ready", flush=True)
s.send(struct.pack("=IB3x8s", 0x155, 8, bytes.fromhex("00002CC300002CC3")))
s.send(struct.pack("=IB3x8s", 0x0C34567F | 0x80000000, 2, bytes([1, 2])))
s.send(struct.pack("=IB3x8s", 0x100 | 0x40000000, 4, b""))
s.send(struct.pack("=IBB2x64s", 0x005, 12, 1, bytes(range(12))))
s.send(struct.pack("=IB3x8s", 0x40 | 0x20000000, 8, b""))
for _ in range(4):
    frame = s.recv(72)
    word, length, flags = struct.unpack("=IBB", frame[:6])
    print("%08X %d %d %d %s" % (word, len(frame), length, flags & 3, frame[8:8 + length].hex()), flush=True)
`;

const open = (onFrame: (frame: CanFrame) => void = () => {}, reported: string[] = []) =>
  CanBus.open(
    socketcanBackend(NAME),
    {
      bitrate: BITRATE,
      onFrame,
      onLost: (why) => reported.push(`lost: ${why}`),
      onBack: () => reported.push('back'),
    },
    monotonicClock,
  );
const ip = (...args: string[]) => assert.equal(spawnSync('ip', ['link', 'set', NAME, ...args]).status, 0);

async function eventually(holds: () => boolean, ms = 5000): Promise<void> {
  for (let i = 0; i < ms / 5 && !holds(); i++) await sleep(5);
  assert.ok(holds(), holds.toString());
}

describe('SocketCAN on vcan', () => {
  it('exchanges every kind of frame with another program, and counts error frames', async () => {
    const got: string[] = [];
    const bus = await open((frame) => got.push(frameText(frame)));
    const python = spawn('python3', ['-c', PEER], { stdio: ['ignore', 'pipe', 'inherit'] });
    const lines: string[] = [];
    createInterface({ input: python.stdout }).on('line', (line) => lines.push(line));
    await eventually(() => got.length === 4 && bus.stats.errors === 1, 20_000);
    assert.deepEqual(got, [
      '155#00002CC300002CC3',
      '0C34567F#0102',
      '100#R4',
      '005##1000102030405060708090A0B',
    ]);
    assert.equal(bus.stats.lastError, 'bus off');
    const ours = ['471#0702000000000000', '1ABCDEF0#FF', '7FF#R', '123##1000102030405060708090A0B'];
    assert.ok(bus.send(ours.map((text) => parseFrameText(text)!)));
    await eventually(() => lines.length === 5);
    assert.deepEqual(lines.slice(1), [
      '00000471 16 8 0 0702000000000000',
      '9ABCDEF0 16 1 0 ff',
      '400007FF 16 0 0 ',
      '00000123 72 12 1 000102030405060708090a0b',
    ]);
    bus.close();
  });

  it('loses nothing of 20,000 frames, in order, and tells how long a frame takes to its reader', async () => {
    const waitsNs: number[] = [];
    let next = 0;
    const reader = await open((frame) => {
      const view = new DataView(frame.data.buffer);
      assert.equal(view.getUint32(0), next++);
      waitsNs.push((monotonicClock.nowNs() % 2 ** 32) - view.getUint32(4));
    });
    const sender = await open();
    const frame = parseFrameText('2A5#0000000000000000')!;
    const view = new DataView(frame.data.buffer);
    for (let i = 0; i < 20_000; i += 20) {
      for (let j = 0; j < 20; j++) {
        view.setUint32(0, i + j);
        view.setUint32(4, monotonicClock.nowNs() % 2 ** 32);
        assert.ok(sender.send([frame]));
      }
      await sleep(1);
    }
    await eventually(() => next === 20_000);
    const p = percentiles(waitsNs.filter((ns) => ns >= 0))!;
    console.log(
      `sent to seen, µs: p50 ${p.p50 / 1e3} p95 ${p.p95 / 1e3} p99 ${p.p99 / 1e3} max ${p.max / 1e3}`,
    );
    reader.close();
    sender.close();
  });

  it('is lost when the interface goes down and back when it comes up', async () => {
    const reported: string[] = [];
    const bus = await open(undefined, reported);
    ip('down');
    await eventually(() => !bus.isUp);
    assert.equal(bus.send([parseFrameText('001#')!]), false);
    ip('up');
    await eventually(() => bus.isUp);
    assert.equal(reported.length, 2);
    assert.match(reported[0]!, /^lost: ENETDOWN/);
    assert.ok(bus.send([parseFrameText('001#')!]));
    bus.close();
  });

  it('carries the Piper driver: opens, enables, moves, stops', async () => {
    const model = piperModel('new');
    const device = new PiperArm({ model, firmware: 'S-V1.8-2', startRad: [0, 1, -1, 0, 0.3, 0] });
    const round = new FeedbackRound(device);
    const bus = await open((frame) => {
      device.take(frame);
      const answers = answersTo(frame, device);
      if (answers.length > 0) bus.send(answers);
    });
    let atMs = performance.now();
    let owed = 0;
    const ticker = setInterval(() => {
      for (; atMs + 1 <= performance.now(); atMs++, owed += 3.04) device.step(1e-3);
      for (; owed >= 1; owed--) bus.send([round.next()!]);
    }, 1);
    const plugin = await loadPlugin('driver', 'piper');
    const config = pluginConfig('driver', 'piper', plugin, {
      bus: `socketcan:${NAME}`,
      feedbackTimeoutMs: 500,
    });
    const arm = new Arm(await plugin.open(config, model, monotonicClock), model, true);
    await arm.settle();
    assert.equal(await arm.enable(), 'ok');
    const goal = [0.1, 1.1, -0.9, 0.1, 0.2, 0.1];
    const reached = await arm.run(2500, goal);
    for (const [i, rad] of goal.entries()) assert.ok(Math.abs(reached[i]! - rad) < 0.01, `joint ${i + 1}`);
    arm.driver.stop(arm.nowNs);
    await eventually(() => device.motion.stopped);
    arm.driver.dispose();
    clearInterval(ticker);
    bus.close();
  });
});
