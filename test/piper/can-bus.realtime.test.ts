import assert from 'node:assert/strict';
import { rmSync, symlinkSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TeleopError } from '../../src/core/errors.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { CanBus } from '../../src/robot/buses/can.ts';
import { emptyFrame, frameText, parseFrameText } from '../../src/robot/buses/can-frame.ts';
import { canBackend } from '../../src/robot/buses/open-can.ts';
import { openPty, type Pty } from '../../src/robot/buses/pty.ts';
import { openPackagedSerial } from '../../src/robot/buses/serial.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { LoopbackCan } from './loopback-can.ts';

const skip = needs('Linux');
const frames = (...texts: string[]) => texts.map((text) => parseFrameText(text)!);

/** Waits until it holds, or two seconds have passed. */
async function eventually(holds: () => boolean): Promise<void> {
  for (let i = 0; i < 400 && !holds(); i++) await sleep(5);
  assert.ok(holds(), holds.toString());
}

/** A bare serial line whose adapter end the test drives byte by byte. */
class Line {
  readonly link = path.join(temporaryFolder('can'), 'tty');
  pty!: Pty;
  written = '';

  async plugIn(): Promise<void> {
    this.pty = await openPty();
    symlinkSync(this.pty.path, this.link);
  }

  unplug(): void {
    unlinkSync(this.link);
    this.pty.close();
  }

  say(text: string): void {
    const bytes = Buffer.from(text, 'latin1');
    assert.equal(this.pty.write(bytes, bytes.length), bytes.length);
  }

  received(): string {
    const buffer = new Uint8Array(65536);
    for (let bytes = this.pty.read(buffer); bytes > 0; bytes = this.pty.read(buffer))
      this.written += Buffer.from(buffer.subarray(0, bytes)).toString('latin1');
    return this.written;
  }
}

async function withLine(work: (line: Line) => Promise<void>): Promise<void> {
  const line = new Line();
  await line.plugIn();
  try {
    await work(line);
  } finally {
    rmSync(path.dirname(line.link), { recursive: true, force: true });
  }
}

