import assert from 'node:assert/strict';
import { symlinkSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { FEETECH_SCS, FEETECH_STS } from '../../src/robot/buses/feetech/feetech-scs.ts';
import { serialLine } from '../../src/robot/buses/serial-line.ts';
import { bulkRead, ping, read, syncRead, syncWrite, write } from '../../src/robot/buses/servo/operations.ts';
import { type BusOptions, ServoBus } from '../../src/robot/buses/servo/servo-bus.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { FeetechServos } from './feetech-servos.ts';

const skip = needs('Linux');
const IDS = [1, 2, 3, 4, 5, 6];
const TORQUE = { address: 40, size: 1 } as const;
const GOAL = { address: 42, size: 2 } as const;
const POSITION = { address: 56, size: 2 } as const;
/** The servos share a busy machine with their bus. */
const OPTIONS: BusOptions = { slackMs: 250 };

async function withServos(
  work: (bus: ServoBus, servos: FeetechServos) => Promise<void>,
  protocol = FEETECH_STS,
): Promise<void> {
  const servos = await FeetechServos.start(IDS);
  try {
    const bus = await ServoBus.open(serialLine(servos.port, 1_000_000), protocol, monotonicClock, OPTIONS);
    try {
      await work(bus, servos);
    } finally {
      bus.close();
    }
  } finally {
    servos.close();
  }
}

const positionsOf = (ids: readonly number[]) => ids.map((id) => [id, id * 300] as const);

describe('Feetech servos on the servo bus', { skip }, () => {
  it('reply to pings, reads, writes, sync reads and sync writes', async () => {
    await withServos(async (bus, servos) => {
      for (const [id, position] of positionsOf(IDS))
        servos.tables.get(id)!.set([position & 0xff, position >> 8], 56);
      assert.deepEqual(await ping(bus, 3), { error: 0, data: new Uint8Array(0) });
      assert.equal(await read(bus, 3, POSITION), 900);
      assert.equal(await write(bus, 3, TORQUE, 1), 0);
      assert.equal(servos.tables.get(3)![40], 1);
      assert.deepEqual([...(await syncRead(bus, IDS, POSITION))], positionsOf(IDS));
      assert.ok(
        await syncWrite(
          bus,
          IDS,
          GOAL,
          IDS.map((id) => 2048 + id),
        ),
      );
      assert.equal(await read(bus, 6, GOAL), 2054);
      const { timeouts, unexpected, echoes, garbageBytes } = bus.stats;
      assert.deepEqual([timeouts, unexpected, echoes, garbageBytes], [0, 0, 0, 0]);
    });
  });

  it('that are absent are missing from the replies, and the bus continues', async () => {
    await withServos(async (bus) => {
      assert.equal(await ping(bus, 99), null);
      assert.deepEqual([...(await syncRead(bus, [1, 99, 2], POSITION)).keys()], [1, 2]);
      assert.equal(bus.stats.timeouts, 2);
      assert.notEqual(await ping(bus, 1), null);
    });
  });

  it('report errors in their replies', async () => {
    await withServos(async (bus, servos) => {
      servos.error = 0x20;
      assert.equal((await ping(bus, 2))?.error, 0x20);
      assert.equal(await write(bus, 2, TORQUE, 1), 0x20);
    });
  });
});

describe('an adapter that echoes, with Feetech servos', { skip }, () => {
  it('does not make an absent servo appear to reply', async () => {
    await withServos(async (bus, servos) => {
      servos.echo = true;
      assert.equal(await ping(bus, 99), null);
      assert.equal(await read(bus, 99, POSITION), null);
      assert.equal(bus.stats.echoes, 2);
    });
  });

  it('does not change read values', async () => {
    await withServos(async (bus, servos) => {
      servos.echo = true;
      servos.tables.get(2)!.set([0x34, 0x12], 56);
      assert.equal(await read(bus, 2, POSITION), 0x1234);
      assert.equal(await write(bus, 2, TORQUE, 1), 0);
      assert.equal((await syncRead(bus, IDS, POSITION)).get(2), 0x1234);
      // With this error the reply to a ping equals the ping: the first of the two is its echo.
      servos.error = 1;
      assert.equal((await ping(bus, 2))?.error, 1);
      assert.deepEqual([bus.stats.echoes, bus.stats.unexpected, bus.stats.timeouts], [4, 0, 0]);
    });
  });

  it('without an echo, a ping reply equal to the ping counts as missing', async () => {
    await withServos(async (bus, servos) => {
      servos.error = 1;
      assert.equal(await ping(bus, 2), null);
      assert.notEqual(await read(bus, 2, POSITION), null);
    });
  });
});

describe('servos without sync and bulk read', { skip }, () => {
  it('are read one by one, big-endian', async () => {
    await withServos(async (bus, servos) => {
      servos.tables.get(1)!.set([0x01, 0x02], 56);
      servos.tables.get(2)!.set([0x03, 0x04], 56);
      const found = await syncRead(bus, [1, 99, 2], POSITION);
      assert.deepEqual(
        [...found],
        [
          [1, 0x0102],
          [2, 0x0304],
        ],
      );
      await bulkRead(bus, [{ id: 2, ...POSITION }]);
      assert.deepEqual(servos.seen, ['2 1', '2 99', '2 2', '2 2']);
    }, FEETECH_SCS);
  });
});

describe('a servo bus whose adapter is unplugged', { skip }, () => {
  it('fails pending exchanges, reconnects, repeats nothing, and reports both', async () => {
    const link = path.join(temporaryFolder('servo-bus'), 'tty');
    let servos = await FeetechServos.start(IDS);
    const reports: string[] = [];
    try {
      symlinkSync(servos.port, link);
      const bus = await ServoBus.open(serialLine(link, 1_000_000), FEETECH_STS, monotonicClock, {
        slackMs: 60_000,
        onLost: (why) => reports.push(`lost: ${why.length > 0}`),
        onBack: () => reports.push('back'),
      });
      try {
        const waiting = Promise.all([ping(bus, 99), ping(bus, 1)]);
        unlinkSync(link);
        servos.close();
        assert.deepEqual(await waiting, [null, null]);
        assert.ok(!bus.isUp);
        assert.equal(await ping(bus, 1), null);
        servos = await FeetechServos.start(IDS);
        symlinkSync(servos.port, link);
        await until('reconnected', () => bus.isUp);
        assert.equal(bus.trouble, '');
        assert.notEqual(await ping(bus, 1), null);
        assert.deepEqual(servos.seen, ['1 1']);
        assert.deepEqual(reports, ['lost: true', 'back']);
        assert.equal(bus.stats.lost, 1);
      } finally {
        bus.close();
      }
    } finally {
      servos.close();
    }
  });
});
