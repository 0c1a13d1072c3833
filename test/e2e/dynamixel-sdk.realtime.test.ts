import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { describe, it } from 'node:test';
import { packageRoot } from '../../src/files/package-root.ts';
import {
  DYNAMIXEL_2,
  fastStatusPacket,
  INSTRUCTION,
  rebootPacket,
  statusPacket,
} from '../../src/robot/buses/dynamixel/dynamixel-2.ts';
import { PacketParser } from '../../src/robot/buses/servo/packet-parser.ts';
import {
  bulkReadPacket,
  packet,
  pingPacket,
  readPacket,
  syncReadPacket,
  syncWritePacket,
  writePacket,
} from '../../src/robot/buses/servo/packets.ts';
import { type Python, pythonWith } from '../interop/python-venv.ts';
import { needs } from '../needs.ts';
import { OrcaBench, OrcaCycles } from '../robot/orca-bench.ts';

const REQUIREMENT = 'dynamixel-sdk==4.1.0';
const SCRIPT = path.join(packageRoot, 'test', 'e2e', 'dynamixel_sdk_peer.py');
const noTerminal = needs('Linux');
const venv: Python = noTerminal
  ? { ok: false, why: noTerminal }
  : await pythonWith('dynamixel_sdk', REQUIREMENT);
const skip = venv.ok ? false : venv.why;
const python = venv.ok ? venv.python : '';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const ids = Array.from({ length: 17 }, (_, i) => i + 1);
const NASTY = [0xff, 0xff, 0xfd, 0xff, 0xff, 0xfd, 0xfd, 0, 0xff, 0xff];

