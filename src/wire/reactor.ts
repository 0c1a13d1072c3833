/** An IPv4 address and port in one exact number: address · 65536 + port. 0 means none. */
export type Peer = number;

export function peerOf(address: string, port: number): Peer {
  const bytes = address.split('.').map(Number);
  if (bytes.length !== 4 || bytes.some((b) => !Number.isInteger(b) || b < 0 || b > 255)) return 0;
  return (((bytes[0]! * 256 + bytes[1]!) * 256 + bytes[2]!) * 256 + bytes[3]!) * 65536 + port;
}

export function peerAddress(peer: Peer): string {
  const ip = Math.floor(peer / 65536);
  return `${Math.floor(ip / 0x1000000)}.${(ip >>> 16) & 255}.${(ip >>> 8) & 255}.${ip & 255}`;
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
