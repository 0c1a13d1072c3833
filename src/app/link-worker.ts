import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { TeleopError } from '../core/errors.ts';
import { hostPort } from '../core/ip-address.ts';
import { nearHost } from '../core/loopback.ts';
import { monotonicClock } from '../core/time/clock.ts';
import type { DirectionSettings } from '../wire/emulator/link-model.ts';
import { DIRECTIONS, LinkRelay } from '../wire/emulator/relay.ts';
import { DirectionCounters, type DirectionMemory } from '../wire/emulator/stats.ts';
import { configuredPeer, type Reactor, type SocketSpec } from '../wire/reactor.ts';
import { openTunReactor, TUN_PEER } from '../wire/transports/tun.ts';
import { openDgramReactor } from '../wire/transports/udp-dgram.ts';
import { openNativeReactor } from '../wire/transports/udp-native.ts';
import { type FailedMessage, failedMessage } from './worker-host.ts';

type BothDirections<T> = [forward: T, back: T];

/** An address, not a name. */
export interface Endpoint {
  host: string;
  port: number;
}

/** Start data of a link worker. */
export interface LinkStart {
  /** Network devices to join instead of sockets; then there is one mapping, from the first to the second. */
  devices: readonly [string, string] | null;
  listen: Endpoint[];
  targets: Endpoint[];
  settings: BothDirections<DirectionSettings>;
  seed: number;
  capacity: number;
  reactor: 'auto' | 'native' | 'dgram';
  realtimePriority: number;
  /** Report every datagram that enters. */
  isTapped: boolean;
  stop: SharedArrayBuffer;
  memory: BothDirections<DirectionMemory>;
  /** Changes arrive here: the loop does not return to the event loop, so it polls. */
  changes: MessagePort;
}

export interface LinkChangeMessage {
  id: number;
  settings: BothDirections<DirectionSettings>;
  seed: number;
}

/** A datagram as it enters the link. */
export interface LinkEntry {
  direction: 'forward' | 'return';
  /** Index of the mapping. */
  mapping: number;
  bytes: Uint8Array;
}

/** Messages from a link worker to its process. */
export type LinkMessage =
  | { kind: 'ready'; ports: number[]; reactor: string; scheduling: string; fallback: string | null }
  | { kind: 'changed'; id: number }
  | ({ kind: 'entry' } & LinkEntry)
  | FailedMessage
  | { kind: 'done' };

const start = workerData as LinkStart;
const clock = monotonicClock;
const stop = new Int32Array(start.stop);
const post = (message: LinkMessage) => parentPort?.postMessage(message);

function socketSpecs(): SocketSpec[] {
  return start.listen.flatMap(({ host, port }, i) => {
    const target = start.targets[i]!;
    const near = nearHost(target.host);
    const to = hostPort(target.host, target.port);
    return [
      { name: `link to ${to}`, host, port, portKey: 'LISTEN' },
      { name: `link to ${to}, far side`, host: near, port: 0 },
    ];
  });
}

async function openReactor(): Promise<{ reactor: Reactor; fallback: string | null }> {
  if (start.devices !== null) {
    const reactor = await openTunReactor(start.devices, stop, clock, start.realtimePriority);
    return { reactor, fallback: null };
  }
  const specs = socketSpecs();
  if (start.reactor === 'dgram')
    return { reactor: await openDgramReactor(specs, stop, clock), fallback: null };
  try {
    return { reactor: await openNativeReactor(specs, stop, clock, start.realtimePriority), fallback: null };
  } catch (error) {
    const missing = error instanceof TeleopError && error.code === 'native-unavailable';
    if (!missing || start.reactor === 'native') throw error;
    return { reactor: await openDgramReactor(specs, stop, clock), fallback: error.message };
  }
}

async function main(): Promise<void> {
  const { reactor, fallback } = await openReactor();
  const targets =
    start.devices === null ? start.targets.map(({ host, port }) => configuredPeer(host, port)) : [TUN_PEER];
  try {
    const relay = new LinkRelay({
      clock,
      outbox: reactor,
      targets,
      settings: start.settings,
      counters: [new DirectionCounters(start.memory[0]), new DirectionCounters(start.memory[1])],
      seed: start.seed,
      capacity: start.capacity,
      onEntry: start.isTapped ? tapEntry : undefined,
      onIdle: () => takeChange(relay),
    });
    const ports = targets.map((_, i) => reactor.localPort(2 * i));
    const { kind, scheduling } = reactor;
    post({ kind: 'ready', ports, reactor: kind, scheduling, fallback });
    await reactor.run(relay);
  } finally {
    reactor.close();
  }
  post({ kind: 'done' });
}

function tapEntry(direction: 0 | 1, mapping: number, bytes: Uint8Array, length: number): void {
  post({ kind: 'entry', direction: DIRECTIONS[direction], mapping, bytes: bytes.slice(0, length) });
}

function takeChange(relay: LinkRelay): void {
  const received = receiveMessageOnPort(start.changes) as { message: LinkChangeMessage } | undefined;
  if (received === undefined) return;
  const { id, settings, seed } = received.message;
  relay.change(settings, seed);
  post({ kind: 'changed', id });
}

main().catch((error: unknown) => {
  post(failedMessage(error));
});
