import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { compareTransports } from '../../src/app/compare-transports.ts';
import { traceLine } from '../../src/trace/stamps.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { records } from './records.ts';

const folder = temporaryFolder('compare-test');

/** Two transports with a wire of their own, on a machine whose mood changes from window to window. */
async function compared(udpMs: number, zmqMs: number) {
  const order: string[] = [];
  const result = await compareTransports({
    rig: 'demo',
    overrides: [],
    slices: 6,
    secondsPerSlice: 1,
    onProgress: () => {},
    run: async (overrides, seconds) => {
      const transport = overrides.find((text) => text.startsWith('link.transport='))!.split('=')[1]!;
      order.push(transport);
      assert.ok(overrides.includes('robot.playout=none'));
      const moodMs = Math.floor((order.length - 1) / 2) * 5;
      const wireMs = moodMs + (transport === 'udp' ? udpMs : zmqMs);
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
  it('takes turns, and shows a difference that is smaller than the machine’s moods', async () => {
    const { order, result } = await compared(1, 1.5);
    assert.deepEqual(order.slice(0, 6), ['udp', 'zmq', 'zmq', 'udp', 'udp', 'zmq']);
    assert.deepEqual(result.commands, { udp: 600, zmq: 600 }, 'the first second of each window is left out');
    const { value, low, high } = result.differenceMs.p50;
    assert.ok(low <= value && value <= high && high < 0, `${low} ${value} ${high}`);
    assert.ok(Math.abs(value + 0.5) < 0.1, `${value}`);
  });

  it('shows none where there is none', async () => {
    const { low, high } = (await compared(1, 1)).result.differenceMs.p50;
    assert.ok(low <= 0 && high >= 0);
  });
});
