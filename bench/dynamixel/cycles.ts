import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Percentiles, percentiles } from '../../src/core/statistics/percentiles.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { DYNAMIXEL_2 } from '../../src/robot/buses/dynamixel/dynamixel-2.ts';
import { serialLine } from '../../src/robot/buses/serial-line.ts';
import { ServoBus } from '../../src/robot/buses/servo/servo-bus.ts';
import { HandCycle } from '../../src/robot/drivers/orca/cycle.ts';
import { HANDS } from '../../src/robot/drivers/orca/hands.ts';
import { startSimProcess } from '../../test/contract/sim-process.ts';
import { interruption } from '../interrupt.ts';

export const HZ = 90;
const WARM_UP_S = 1;

export interface CycleRun {
  count: number;
  missed: number;
  overruns: number;
  /** From the start of one cycle to the start of the next. */
  periodMs: Percentiles;
  /** From the goals written to all positions parsed. */
  cycleMs: Percentiles;
}

export async function runCycles(seconds: number): Promise<CycleRun> {
  const folder = mkdtempSync(path.join(tmpdir(), 'farhand-dynamixel-'));
  const port = path.join(folder, 'tty');
  const sim = await startSimProcess(['orca', '--port', port, '--hand', 'v1-right']);
  try {
    return await measure(port, seconds);
  } finally {
    await sim.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(port: string, seconds: number): Promise<CycleRun> {
  const hand = HANDS[0]!;
  const bus = await ServoBus.open(serialLine(port, hand.baudRate), DYNAMIXEL_2, monotonicClock);
  const starts: number[] = [];
  const took: number[] = [];
  let missed = 0;
  let beganNs = 0;
  const ids = hand.joints.map(({ motorId }) => motorId);
  const cycle = new HandCycle(bus, ids, true, monotonicClock, {
    onFeedback: () => {
      took.push((monotonicClock.nowNs() - beganNs) / 1e6);
    },
    onOver: () => {
      missed += cycle.missed > 0 ? 1 : 0;
    },
  });
  bus.every(HZ, () => {
    beganNs = cycle.isBusy ? beganNs : monotonicClock.nowNs();
    if (cycle.begin(beganNs, 'goals')) starts.push(beganNs / 1e6);
  });
  await bus.pause(WARM_UP_S * 1000);
  starts.length = 0;
  took.length = 0;
  missed = 0;
  cycle.overruns = 0;
  for (let s = 0; s < seconds && !interruption.aborted; s++) await bus.pause(1000);
  bus.close();
  interruption.throwIfAborted();
  const periods = starts.slice(1).map((ms, i) => ms - starts[i]!);
  return {
    count: starts.length,
    missed,
    overruns: cycle.overruns,
    periodMs: percentiles(periods)!,
    cycleMs: percentiles(took)!,
  };
}
