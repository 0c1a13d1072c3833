import type { Clock } from '../core/clock.ts';
import { TeleopError } from '../core/errors.ts';
import type { Reactor, SocketSpec } from '../wire/reactor.ts';
import { curveKeys } from '../wire/secure/curve-keys.ts';
import { openDgramReactor } from '../wire/transports/udp-dgram.ts';
import { openNativeReactor } from '../wire/transports/udp-native.ts';
import { openZmqReactor } from '../wire/transports/zmq.ts';
import { type ControlStart, stopFlag } from './shared.ts';

export interface OpenedReactor {
  reactor: Reactor;
  sockets: number;
  /** Why native sockets are not in use, if they were wanted. */
  fallback: string | null;
}

/** The sockets of a role over the transport the rig names. */
export async function openReactor(start: ControlStart, clock: Clock): Promise<OpenedReactor> {
  const { rig, memory } = start;
  const stop = stopFlag(memory);
  if (rig.link.transport === 'zmq') return openZmq(start, stop, clock);
  const specs = [...linkSpecs(start), ...deskSpecs(start)];
  const sockets = specs.length;
  if (rig.link.reactor === 'dgram')
    return { reactor: await openDgramReactor(specs, stop, clock), sockets, fallback: null };
  try {
    const priority = rig[start.role].realtimePriority;
    return { reactor: await openNativeReactor(specs, stop, clock, priority), sockets, fallback: null };
  } catch (error) {
    const missing = error instanceof TeleopError && error.code === 'native-unavailable';
    if (!missing || rig.link.reactor === 'native') throw error;
    return { reactor: await openDgramReactor(specs, stop, clock), sockets, fallback: error.message };
  }
}

function linkSpecs({ role, rig, robotHost }: ControlStart): SocketSpec[] {
  const { listenHost, commandPort, statePort, syncPort } = rig.link;
  if (role === 'robot')
    return [
      { name: 'command', host: listenHost, port: commandPort },
      { name: 'state', host: listenHost, port: statePort },
      { name: 'sync', host: listenHost, port: syncPort },
    ];
  const host = robotHost.startsWith('127.') ? '127.0.0.1' : '0.0.0.0';
  return ['command', 'state', 'sync'].map((name) => ({ name, host, port: 0 }));
}

/** The console's requests reach the operator on loopback only. */
function deskSpecs({ role, rig }: ControlStart): SocketSpec[] {
  if (role === 'robot') return [];
  return [{ name: 'desk', host: '127.0.0.1', port: rig.console.deskPort, portKey: 'console.deskPort' }];
}

async function openZmq(start: ControlStart, stop: Int32Array, clock: Clock): Promise<OpenedReactor> {
  const { role, rig, robotHost, keys } = start;
  const { listenHost, commandPort, statePort, syncPort } = rig.link;
  const [key, ...more] = keys;
  if (more.length > 0)
    throw new TeleopError('bad-config', 'ZeroMQ’s CURVE serves one paired key, and there are several', {
      hint: 'Name the one to use: link.keyFile=NAME (`farhand pair --list`).',
    });
  const local = deskSpecs(start);
  const reactor = await openZmqReactor(
    {
      role,
      host: role === 'robot' ? listenHost : robotHost,
      ports: [commandPort, statePort, syncPort],
      keys: key === undefined ? null : curveKeys(key),
      local,
    },
    stop,
    clock,
  );
  return { reactor, sockets: 3 + local.length, fallback: null };
}
