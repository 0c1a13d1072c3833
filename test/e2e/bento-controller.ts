import { setTimeout as sleep } from 'node:timers/promises';
import { loadPlugin, pluginConfig } from '../../src/app/registry.ts';
import { loadModel } from '../../src/app/robot-models.ts';
import { monotonicClock } from '../../src/core/clock.ts';
import { emptyReading } from '../../src/robot/driver.ts';

/** A controller of its own process: one line of JSON per pose reached, in the order asked. */
export interface ControllerTask {
  options: Record<string, unknown>;
  poses: number[][];
  withinRad: number;
  givenUpAfterMs: number;
}
export interface ControllerLine {
  reached: boolean;
  tookMs: number;
  positionsRad: number[];
  fault: string;
}

const CYCLE_MS = 5;
const task = JSON.parse(process.argv[2]!) as ControllerTask;
const plugin = await loadPlugin('driver', 'bento');
const model = loadModel('bento');
const driver = await plugin.open(
  pluginConfig('driver', 'bento', plugin, task.options),
  model,
  monotonicClock,
);
const reading = emptyReading(5);
while (driver.enable(monotonicClock.nowNs()) !== 'ok') await sleep(CYCLE_MS);
process.on('disconnect', () => process.exit(1));

for (const pose of task.poses) {
  const target = Float64Array.from(pose);
  const startNs = monotonicClock.nowNs();
  let [tookMs, reached] = [0, false];
  while (!reached && tookMs < task.givenUpAfterMs) {
    await sleep(CYCLE_MS);
    const nowNs = monotonicClock.nowNs();
    tookMs = (nowNs - startNs) / 1e6;
    driver.read(nowNs, reading);
    if (driver.fault !== '') driver.enable(nowNs);
    driver.write(nowNs, target, 0);
    reached = target.every((rad, i) => Math.abs(rad - reading.positionsRad[i]!) < task.withinRad);
  }
  const line: ControllerLine = {
    reached,
    tookMs,
    positionsRad: [...reading.positionsRad],
    fault: driver.fault,
  };
  console.log(JSON.stringify(line));
}
driver.stop(monotonicClock.nowNs());
driver.dispose();
process.disconnect?.();