describe('a CAN bus over a serial adapter', { skip }, () => {
  it('configures the channel, sends at once, and receives frames however they are split', async () => {
    await withLine(async (line) => {
      const got: string[] = [];
      const bus = await CanBus.open(
        canBackend(`slcan:${line.link}`, 1_000_000),
        { bitrate: 1_000_000, onFrame: (frame) => got.push(frameText(frame)) },
        monotonicClock,
      );
      assert.equal(line.received(), '\rC\rS8\rO\r');
      line.written = '';
      assert.ok(bus.send(frames('471#0702000000000000', '0C34567F#0102')));
      assert.equal(
        line.received(),
        't47180702000000000000\rT0C34567F20102\r',
        'before the event loop turned',
      );
      line.say('\r\r\rz\rt2A58FFFFCF');
      await sleep(20);
      line.say('C700015F90\rt10021133A902\rrub\x01bish\rt1000\r');
      await eventually(() => got.length === 3);
      assert.deepEqual(got, ['2A5#FFFFCFC700015F90', '100#1133', '100#']);
      await sleep(200);
      line.say('\x07');
      await eventually(() => bus.stats.errors > 0);
      assert.match(bus.stats.lastError, /rejected/);
      bus.close();
      assert.ok(line.received().endsWith('C\r'));
      line.unplug();
    });
  });

  it('reopens with pauses after a loss, reports both, and queues nothing in between', async () => {
    await withLine(async (line) => {
      const reported: string[] = [];
      const options = {
        bitrate: 1_000_000,
        onFrame: () => {},
        onLost: (why: string) => reported.push(`lost: ${why.length > 0}`),
        onBack: () => reported.push('back'),
      };
      const bus = await CanBus.open(canBackend(`slcan:${line.link}`, 1_000_000), options, monotonicClock);
      line.unplug();
      await eventually(() => !bus.isUp);
      assert.notEqual(bus.trouble, '');
      assert.equal(bus.send(frames('155#0000000000000000')), false);
      assert.equal(bus.stats.dropped, 1);
      await sleep(350);
      line.written = '';
      await line.plugIn();
      await eventually(() => bus.isUp);
      assert.equal(line.received(), '\rC\rS8\rO\r');
      assert.deepEqual(reported, ['lost: true', 'back']);
      bus.close();
      line.unplug();
    });
  });

  it('drops whole frames, never half of one, when the adapter does not accept them', async () => {
    await withLine(async (line) => {
      const options = { bitrate: 1_000_000, onFrame: () => {} };
      const bus = await CanBus.open(canBackend(`slcan:${line.link}`, 1_000_000), options, monotonicClock);
      const one = frames('155#0123456789ABCDEF');
      let sent = 0;
      for (let i = 0; i < 3000; i++) if (bus.send(one)) sent++;
      assert.ok(sent > 100 && sent < 3000, `${sent} of 3000`);
      assert.equal(bus.stats.dropped, 3000 - sent);
      const expected = `\rC\rS8\rO\r${'t15580123456789ABCDEF\r'.repeat(sent)}`;
      await eventually(() => line.received().length >= expected.length);
      assert.equal(line.written, expected);
      bus.close();
      line.unplug();
    });
  });

  it('sends a stop ahead of queued frames, and never splits a frame', async () => {
    await withLine(async (line) => {
      const options = { bitrate: 1_000_000, onFrame: () => {} };
      const bus = await CanBus.open(canBackend(`slcan:${line.link}`, 1_000_000), options, monotonicClock);
      const one = frames('155#0123456789ABCDEF');
      while (bus.send(one));
      assert.ok(bus.sendUrgent(frames('150#0100000000000000')));
      await eventually(() => line.received().endsWith('t15080100000000000000\r'));
      const lines = line.written.split('\r').slice(4, -2);
      assert.ok(lines.every((text) => text === 't15580123456789ABCDEF'));
      assert.ok(lines.length < bus.stats.sent - 1, 'some were never sent');
      bus.close();
      line.unplug();
    });
  });

  it('rejects missing devices and unsupported bit rates', async () => {
    const options = { bitrate: 1_000_000, onFrame: () => {} };
    const code = (wanted: string) => (error: unknown) =>
      error instanceof TeleopError && error.code === wanted && error.hint.length > 10;
    const open = (name: string) => CanBus.open(canBackend(name, 1_000_000), options, monotonicClock);
    await assert.rejects(() => open('slcan:/dev/no-such-tty'), code('bus-failed'));
    await assert.rejects(() => open('socketcan:nocan7'), code('bus-failed'));
    assert.throws(() => canBackend('slcan:/dev/ttyACM0', 800_000), code('bad-config'));
    assert.throws(() => canBackend('can0', 1_000_000), code('bad-config'));
  });
});

describe('the serialport package', { skip }, () => {
  it('opens our pseudo-terminals, in both directions', async () => {
    await withLine(async (line) => {
      let got = '';
      const port = await openPackagedSerial(line.link, 115_200, {
        onBytes: (bytes, length) => {
          got += Buffer.from(bytes.subarray(0, length)).toString('latin1');
        },
        onLost: () => {},
      });
      assert.equal(port.write(Buffer.from('V\r'), 2), 2);
      await eventually(() => line.received() === 'V\r');
      line.say('V1013\r');
      await eventually(() => got === 'V1013\r');
      port.close();
      await sleep(50);
      line.unplug();
    });
  });
});

describe('a CAN bus in memory', () => {
  it('delivers frames to all others, and reports errors and load', async () => {
    const wire = new LoopbackCan();
    let nowNs = 0;
    const clock = { nowNs: () => nowNs };
    const got: string[] = [];
    const open = (onFrame = (_: string) => {}) =>
      CanBus.open(
        wire.backend(),
        { bitrate: 1_000_000, onFrame: (frame) => onFrame(frameText(frame)) },
        clock,
      );
    const a = await open();
    const b = await open((text) => got.push(text));
    for (let i = 0; i < 1000; i++) a.send([{ ...emptyFrame(0x155), length: 8 }]);
    assert.equal(got.length, 1000);
    assert.equal(got[0], '155#0000000000000000');
    nowNs = 1e9;
    assert.equal(a.load(), 0.135);
    assert.equal(b.load(), 0.135);
    nowNs = 2e9;
    assert.equal(a.load(), 0);
    wire.disturb('bus off');
    assert.deepEqual([a.stats.errors, a.stats.lastError], [1, 'bus off']);
    wire.unplug();
    assert.equal(a.isUp, false);
    wire.present = true;
    await eventually(() => a.isUp && b.isUp);
    assert.ok(a.send(frames('001#AA')));
    assert.equal(got.at(-1), '001#AA');
    a.close();
    b.close();
  });
});
