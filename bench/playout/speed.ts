import { PerformanceObserver } from 'node:perf_hooks';
import { type Percentiles, percentiles } from '../../src/core/statistics/percentiles.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { CommandQueue } from '../../src/robot/playout/queue.ts';
import { replay } from '../../src/robot/playout/replay/replay.ts';
import type { DelayTrace } from '../../src/robot/playout/replay/trace.ts';
import { copyCommand, emptyCommand } from '../../src/wire/codecs/command.ts';
import type { Variant } from './variants.ts';

export interface Speed {
  name: string;
  /** Policy, queue and bookkeeping, median of the turns. */
  replayPerS: number;
  /** One call of `schedule` as on the live robot, including the cost of reading the clock. */
  callUs: Percentiles;
  /** All playout work for a packet on the live robot: schedule, enqueue, release due commands. */
  packetUs: Percentiles;
  /** Garbage collections per million calls. */
  collections: number;
}

const TURNS = 7;
const ROUNDS = 3;
const JOINTS = 6;

/** Policies take turns, so that drift of the machine affects all. */
export async function measureSpeed(variants: readonly Variant[], trace: DelayTrace): Promise<Speed[]> {
  const rates = variants.map((): number[] => []);
  for (let turn = 0; turn <= TURNS; turn++)
    variants.forEach(({ make }, i) => {
      const startNs = monotonicClock.nowNs();
      for (let round = 0; round < ROUNDS; round++) replay(trace, make());
      const perS = (ROUNDS * trace.count * 1e9) / (monotonicClock.nowNs() - startNs);
      // The first turn warms up.
      if (turn > 0) rates[i]!.push(perS);
    });
  const speeds: Speed[] = [];
  for (const [i, variant] of variants.entries()) {
    const { callUs, collections } = await measureCalls(variant, trace);
    const packetUs = measurePackets(variant, trace);
    const sorted = rates[i]!.sort((a, b) => a - b);
    speeds.push({
      name: variant.name,
      replayPerS: sorted[sorted.length >> 1]!,
      callUs,
      packetUs,
      collections,
    });
  }
  return speeds;
}

async function measureCalls({ make }: Variant, trace: DelayTrace) {
  const policy = make();
  const took = new Float64Array(trace.count);
  let collected = 0;
  const observer = new PerformanceObserver((list) => {
    collected += list.getEntries().length;
  });
  observer.observe({ entryTypes: ['gc'] });
  for (let i = 0; i < trace.count; i++) {
    const sampledRobotNs = trace.sendUs[i]! * 1000;
    const receivedNs = sampledRobotNs + trace.delayUs[i]! * 1000;
    if (Number.isNaN(receivedNs)) continue;
    const startNs = performance.now();
    policy.schedule(sampledRobotNs, receivedNs);
    took[i] = (performance.now() - startNs) * 1000;
  }
  // The observer is notified between turns of the event loop.
  await new Promise((resolve) => setImmediate(resolve));
  observer.disconnect();
  return { callUs: percentiles(took)!, collections: (collected * 1e6) / trace.count };
}

function measurePackets({ make }: Variant, trace: DelayTrace): Percentiles {
  const policy = make();
  const queue = new CommandQueue(1024, () => emptyCommand(JOINTS));
  const command = emptyCommand(JOINTS);
  const took = new Float64Array(trace.count).fill(Number.NaN);
  for (let i = 0; i < trace.count; i++) {
    command.seq = i + 1;
    command.sampledRobotNs = trace.sendUs[i]! * 1000;
    const receivedNs = command.sampledRobotNs + trace.delayUs[i]! * 1000;
    if (Number.isNaN(receivedNs)) continue;
    const startNs = performance.now();
    const entry = queue.slot();
    if (entry !== null && queue.rejection(command.seq) === null) {
      copyCommand(command, entry.command);
      entry.dueNs = policy.schedule(command.sampledRobotNs, receivedNs);
      queue.insert();
    }
    while (queue.nextDueNs <= receivedNs) queue.shift();
    took[i] = (performance.now() - startNs) * 1000;
  }
  return percentiles(took)!;
}
