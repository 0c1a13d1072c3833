import { networkInterfaces } from 'node:os';
import { hostOfText, textOfHost } from '../core/ip-hosts.ts';

/**
 * An address and port in one exact number: host · 65536 + port, where `core/ip-hosts.ts` numbers the hosts. 0 means
 * none. The number of an IPv6 address is valid in the thread that made it.
 */
export type Peer = number;

/** 0 for a text that is not an address. */
export function peerOf(address: string, port: number): Peer {
  const host = hostOfText(address, { zoneIndex });
  return host === null ? 0 : host * 65536 + port;
}

/** As `peerOf`, for an address that is configured: its number stays valid however many others send. */
export function configuredPeer(address: string, port: number): Peer {
  const host = hostOfText(address, { zoneIndex, pin: true });
  return host === null ? 0 : host * 65536 + port;
}

/** Empty if this thread does not know the address. */
export const peerAddress = (peer: Peer): string => textOfHost(Math.floor(peer / 65536), zoneName);

/** Index of a network interface, −1 if there is none with an IPv6 address. */
function zoneIndex(name: string): number {
  const addresses = networkInterfaces()[name] ?? [];
  return addresses.find((each) => each.family === 'IPv6' && each.scopeid !== 0)?.scopeid ?? -1;
}

function zoneName(index: number): string {
  const named = Object.entries(networkInterfaces()).find(([, addresses]) =>
    addresses?.some((each) => each.family === 'IPv6' && each.scopeid === index),
  );
  return named?.[0] ?? String(index);
}

export const peerPort = (peer: Peer): number => peer % 65536;

/** Same machine, whatever the port. */
export const samePeerHost = (a: Peer, b: Peer): boolean => Math.floor(a / 65536) === Math.floor(b / 65536);

/** The logic a reactor drives. Runs on one thread; must not block. Hot path. */
export interface DatagramHandler {
  /** `bytes` (first `length` valid) is reused after the call; `kernelNs` is NaN where the kernel gives no stamp. */
  onDatagram(
    socket: number,
    bytes: Uint8Array,
    length: number,
    from: Peer,
    receivedNs: number,
    kernelNs: number,
  ): void;
  /** A datagram larger than the receive buffer; its content is lost. */
  onOversize(socket: number): void;
  /** Called when `nextDeadlineNs()` has passed. */
  onDeadline(nowNs: number): void;
  nextDeadlineNs(): number;
}

export interface Outbox {
  /**
   * Never blocks. Returns the instant just before the datagram was passed to the network stack, after any
   * sealing; 0 when it was not sent.
   */
  send(socket: number, bytes: Uint8Array, length: number, to: Peer): number;
}

export interface SocketSpec {
  /** For error messages: "command", "state", … */
  name: string;
  host: string;
  /** 0 lets the system choose. */
  port: number;
  /** Config key of the port, for the hint when it is in use. */
  portKey?: string;
  /** TCP, used by ZeroMQ; otherwise UDP. */
  tcp?: true;
}

/** Sockets and a clock behind one wait: "a datagram or the deadline, whichever is first". */
export interface Reactor extends Outbox {
  readonly kind: 'native' | 'dgram' | 'tun' | 'zmq' | 'websocket' | 'datachannel';
  /** Source of receive stamps; written into every trace. */
  readonly stampSource: 'kernel' | 'userspace';
  /** `normal`, with `, 0.1 ms slice` where the kernel grants one, or `fifo:<priority>` where requested and granted. */
  readonly scheduling: string;
  localPort(socket: number): number;
  /** Wall − monotonic time in microseconds, where it can be read precisely. */
  wallUs?(): number;
  /** Drives `handler` until `stop`; resolves when it has stopped. */
  run(handler: DatagramHandler): Promise<void>;
  stop(): void;
  close(): void;
}

/** Longest datagram we accept: one Ethernet frame. */
export const MAX_DATAGRAM_BYTES = 1472;
