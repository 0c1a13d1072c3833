import { TeleopError } from '../core/errors.ts';
import { hostPort } from '../core/ip-address.ts';
import { nearHost } from '../core/loopback.ts';
import type { Clock } from '../core/time/clock.ts';
import { type Role, stopFlag } from '../messages/role-flags.ts';
import type { Reactor, SocketSpec } from '../wire/reactor.ts';
import { curveKeys } from '../wire/secure/curve-keys.ts';
import { openCarrierReactor } from '../wire/transports/carriers.ts';
import { openDataChannels } from '../wire/transports/datachannel.ts';
import { resolveHost, resolveSpec } from '../wire/transports/resolve-host.ts';
import { openDgramReactor } from '../wire/transports/udp-dgram.ts';
import { openNativeReactor } from '../wire/transports/udp-native.ts';
import { openWebSockets } from '../wire/transports/websocket.ts';
import { openZmqReactor } from '../wire/transports/zmq.ts';
import { inputSockets } from './open-operator.ts';
import { type ArmStart, armsOf, type ControlStart } from './role-memory.ts';

export interface OpenedReactor {
  reactor: Reactor;
  sockets: number;
  /** Where the inputs listen: "rctp right on UDP 0.0.0.0:8888". */
  inputs: string[];
  /** Why native sockets are not in use, if they were requested. */
  fallback: string | null;
}

/** Opens the sockets of a role on the transport that the rig names. */
export async function openReactor(start: ControlStart, clock: Clock): Promise<OpenedReactor> {
  const { rig, memory } = start;
  const stop = stopFlag(memory);
  const local = await resolved(await localSpecs(start));
  // A fleet's agent carries the datagrams from and to UDP ports on this machine.
  const isUdp = rig.link.transport === 'udp' || rig.link.transport === 'webrtc';
  if (!isUdp) return opened(await openStream(start, local, stop, clock), 3, local, null);
  const link = await resolved(armsOf(start).flatMap((arm) => linkSpecs(start.role, arm)));
  const specs = [...link, ...local];
  const use = (reactor: Reactor, fallback: string | null) => opened(reactor, link.length, local, fallback);
  if (rig.link.reactor === 'dgram') return use(await openDgramReactor(specs, stop, clock), null);
  try {
    const priority = rig[start.role].realtimePriority;
    return use(await openNativeReactor(specs, stop, clock, priority), null);
  } catch (error) {
    const missing = error instanceof TeleopError && error.code === 'native-unavailable';
    if (!missing || rig.link.reactor === 'native') throw error;
    return use(await openDgramReactor(specs, stop, clock), error.message);
  }
}

const resolved = (specs: readonly SocketSpec[]): Promise<SocketSpec[]> => Promise.all(specs.map(resolveSpec));

function opened(
  reactor: Reactor,
  channels: number,
  local: readonly SocketSpec[],
  fallback: string | null,
): OpenedReactor {
  const [, ...inputs] = local.map(
    ({ name, host }, i) => `${name} on UDP ${hostPort(host, reactor.localPort(channels + i))}`,
  );
  return { reactor, sockets: channels + local.length, inputs, fallback };
}

function linkSpecs(role: Role, { rig, robotHost }: ArmStart): SocketSpec[] {
  const { listenHost, commandPort, statePort, syncPort } = rig.link;
  if (role === 'robot')
    return [
      { name: 'command', host: listenHost, port: commandPort },
      { name: 'state', host: listenHost, port: statePort },
      { name: 'sync', host: listenHost, port: syncPort },
    ];
  const host = nearHost(robotHost);
  return ['command', 'state', 'sync'].map((name) => ({ name, host, port: 0 }));
}

/** The operator's own sockets: the console's requests, on loopback only, and those of its inputs. */
async function localSpecs(start: ControlStart): Promise<SocketSpec[]> {
  const { role, rig } = start;
  if (role === 'robot') return [];
  const desk = { name: 'desk', host: '127.0.0.1', port: rig.console.deskPort, portKey: 'console.deskPort' };
  const inputs = await Promise.all(armsOf(start).map((arm) => inputSockets(arm.rig)));
  return [desk, ...inputs.flat()];
}

/** What runs over TCP or a peer connection instead of UDP. */
async function openStream(
  start: ControlStart,
  local: readonly SocketSpec[],
  stop: Int32Array,
  clock: Clock,
): Promise<Reactor> {
  const { role, rig, robotHost, keys } = start;
  const { listenHost, commandPort, statePort, syncPort, transport } = rig.link;
  const host = role === 'robot' ? await resolveHost(listenHost, 'the host', 'link.listenHost') : robotHost;
  const ports = [commandPort, statePort, syncPort] as const;
  if (transport === 'websocket')
    return openCarrierReactor(transport, { role, host, ports, local }, openWebSockets, stop, clock);
  if (transport === 'datachannel')
    return openCarrierReactor(transport, { role, host, ports, local }, openDataChannels, stop, clock);
  const [key, ...more] = keys;
  if (more.length > 0)
    throw new TeleopError('bad-config', 'ZeroMQ’s CURVE supports one paired key, but there are several', {
      hint: 'Name the one to use: link.keyFile=NAME (`farhand pair --list`).',
    });
  return openZmqReactor(
    { role, host, ports, keys: key === undefined ? null : curveKeys(key), local },
    stop,
    clock,
  );
}
