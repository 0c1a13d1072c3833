import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { describe, it } from 'node:test';
import { packageRoot } from '../../src/files/package-root.ts';
import { FEETECH_SCS, FEETECH_STS } from '../../src/robot/buses/feetech/feetech-scs.ts';
import {
  packet,
  pingPacket,
  readPacket,
  syncReadPacket,
  syncWritePacket,
  writePacket,
} from '../../src/robot/buses/servo/packets.ts';
import { type Python, pythonWith } from '../interop/python-venv.ts';
import { needs } from '../needs.ts';
import { FeetechServos } from '../robot/feetech-servos.ts';

const REQUIREMENT = 'feetech-servo-sdk==1.0.0';
const SCRIPT = path.join(packageRoot, 'test', 'e2e', 'feetech_sdk_peer.py');
const TIMEOUT_MS = 60_000;
const noTerminal = needs('Linux');
const venv: Python = noTerminal
  ? { ok: false, why: noTerminal }
  : await pythonWith('scservo_sdk', REQUIREMENT);
const skip = venv.ok ? false : venv.why;
const python = venv.ok ? venv.python : '';
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const IDS = [1, 2, 3, 4, 5, 6];

/** The SDK's reply to one request. */
function ask<T>(request: Record<string, unknown>): Promise<T> {
  return new Promise((resolve, reject) => {
    const child = spawn(python, [SCRIPT], { stdio: ['pipe', 'pipe', 'inherit'], timeout: TIMEOUT_MS });
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

describe(`Feetech ${REQUIREMENT}`, { skip }, () => {
  it('builds the same instruction packets, in both byte orders', async () => {
    const values = IDS.map((id) => id * 601);
    const big = { little: false };
    const pairs: [Record<string, unknown>, Uint8Array][] = [
      [{ kind: 'ping', id: 5 }, pingPacket(FEETECH_STS, 5)],
      [{ kind: 'read', id: 7, address: 56, size: 8 }, readPacket(FEETECH_STS, 7, 56, 8)],
      [{ kind: 'write', id: 9, address: 42, value: 0x1234 }, writePacket(FEETECH_STS, 9, 42, [0x34, 0x12])],
      [
        { kind: 'syncRead', address: 56, size: 8, ids: IDS },
        syncReadPacket(FEETECH_STS, FEETECH_STS.syncRead!, 56, 8, IDS),
      ],
      [
        { kind: 'syncWrite', address: 42, ids: IDS, values },
        syncWritePacket(FEETECH_STS, 42, 2, IDS, values),
      ],
      [
        { ...big, kind: 'write', id: 9, address: 42, value: 0x1234 },
        writePacket(FEETECH_SCS, 9, 42, [0x12, 0x34]),
      ],
      [
        { ...big, kind: 'syncWrite', address: 42, ids: IDS, values },
        syncWritePacket(FEETECH_SCS, 42, 2, IDS, values),
      ],
    ];
    const { build } = await ask<{ build: string[] }>({ build: pairs.map(([item]) => item) });
    assert.deepEqual(
      build,
      pairs.map(([, bytes]) => hex(bytes)),
    );
  });

  it('reads our status packets, and rejects a broken one', async () => {
    const broken = packet(FEETECH_STS, 3, 0, [1, 2]);
    broken[5]! ^= 1;
    const { status } = await ask<{ status: { ok: boolean; hex: string }[] }>({
      status: [packet(FEETECH_STS, 3, 0x20, [1, 0xff, 0xff, 4]), packet(FEETECH_STS, 3, 0), broken].map(hex),
    });
    assert.deepEqual(
      status.map(({ ok }) => ok),
      [true, true, false],
    );
    assert.equal(status[0]!.hex, hex(packet(FEETECH_STS, 3, 0x20, [1, 0xff, 0xff, 4])));
  });

  it('pings, writes and sync-reads the servos that our bus is tested with', async () => {
    interface Device {
      ping: [number, number, number][];
      absent: number;
      syncWrite: number;
      write: [number, number];
      syncRead: number;
      goals: number[];
    }
    const servos = await FeetechServos.start(IDS);
    try {
      for (const table of servos.tables.values()) table.set([0x09, 0x03], 3);
      const { device } = await ask<{ device: Device }>({ device: servos.port, ids: IDS });
      assert.deepEqual(
        device.ping,
        IDS.map(() => [777, 0, 0]),
      );
      assert.notEqual(device.absent, 0, 'a servo that is absent does not reply');
      assert.deepEqual([device.syncWrite, device.write, device.syncRead], [0, [0, 0], 0]);
      assert.deepEqual(
        device.goals,
        IDS.map((id) => id * 300),
      );
    } finally {
      servos.close();
    }
  });
});
