import { parentPort, workerData } from 'node:worker_threads';
import { piperModel } from '../../sim/piper/model.ts';
import { loadPlugin, pluginConfig } from '../../src/app/registry.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { emptyReading } from '../../src/robot/driver.ts';
import {
  CALLED,
  END,
  flagsOf,
  HANDED,
  NUMBERS,
  type PiperBenchData,
  STAMPS,
  stampsOf,
  TICK,
} from './shared.ts';

/** ES2024, long supported by V8. */
type WaitAsync = (
  cells: Int32Array,
  index: number,
  value: number,
  timeoutMs?: number,
) => { async: false } | { async: true; value: Promise<string> };
const { waitAsync } = Atomics as unknown as { waitAsync: WaitAsync };

// Hosts a driver like the app: bus and driver on this thread's event loop, called when the control thread ticks.
const data = workerData as PiperBenchData;
const flags = flagsOf(data);
const stamps = stampsOf(data);
const model = piperModel('new');
const plugin = await loadPlugin('driver', 'piper');
const config = pluginConfig('driver', 'piper', plugin, {
  bus: `slcan:${data.link}`,
  feedbackTimeoutMs: 1000,
});
const driver = await plugin.open(config, model, monotonicClock);
const reading = emptyReading(6);
const target = Float64Array.of(0, 1, -1, 0, 0.3, 0);
const wrong: string[] = [];

let status = driver.enable(monotonicClock.nowNs());
while (status === 'stale') {
  await new Promise((resolve) => setTimeout(resolve, 5));
  driver.read(monotonicClock.nowNs(), reading);
  status = driver.enable(monotonicClock.nowNs());
}
parentPort!.postMessage({ enabled: status === 'ok', fault: driver.fault });

let seen = 0;
let oldestFeedbackNs = 0;
while (Atomics.load(flags, END) === 0 && seen < data.cycles) {
  const wait = waitAsync(flags, TICK, seen, 100);
  if (wait.async) await wait.value;
  const ticks = Atomics.load(flags, TICK);
  if (ticks === seen) continue;
  seen = ticks;
  const cycle = ticks - 1;
  const nowNs = monotonicClock.nowNs();
  stamps[cycle * STAMPS + CALLED] = nowNs;
  target[5] = ((cycle % NUMBERS) / 1000) * (Math.PI / 180);
  const answers = [driver.read(nowNs, reading), driver.write(nowNs, target, 0.5)];
  stamps[cycle * STAMPS + HANDED] = monotonicClock.nowNs();
  if (answers.some((answer) => answer !== 'ok') && wrong.length < 5)
    wrong.push(`${answers.join()} ${driver.fault}`);
  if (cycle >= data.warmUpCycles) oldestFeedbackNs = Math.max(oldestFeedbackNs, nowNs - reading.robotNs);
}
const { bus } = driver as unknown as {
  bus: { load(): number; stats: { received: number; dropped: number; errors: number } };
};
const { received, dropped, errors } = bus.stats;
parentPort!.postMessage({ wrong, received, dropped, errors, load: bus.load(), oldestFeedbackNs });
driver.dispose();
