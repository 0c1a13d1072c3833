import { parentPort, workerData } from 'node:worker_threads';
import { Counters } from '../core/counters.ts';
import { monotonicClock } from '../core/time/clock.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import { requestShortSlice } from '../native/short-slice.ts';
import type { CarriedGripper } from '../robot/carried-gripper.ts';
import type { Driver } from '../robot/driver.ts';
import type { DriverMemory } from '../robot/driver-thread/driver-boards.ts';
import { DriverLoop } from '../robot/driver-thread/driver-loop.ts';
import { GripperDriver } from '../robot/gripper-driver.ts';
import { type FreeMotionConfig, withFreeMotion } from '../robot/touch/free-motion-file.ts';
import { loadPlugin, pluginConfig } from './registry.ts';
import { type FailedMessage, failedMessage } from './worker-host.ts';

/** Start data of a driver's thread. */
export interface DriverStart {
  name: string;
  options: Record<string, unknown>;
  model: RobotModel;
  memory: DriverMemory;
  /** Silence of the control loop after which this thread stops the robot; default 150. */
  controlSilenceMs?: number;
  freeMotion?: FreeMotionConfig;
  gripper?: CarriedGripper | null;
  /** The robot's counters. */
  counters?: SharedArrayBuffer;
}

export type DriverMessage = { kind: 'ready' } | { kind: 'closed' } | FailedMessage;

/** The part of `Atomics` that Node has and our TypeScript lib does not declare yet. */
interface AsyncWaiting {
  waitAsync(
    words: Int32Array,
    index: number,
    value: number,
  ): { async: false } | { async: true; value: Promise<unknown> };
}

const WATCH_MS = 25;
/** Lets bytes written in `stop` leave before the thread ends. */
const GOODBYE_MS = 50;
const start = workerData as DriverStart;
const post = (message: DriverMessage) => parentPort?.postMessage(message);

async function main(): Promise<void> {
  await requestShortSlice();
  const { name, options, model, memory } = start;
  const plugin = await loadPlugin('driver', name);
  const opened = await plugin.open(pluginConfig('driver', name, plugin, options), model, monotonicClock);
  const arm = withFreeMotion(opened, model, start.freeMotion);
  const driver = await withGripper(arm, start.gripper ?? null);
  const counters = start.counters === undefined ? null : new Counters(start.counters);
  const loop = new DriverLoop(
    driver,
    memory,
    model.joints.length,
    monotonicClock,
    counters,
    start.controlSilenceMs,
  );
  const wake = new Int32Array(memory.wake);
  const watch = setInterval(() => loop.watch(), WATCH_MS);
  loop.onWake();
  post({ kind: 'ready' });
  while (Atomics.load(wake, 1) === 0) {
    const seen = Atomics.load(wake, 0);
    loop.onWake();
    const waiting = (Atomics as unknown as AsyncWaiting).waitAsync(wake, 0, seen);
    if (waiting.async) await waiting.value;
    // Even when passes come in quick succession, the driver's own I/O gets its turn.
    else await new Promise((resolve) => setImmediate(resolve));
  }
  clearInterval(watch);
  loop.end();
  await new Promise((resolve) => setTimeout(resolve, GOODBYE_MS));
  post({ kind: 'closed' });
  process.exit(0);
}

/** Opens the gripper, if there is one, and joins it to the arm. If it cannot be opened, the arm is released. */
async function withGripper(arm: Driver, carried: CarriedGripper | null): Promise<Driver> {
  if (carried === null) return arm;
  const { name, options, armHost } = carried;
  try {
    const plugin = await loadPlugin('gripper', name);
    const config = pluginConfig('gripper', name, plugin, options);
    return new GripperDriver(arm, await plugin.open(config, { host: armHost }, monotonicClock));
  } catch (error) {
    arm.dispose();
    throw error;
  }
}

main().catch((error: unknown) => {
  post(failedMessage(error));
});
