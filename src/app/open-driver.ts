import { Worker } from 'node:worker_threads';
import type { Counters } from '../core/counters.ts';
import { deferred } from '../core/deferred.ts';
import { type ErrorCode, TeleopError } from '../core/errors.ts';
import type { Clock } from '../core/time/clock.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import type { Driver } from '../robot/driver.ts';
import { createDriverMemory } from '../robot/driver-thread/driver-boards.ts';
import { ThreadedDriver } from '../robot/driver-thread/threaded-driver.ts';
import type { DriverMessage, DriverStart } from './driver-worker.ts';
import { loadPlugin, pluginConfig } from './registry.ts';

export interface OpenDriver {
  driver: Driver;
  /** Leaves the robot at rest; resolves when the last bytes are out. */
  close(): Promise<void>;
}

const CLOSE_MS = 1000;

/** Opens a driver: one that does no input or output on this thread, any other on a thread of its own. */
export async function openDriver(
  name: string,
  options: Record<string, unknown>,
  model: RobotModel,
  clock: Clock,
  counters?: Counters,
): Promise<OpenDriver> {
  const plugin = await loadPlugin('driver', name);
  const config = pluginConfig('driver', name, plugin, options);
  if (plugin.inline?.(config) !== true)
    return openThreaded({ name, options, model, ...(counters ? { counters: counters.buffer } : {}) });
  const driver = await plugin.open(config, model, clock);
  return {
    driver,
    close: async () => {
      driver.stop(clock.nowNs());
      driver.dispose();
    },
  };
}

export async function openThreaded(start: Omit<DriverStart, 'memory'>): Promise<OpenDriver> {
  const joints = start.model.joints.length;
  const memory = createDriverMemory(joints);
  const driver = new ThreadedDriver(memory, joints);
  const workerData: DriverStart = { ...start, memory };
  const worker = new Worker(new URL('./driver-worker.js', import.meta.url), { workerData });
  const opened = deferred<void>();
  const closed = deferred<void>();
  worker.on('message', (message: DriverMessage) => {
    if (message.kind === 'open') opened.resolve();
    else if (message.kind === 'failed') opened.reject(revive(message));
    else closed.resolve();
  });
  worker.on('error', (error) => opened.reject(error));
  worker.on('exit', () => closed.resolve());
  await opened.promise;
  return {
    driver,
    async close() {
      driver.dispose();
      const late = setTimeout(() => closed.resolve(), CLOSE_MS);
      await closed.promise;
      clearTimeout(late);
      await worker.terminate();
    },
  };
}

const revive = (message: { code: string; message: string; hint: string }): TeleopError =>
  new TeleopError(message.code as ErrorCode, message.message, { hint: message.hint });
