import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { REGISTER } from '../../src/robot/buses/dynamixel/control-table.ts';
import { DYNAMIXEL_2, rebootPacket, statusPacket } from '../../src/robot/buses/dynamixel/dynamixel-2.ts';
import { openPty, type Pty } from '../../src/robot/buses/pty.ts';
import { serialLine } from '../../src/robot/buses/serial-line.ts';
import {
  bulkRead,
  ping,
  read,
  requestOne,
  syncRead,
  syncWrite,
  write,
} from '../../src/robot/buses/servo/operations.ts';
import { PacketParser } from '../../src/robot/buses/servo/packet-parser.ts';
import { pingPacket } from '../../src/robot/buses/servo/packets.ts';
import { type Exchange, ServoBus } from '../../src/robot/buses/servo/servo-bus.ts';
import { HANDS } from '../../src/robot/drivers/orca/hands.ts';
import { HandPreparation } from '../../src/robot/drivers/orca/prepare.ts';
import { needs } from '../needs.ts';
import { OrcaBench } from './orca-bench.ts';

const skip = needs('Linux');
/** Longer timeout for motors that share a busy machine with their bus. */
const PATIENCE_MS = 250;
const ids = Array.from({ length: 17 }, (_, i) => i + 1);

async function withMotors(work: (bus: ServoBus, bench: OrcaBench) => Promise<void>): Promise<void> {
  const bench = await OrcaBench.start();
  const bus = await ServoBus.open(serialLine(bench.port, 3_000_000), DYNAMIXEL_2, monotonicClock, {
    slackMs: PATIENCE_MS,
  });
  try {
    await work(bus, bench);
  } finally {
    bus.close();
    bench.close();
  }
}

/** A peer whose replies the test writes. */
async function withPeer(slackMs: number, work: (bus: ServoBus, peer: Pty) => Promise<void>): Promise<void> {
  const peer = await openPty();
  const bus = await ServoBus.open(serialLine(peer.path, 1_000_000), DYNAMIXEL_2, monotonicClock, { slackMs });
  try {
    await work(bus, peer);
  } finally {
    bus.close();
    peer.close();
  }
}
const put = (peer: Pty, bytes: Uint8Array) => peer.write(bytes, bytes.length);
/** Model 1220, firmware 46. */
const PONG = [0xc4, 0x04, 46];
const PONG_ANSWER = { error: 0, data: Uint8Array.from(PONG) };

describe('Dynamixel bus with motors', { skip }, () => {
  it('pings, reads, writes, and reads several motors by every method', async () => {
    await withMotors(async (bus, bench) => {
      assert.deepEqual(await ping(bus, 3), PONG_ANSWER);
      assert.equal(await write(bus, 3, REGISTER.torqueEnable, 1), 0);
      assert.equal(await read(bus, 3, REGISTER.torqueEnable), 1);
      assert.equal(await write(bus, 3, REGISTER.operatingMode, 4), 7, 'access denied while torque is on');
      assert.ok(
        await syncWrite(
          bus,
          ids,
          REGISTER.profileVelocity,
          ids.map((id) => id * 10),
        ),
      );
      const back = await syncRead(bus, ids, REGISTER.profileVelocity);
      assert.deepEqual(
        [...back],
        ids.map((id) => [id, id * 10]),
      );
      const bulk = await bulkRead(bus, [
        { id: 1, address: 144, size: 2 },
        { id: 2, address: 146, size: 1 },
      ]);
      assert.deepEqual([bulk.get(1)!.data[0], bulk.get(2)!.data[0]], [120, 32]);
      assert.ok(await requestOne(bus, 3, rebootPacket(3), 0));
      assert.equal(await ping(bus, 3), null, 'silent while it restarts');
      await bus.pause(350);
      assert.equal(await read(bus, 3, REGISTER.torqueEnable), 0);
      assert.ok(bench.sim.motors.length === 17);
    });
  });

  it('gives up on an absent motor, and continues', async () => {
    await withMotors(async (bus, bench) => {
      assert.equal(await ping(bus, 99), null);
      assert.equal(bus.stats.timeouts, 1);
      bench.sim.motors[4]!.unplugged = true;
      const some = await syncRead(bus, ids, REGISTER.id);
      assert.equal(some.size, 16);
      assert.notEqual(await ping(bus, 1), null);
    });
  });
});

