import { workerData } from 'node:worker_threads';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { AWAKE, DUE, flagsOf, PERIOD_NS, type PiperBenchData, STAMPS, stampsOf, TICK } from './shared.ts';

// The control thread of the app, reduced to its tick: it waits natively and wakes the driver's thread.
const data = workerData as PiperBenchData;
const flags = flagsOf(data);
const stamps = stampsOf(data);
const nothing = new Int32Array(new SharedArrayBuffer(4));
let dueNs = monotonicClock.nowNs() + 100e6;
for (let cycle = 0; cycle < data.cycles; cycle++, dueNs += PERIOD_NS) {
  const waitNs = dueNs - monotonicClock.nowNs();
  if (waitNs > 0) Atomics.wait(nothing, 0, 0, waitNs / 1e6);
  stamps[cycle * STAMPS + DUE] = dueNs;
  stamps[cycle * STAMPS + AWAKE] = monotonicClock.nowNs();
  Atomics.add(flags, TICK, 1);
  Atomics.notify(flags, TICK);
}
