import { type ConsoleHandle, type ConsoleOptions, startConsole } from '../console/server.ts';
import type { Rig } from '../rig/rig.ts';
import { deviceReport } from './device-report.ts';
import { nearbyRobots } from './nearby-robots.ts';

const LISTEN_MS = 1500;

/** The console of a rig; its device list comes from the plug-ins. */
export const openConsole = (
  rig: Rig,
  options: Omit<ConsoleOptions, 'devices' | 'robots'> = {},
): Promise<ConsoleHandle> =>
  startConsole(rig, {
    ...options,
    devices: () => deviceReport(rig),
    robots: () => nearbyRobots(LISTEN_MS),
  });