describe('Dynamixel bus with a hostile peer', { skip }, () => {
  it('accepts only replies from the requested motor and of the requested length', async () => {
    await withPeer(PATIENCE_MS, async (bus, peer) => {
      assert.equal(await ping(bus, 1), null);
      // It discards what arrives late: this timer ends after the bus's own, also on a busy machine.
      await sleep(100);
      const second = ping(bus, 1);
      put(peer, statusPacket(2, 0, PONG));
      put(peer, statusPacket(1, 0, [1]));
      put(peer, statusPacket(1, 0, PONG));
      assert.deepEqual(await second, PONG_ANSWER);
      assert.equal(bus.stats.unexpected, 2, 'another motor, another length');
    });
  });

  it('accepts replies byte by byte, amid noise and after the echo', async () => {
    await withPeer(500, async (bus, peer) => {
      const answer = ping(bus, 7);
      for (const byte of [...pingPacket(DYNAMIXEL_2, 7), 0xff, 0xff, 1, ...statusPacket(7, 0, PONG)]) {
        put(peer, Uint8Array.of(byte));
        await sleep(1);
      }
      assert.deepEqual(await answer, PONG_ANSWER);
      assert.equal(bus.stats.echoes, 1);
      assert.ok(bus.stats.garbageBytes > 0);
    });
  });

  it('takes no late reply for the one to a later request, when it sets a hand up', async () => {
    const values = new Map(
      [REGISTER.profileVelocity, REGISTER.goalPosition, REGISTER.presentPosition].map(({ address }, i) => [
        address,
        i + 1,
      ]),
    );
    await withPeer(30, async (bus, peer) => {
      const asked: { address: number; size: number }[] = [];
      const parser = new PacketParser(DYNAMIXEL_2, ({ params }) => {
        asked.push({ address: params[0]! | (params[1]! << 8), size: params[2]! });
      });
      const bytes = new Uint8Array(4096);
      let isLate = false;
      // One motor, which replies to one request after the other, as it takes time on a line.
      const motor = setInterval(() => {
        parser.push(bytes, peer.read(bytes));
        const next = isLate ? undefined : asked.shift();
        if (next !== undefined)
          put(peer, statusPacket(1, 0, [values.get(next.address) ?? 0, 0, 0, 0, 0].slice(0, next.size)));
      }, 3);
      try {
        const hand = new HandPreparation(bus, HANDS[0]!, () => {});
        for (const lateMs of [0, 45, 60, 100, 150]) {
          isLate = true;
          const reading = (async () => [
            await hand.readAll(REGISTER.profileVelocity, [1]),
            await hand.readAll(REGISTER.goalPosition, [1]),
            await hand.readAll(REGISTER.presentPosition, [1]),
          ])();
          await sleep(lateMs);
          isLate = false;
          assert.deepEqual(await reading, [[1], [2], [3]], `${lateMs} ms late`);
        }
      } finally {
        clearInterval(motor);
      }
    });
  });

  it('ignores unsolicited packets', async () => {
    await withPeer(500, async (bus, peer) => {
      for (let i = 0; i < 200; i++) put(peer, statusPacket(i, 0, [1, 2, 3]));
      put(peer, new Uint8Array(2000).fill(0xff));
      await sleep(50);
      const answer = ping(bus, 7);
      await sleep(5);
      put(peer, statusPacket(7, 0, PONG));
      assert.notEqual(await answer, null);
    });
  });

  it('fails all pending exchanges when the line is lost, and rejects new ones', async () => {
    const peer = await openPty();
    const bus = await ServoBus.open(serialLine(peer.path, 1_000_000), DYNAMIXEL_2, monotonicClock, {
      slackMs: 1000,
    });
    const waiting = Promise.all([ping(bus, 1), ping(bus, 2), syncRead(bus, [1, 2], REGISTER.id)]);
    peer.close();
    assert.deepEqual(await waiting, [null, null, new Map()]);
    assert.ok(!bus.isUp);
    assert.notEqual(bus.trouble, '');
    assert.equal(await ping(bus, 1), null);
    bus.close();
  });

  it('bounds its queue', async () => {
    await withPeer(5000, async (bus) => {
      let refused = 0;
      const bytes = pingPacket(DYNAMIXEL_2, 1);
      const exchange = (): Exchange => ({
        bytes,
        byteCount: bytes.length,
        answers: 1,
        answerBytes: 14,
        onStatus: () => 0,
        onDone: (complete) => {
          assert.ok(!complete);
          refused++;
        },
      });
      for (let i = 0; i < 400; i++) bus.submit(exchange());
      assert.equal(refused, 400 - 257);
    });
  });
});

describe('a process killed while its hand moves', { skip }, () => {
  it('leaves a hand that stops by itself', async () => {
    const bench = await OrcaBench.start();
    const script = fileURLToPath(new URL('./orca-host.js', import.meta.url));
    const child = spawn(process.execPath, [script, bench.port, bench.calibrationFile], { stdio: 'inherit' });
    try {
      const from = bench.sim.jointDeg('thumb_mcp');
      for (let i = 0; i < 500 && bench.sim.jointDeg('thumb_mcp') < from + 3; i++) await sleep(10);
      assert.ok(bench.sim.jointDeg('thumb_mcp') >= from + 3, 'moving');
      child.kill('SIGKILL');
      await sleep(500);
      const stopped = bench.sim.jointDeg('thumb_mcp');
      assert.ok(stopped < 40, 'short of its goal');
      assert.ok(bench.sim.motors.every((motor) => motor.get(REGISTER.busWatchdog) === 0xff));
      assert.ok(
        bench.sim.motors.every((motor) => motor.hasTorque),
        'and holds',
      );
      await sleep(300);
      assert.ok(Math.abs(bench.sim.jointDeg('thumb_mcp') - stopped) < 0.1);
    } finally {
      child.kill('SIGKILL');
      bench.close();
    }
  });
});
