import { randomBytes } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { TeleopError } from '../../../core/errors.ts';
import type { Clock } from '../../../core/time/clock.ts';
import {
  discoveryPort,
  type Locator,
  MAX_PARTICIPANT_ID,
  MULTICAST_GROUP,
  metatrafficPort,
  PREFIX_BYTES,
  userPort,
  VENDOR_ID,
} from './ids.ts';
import { Participant } from './participant.ts';

const TICK_MS = 10;
const GOODBYE_MS = 20;

export interface DdsSettings {
  domainId: number;
  /** IPv4 address of the interface to use. */
  interfaceAddress: string;
  /** Hosts that multicast does not reach. */
  peers: readonly string[];
  /** Hosts to accept datagrams from; empty: all. */
  allow: readonly string[];
  name: string;
}

/** A participant with its three sockets and its timer, on the event loop of this thread. */
export class DdsNode {
  readonly participant: Participant;
  readonly #clock: Clock;
  readonly #sockets: readonly Socket[];
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  private constructor(settings: DdsSettings, sockets: BoundSockets, clock: Clock) {
    const { domainId, interfaceAddress: address, name, peers } = settings;
    const { discovery, metatraffic, user, id } = sockets;
    this.#clock = clock;
    this.#sockets = [discovery, metatraffic, user];
    const prefix = new Uint8Array(randomBytes(PREFIX_BYTES));
    prefix.set(VENDOR_ID);
    const ports = { metatrafficPort: metatrafficPort(domainId, id), userPort: userPort(domainId, id) };
    this.participant = new Participant(
      { domainId, prefix, name, address, peers, ...ports },
      (bytes, length, to) => this.#send(user, bytes, length, to),
    );
    const isWanted = sourceFilter(settings);
    for (const socket of this.#sockets) {
      socket.on('error', () => this.participant.tally.add('send-failed'));
      socket.on('message', (bytes, from) => {
        if (this.#closed) return;
        if (!isWanted(from.address)) return this.participant.tally.add('unknown-source');
        const view = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
        this.participant.receive(view, clock.nowNs());
      });
    }
  }

  /** Opens the sockets. Topics are declared on `participant`; then `start`. */
  static async open(settings: DdsSettings, clock: Clock): Promise<DdsNode> {
    return new DdsNode(settings, await bindSockets(settings), clock);
  }

  /** The clock of message timestamps. */
  get wallNs(): number {
    return Date.now() * 1e6;
  }

  start(): void {
    this.participant.start(this.#clock.nowNs(), this.wallNs);
    this.#timer = setInterval(() => this.participant.tick(this.#clock.nowNs(), this.wallNs), TICK_MS);
  }

  /** Resolves once the leave message is sent. */
  async close(): Promise<void> {
    if (this.#closed) return;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.participant.leave(this.wallNs);
    this.#closed = true;
    await new Promise((resolve) => setTimeout(resolve, GOODBYE_MS));
    for (const socket of this.#sockets) socket.close();
  }

  /** Polls a condition every few milliseconds; false on timeout. */
  async until(condition: () => boolean, withinMs: number): Promise<boolean> {
    const endNs = this.#clock.nowNs() + withinMs * 1e6;
    while (!condition()) {
      if (this.#clock.nowNs() > endNs || this.#closed) return false;
      await new Promise((resolve) => setTimeout(resolve, TICK_MS / 2));
    }
    return true;
  }

  #send(socket: Socket, bytes: Uint8Array, length: number, to: Locator): void {
    if (this.#closed) return;
    socket.send(bytes.slice(0, length), to.port, to.host, (error) => {
      if (error !== null) this.participant.tally.add('send-failed');
    });
  }
}

const isLoopback = (host: string): boolean => host.startsWith('127.');

/** On loopback, drop datagrams from other machines even if the system forwards their multicast. */
function sourceFilter({ interfaceAddress, allow }: DdsSettings): (host: string) => boolean {
  if (isLoopback(interfaceAddress)) return isLoopback;
  return allow.length === 0 ? () => true : (host) => allow.includes(host);
}

interface BoundSockets {
  discovery: Socket;
  metatraffic: Socket;
  user: Socket;
  id: number;
}

async function bindSockets(settings: DdsSettings): Promise<BoundSockets> {
  const { domainId, interfaceAddress } = settings;
  // A socket bound to the group receives only group traffic; Windows does not support that.
  const group = process.platform === 'win32' ? '0.0.0.0' : MULTICAST_GROUP;
  const discovery = await bind(group, discoveryPort(domainId), true);
  try {
    discovery.addMembership(MULTICAST_GROUP, interfaceAddress);
  } catch (cause) {
    discovery.close();
    throw failed(`cannot join multicast on ${interfaceAddress}`, cause);
  }
  for (let id = 0; id <= MAX_PARTICIPANT_ID; id++) {
    const pair = await bindPair(domainId, interfaceAddress, id);
    if (pair === null) continue;
    pair.user.setMulticastInterface(interfaceAddress);
    pair.user.setMulticastLoopback(true);
    pair.user.setMulticastTTL(1);
    return { discovery, ...pair, id };
  }
  discovery.close();
  throw failed(`all ${MAX_PARTICIPANT_ID + 1} participant ids of domain ${domainId} are in use`, undefined);
}

async function bindPair(domainId: number, host: string, id: number) {
  const metatraffic = await bindOrNull(host, metatrafficPort(domainId, id));
  if (metatraffic === null) return null;
  const user = await bindOrNull(host, userPort(domainId, id));
  if (user !== null) return { metatraffic, user };
  metatraffic.close();
  return null;
}

async function bindOrNull(host: string, port: number): Promise<Socket | null> {
  try {
    return await bind(host, port, false);
  } catch (error) {
    if (((error as Error).cause as NodeJS.ErrnoException | undefined)?.code === 'EADDRINUSE') return null;
    throw error;
  }
}

function bind(host: string, port: number, reuseAddr: boolean): Promise<Socket> {
  // Addresses are numeric, so skip the asynchronous lookup.
  const lookup = (
    name: string,
    _options: unknown,
    done: (error: null, address: string, family: number) => void,
  ) => done(null, name, 4);
  const socket = createSocket({ type: 'udp4', reuseAddr, lookup });
  return new Promise((resolve, reject) => {
    socket.once('error', (error) => {
      socket.close();
      reject(failed(`cannot open UDP ${host}:${port}: ${error.message}`, error));
    });
    socket.bind({ address: host, port, exclusive: true }, () => {
      socket.removeAllListeners('error');
      resolve(socket);
    });
  });
}

const failed = (message: string, cause: unknown): TeleopError =>
  new TeleopError('socket-failed', message, {
    hint: 'Check the interface address (`ip -4 addr`) and the domain id; see docs/drivers/ros2.md.',
    cause,
  });
