import { type ConsoleHandle, type ConsoleOptions, startConsole } from '../console/server.ts';
import { hostPort } from '../core/ip-address.ts';
import type { DeviceReport, InputReport } from '../messages/console.ts';
import type { Rig } from '../rig/rig.ts';
import { nearbyRobots } from '../wire/discovery/nearby-robots.ts';
import { inputConfig } from './open-operator.ts';
import { loadPlugin, pluginNames } from './registry.ts';

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

/** The devices of this rig, and the further inputs it could have. */
async function deviceReport(rig: Rig): Promise<DeviceReport> {
  const inputs: InputReport[] = [];
  for (const name of pluginNames('input')) inputs.push(await inputReport(rig, name));
  const { driver } = rig.robot;
  const { robotHost, transport, security } = rig.link;
  return {
    inputs,
    robot: {
      model: rig.model,
      driver,
      about: (await loadPlugin('driver', driver)).about,
      host: robotHost,
      transport,
      security,
    },
    cameras: Object.entries(rig.cameras.list).map(([name, camera]) => {
      const { source, fpsHz, widthPx, heightPx } = camera;
      return { name, source, fpsHz, widthPx, heightPx };
    }),
  };
}

async function inputReport(rig: Rig, name: string): Promise<InputReport> {
  const plugin = await loadPlugin('input', name);
  const values = rig.operator.inputs[name];
  const { about } = plugin;
  if (values === undefined)
    return {
      name,
      about,
      offered: false,
      listens: [],
      missing: `start with operator.inputs.${name}={}, or add it to the rig`,
    };
  const config = inputConfig(rig, name, plugin, values);
  const relays = plugin.relays?.(config) ?? [];
  const sockets = relays.length > 0 ? [] : (plugin.sockets?.(config) ?? []);
  const listens = [
    ...sockets.map(({ host, port }) => `udp ${hostPort(host, port)}`),
    ...relays.map(({ host, port }) => `zmq ${hostPort(host, port)}`),
  ];
  return { name, about, offered: true, listens, missing: '' };
}
