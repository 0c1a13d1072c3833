import type { Counters } from '../core/counters.ts';
import type { Clock } from '../core/time/clock.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import type { CarriedGripper } from '../robot/carried-gripper.ts';
import type { Driver } from '../robot/driver.ts';
import { createDriverMemory } from '../robot/driver-thread/driver-boards.ts';
import { ThreadedDriver } from '../robot/driver-thread/threaded-driver.ts';
import type { FreeMotionConfig } from '../robot/touch/free-motion-file.ts';
import type { DriverMessage, DriverStart } from './driver-worker.ts';
import { loadPlugin, pluginConfig } from './registry.ts';
import { WorkerHost } from './worker-host.ts';

export interface OpenDriver {
  driver: Driver;
  /** Leaves the robot at rest; resolves when the last bytes are written. */
  close(): Promise<void>;
}

const CLOSE_MS = 1000;

/** Opens a driver: in this thread if it does no I/O, otherwise in its own thread. */
export async function openDriver(
  name: string,
  options: Record<string, unknown>,
  model: RobotModel,
  clock: Clock,
  robot: {
    counters?: Counters;
    controlSilenceMs?: number;
    feedbackTimeoutMs?: number;
    freeMotion?: FreeMotionConfig;
    gripper?: CarriedGripper | null;
  } = {},
): Promise<OpenDriver> {
  const plugin = await loadPlugin('driver', name);
  const config = pluginConfig('driver', name, plugin, options);
  const gripper = robot.gripper ?? null;
  if (gripper !== null || plugin.inline?.(config) !== true)
    return openThreaded(
      {
        name,
        options,
        model,
        gripper,
        ...(robot.controlSilenceMs === undefined ? {} : { controlSilenceMs: robot.controlSilenceMs }),
        ...(robot.counters ? { counters: robot.counters.buffer } : {}),
        ...(robot.freeMotion ? { freeMotion: robot.freeMotion } : {}),
      },
      robot.feedbackTimeoutMs,
    );
  const driver = await plugin.open(config, model, clock);
  return {
    driver,
    close: async () => {
      driver.stop(clock.nowNs());
      driver.dispose();
    },
  };
}

export async function openThreaded(
  start: Omit<DriverStart, 'memory'>,
  feedbackTimeoutMs = 0,
): Promise<OpenDriver> {
  const joints = start.model.joints.length;
  const memory = createDriverMemory(joints);
  const driver = new ThreadedDriver(memory, joints, feedbackTimeoutMs);
  const host = new WorkerHost<DriverMessage>(new URL('./driver-worker.js', import.meta.url), {
    name: 'the driver thread',
    isOnPath: true,
    start: { ...start, memory } satisfies DriverStart,
  });
  await host.ready;
  return {
    driver,
    async close() {
      driver.dispose();
      await host.close('close', CLOSE_MS);
    },
  };
}