/** The SDK's reply to one request. */
function ask<T>(request: Record<string, unknown>): Promise<T> {
  return new Promise((resolve, reject) => {
    const child = spawn(python, [SCRIPT], { stdio: ['pipe', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.on('data', (part) => {
      text += String(part);
    });
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(JSON.parse(text) as T);
      else reject(new Error(`the SDK process exited with ${code}`));
    });
    child.stdin.end(JSON.stringify(request));
  });
}

const headersIn = (bytes: Buffer): number => bytes.toString('hex').split('fffffd00').length;

describe(`ROBOTIS ${REQUIREMENT}`, { skip }, () => {
  it('builds the same instruction packets', async () => {
    const positions = ids.map((id) => id * 4001 - 30_000);
    const pairs: [Record<string, unknown>, Uint8Array][] = [
      [{ kind: 'ping', id: 5 }, pingPacket(DYNAMIXEL_2, 5)],
      [{ kind: 'reboot', id: 5 }, rebootPacket(5)],
      [{ kind: 'read', id: 7, address: 132, size: 4 }, readPacket(DYNAMIXEL_2, 7, 132, 4)],
      [
        { kind: 'write', id: 9, address: 116, data: [1, 2, 3, 4] },
        writePacket(DYNAMIXEL_2, 9, 116, Uint8Array.of(1, 2, 3, 4)),
      ],
      [
        { kind: 'syncRead', address: 126, size: 10, ids },
        syncReadPacket(DYNAMIXEL_2, INSTRUCTION.syncRead, 126, 10, ids),
      ],
      [
        { kind: 'fastSyncRead', address: 126, size: 10, ids },
        syncReadPacket(DYNAMIXEL_2, INSTRUCTION.fastSyncRead, 126, 10, ids),
      ],
      [
        { kind: 'syncWrite', address: 116, size: 4, ids, values: positions },
        syncWritePacket(DYNAMIXEL_2, 116, 4, ids, positions),
      ],
      [
        {
          kind: 'bulkRead',
          items: [
            [1, 144, 2],
            [2, 146, 1],
          ],
        },
        bulkReadPacket(DYNAMIXEL_2, INSTRUCTION.bulkRead, [
          { id: 1, address: 144, size: 2 },
          { id: 2, address: 146, size: 1 },
        ]),
      ],
    ];
    const { build } = await ask<{ build: string[] }>({ build: pairs.map(([item]) => item) });
    assert.deepEqual(
      build,
      pairs.map(([, bytes]) => hex(bytes)),
    );
  });

  it('reads our status packets, including stuffed and fast ones', async () => {
    const answers = [3, 7, 4].map((id) => ({ id, error: 0, data: Uint8Array.from(NASTY) }));
    const { status, fast } = await ask<Record<'status' | 'fast', { ok: boolean; hex: string }[]>>({
      status: [
        hex(statusPacket(3, 0, [1, 2, 3])),
        hex(statusPacket(3, 0x80)),
        hex(statusPacket(3, 0, NASTY)),
      ],
      fast: [hex(fastStatusPacket(answers))],
    });
    assert.deepEqual(
      [...status, ...fast].map(({ ok }) => ok),
      [true, true, true, true],
    );
    // After the error byte, without its CRC and stuffing.
    assert.equal(status[2]!.hex.slice(18, 18 + 2 * NASTY.length), hex(Uint8Array.from(NASTY)));
    assert.equal(fast[0]!.hex, hex(fastStatusPacket(answers)));
  });

  it('accepts the packets of a running driver, and stuffed ones', async () => {
    const bench = await OrcaBench.start();
    const sent: string[] = [];
    let left = Buffer.alloc(0);
    bench.simulation.onBytes = (bytes) => {
      left = Buffer.concat([left, bytes]);
    };
    const cycles = new OrcaCycles(await bench.open());
    assert.equal(await cycles.enable(), 'ok');
    const here = await cycles.run(50);
    const goal = here.map((rad) => rad * 0.9);
    // A busy machine needs longer for as many packets.
    for (let turn = 0; turn < 20 && headersIn(left) <= 100; turn++) await cycles.run(500, goal);
    cycles.driver.dispose();
    bench.close();
    // Cut at the next header: in stuffed packets it can occur nowhere else.
    sent.push(...left.toString('hex').split(/(?=fffffd00)/));
    assert.ok(sent.length > 100, `${sent.length} packets`);
    const stuffed = packet(DYNAMIXEL_2, 1, 0x83, [116, 0, 4, 0, 9, ...NASTY.slice(0, 4)]);
    const { instructions } = await ask<{ instructions: { ok: boolean; hex: string }[] }>({
      instructions: [...sent, hex(stuffed)],
    });
    assert.equal(instructions.filter(({ ok }) => !ok).length, 0);
    const ours: string[] = [];
    const parser = new PacketParser(DYNAMIXEL_2, ({ instruction, params, paramBytes }) => {
      ours.push(hex(Uint8Array.of(instruction, ...params.subarray(0, paramBytes))));
    });
    for (const text of [...sent, hex(stuffed)]) parser.push(Buffer.from(text, 'hex'));
    assert.deepEqual(
      instructions.map((each) => each.hex),
      ours,
    );
  });

  it('pings, reads, writes, sync-writes, bulk-reads and restarts the simulated motors', async () => {
    interface Device {
      ping: Record<string, [number, number, number]>;
      pingAll: [Record<string, [number, number]>, number];
      absent: number;
      torque: [number, number][];
      eepromWhileOn: [number, number];
      outOfRange: [number, number];
      syncWrite: number;
      syncRead: number;
      fastSyncRead: number;
      bulkRead: number;
      before: Record<string, number>;
      after: Record<string, number>;
      afterFast: Record<string, number>;
      voltage: number;
      temperature: number;
      reboot: [number, number];
      torqueAfterReboot: [number, number, number];
    }
    const bench = await OrcaBench.start();
    const { device } = await ask<{ device: Device }>({ device: bench.port, baud: 3_000_000 });
    bench.close();
    const models = ids.map((id) => (id === 17 ? 1080 : 1220));
    assert.deepEqual(
      ids.map((id) => device.ping[id]),
      models.map((model) => [model, 0, 0]),
    );
    assert.equal(device.pingAll[1], 0);
    assert.deepEqual(
      ids.map((id) => device.pingAll[0][id]),
      models.map((model) => [model, 46]),
    );
    assert.notEqual(device.absent, 0, 'an absent motor does not reply');
    assert.ok(device.torque.every(([result, error]) => result === 0 && error === 0));
    assert.deepEqual(
      [device.eepromWhileOn, device.outOfRange],
      [
        [0, 7],
        [0, 4],
      ],
    );
    assert.deepEqual([device.syncWrite, device.syncRead, device.fastSyncRead, device.bulkRead], [0, 0, 0, 0]);
    const within = (id: number) => Math.abs(device.after[id]! - device.before[id]! - 20) <= 20;
    assert.ok(ids.every(within));
    const arrived = ids.filter((id) => Math.abs(device.after[id]! - device.before[id]! - 20) <= 1);
    assert.ok(arrived.length >= 15, 'all except those at a stop reach their goals');
    assert.deepEqual(device.afterFast, device.after);
    assert.deepEqual([device.voltage, device.temperature], [120, 32]);
    assert.deepEqual(
      [device.reboot, device.torqueAfterReboot],
      [
        [0, 0],
        [0, 0, 0],
      ],
    );
  });
});
