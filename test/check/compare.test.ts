import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { compareTransports } from '../../src/app/compare-transports.ts';
import { traceLine } from '../../src/trace/stamps.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { records } from './records.ts';

const folder = temporaryFolder('compare-test');

/** Two transports with different wire times, on a machine whose latency drifts from slice to slice. */
async function compared(udpMs: number, zmqMs: number) {
  const order: string[] = [];
  const result = await compareTransports({
    rig: 'demo',
    overrides: [],
    transports: ['udp', 'zmq'],
    slices: 6,
    secondsPerSlice: 1,
    onProgress: () => {},
    run: async (overrides, seconds) => {
      const transport = overrides.find((text) => text.startsWith('link.transport='))!.split('=')[1]!;
      order.push(transport);
      assert.ok(overrides.includes('robot.playout=none'));
      const driftMs = Math.floor((order.length - 1) / 2) * 5;
      const wireMs = driftMs + (transport === 'udp' ? udpMs : zmqMs);
      const lines = records(seconds * 100, (i) => ({ wireMs: wireMs + (i % 7) / 100, playoutMs: 0 })).map(
        traceLine,
      );
      const tracePath = path.join(folder, `${udpMs}-${zmqMs}-${order.length}.jsonl`);
      writeFileSync(tracePath, lines.map((line) => `${line.trim()}\n`).join(''));
      return { tracePath };
    },
  });
  return { order, result };
}

describe('comparison of transports', () => {
  it('alternates, and shows a difference smaller than the machine’s drift', async () => {
    const { order, result } = await compared(1, 1.5);
    assert.deepEqual(order.slice(0, 6), ['udp', 'zmq', 'zmq', 'udp', 'udp', 'zmq']);
    const counts = [result.of.udp?.commands, result.of.zmq?.commands];
    assert.deepEqual(counts, [600, 600], 'the first second of each slice is left out');
    const { value, low, high } = result.differenceMs.zmq!.p50;
    assert.ok(low <= value && value <= high && high < 0, `${low} ${value} ${high}`);
    assert.ok(Math.abs(value + 0.5) < 0.1, `${value}`);
  });

  it('shows no difference between equal transports', async () => {
    const { low, high } = (await compared(1, 1)).result.differenceMs.zmq!.p50;
    assert.ok(low <= 0 && high >= 0);
  });
});
