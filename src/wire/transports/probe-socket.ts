import { bindSocket, type Libc, loadLibc } from './libc.ts';

const AF_INET = 2;
const SOCK_DGRAM = 2;
const SOCK_RAW = 3;
const NONBLOCK_CLOEXEC = 0x800 | 0x80000;
const IPPROTO_IP = 0;
const IPPROTO_ICMP = 1;
const IP_TOS = 1;
const IP_RECVTOS = 13;
const SOL_SOCKET = 1;
const SO_TIMESTAMPNS = 35;
const POLLIN = 1;
const CLOCK_REALTIME = 0;
const CLOCK_MONOTONIC = 1;
const CONTROL_BYTES = 128;
const SLOT_BYTES = 2048;
const MMSGHDR_BYTES = 64;

/** `icmp` is the kernel's ping socket, for groups in ping_group_range; `icmp-raw` needs CAP_NET_RAW. */
export type ProbeKind = 'udp' | 'icmp' | 'icmp-raw';

export interface Probed {
  length: number;
  host: string;
  port: number;
  /** Type of service of the received packet; −1 where the kernel does not report it. */
  tos: number;
  /** Kernel's receive stamp, monotonic; NaN when absent. */
  kernelNs: number;
}

/**
 * A socket that exposes what others hide: the TOS mark and kernel stamp of every packet. For measurements:
 * one packet per call, on its own thread or process; a link uses a reactor. Linux, 64-bit, through FFI.
 */
export class ProbeSocket {
  readonly data = new Uint8Array(new ArrayBuffer(SLOT_BYTES));
  readonly port: number;
  readonly #libc: Libc;
  readonly #fd: number;
  readonly #header = new Uint8Array(new ArrayBuffer(MMSGHDR_BYTES));
  readonly #vector = new Uint8Array(new ArrayBuffer(16));
  readonly #name = new Uint8Array(new ArrayBuffer(16));
  readonly #control = new Uint8Array(new ArrayBuffer(CONTROL_BYTES));

  /** Throws an `Error` whose message is the errno: EPERM, EACCES, EADDRINUSE. */
  constructor(libc: Libc, kind: ProbeKind, host: string, port: number, tos: number) {
    this.#libc = libc;
    const type = (kind === 'icmp-raw' ? SOCK_RAW : SOCK_DGRAM) | NONBLOCK_CLOEXEC;
    this.#fd = libc.socket(AF_INET, type, kind === 'udp' ? 0 : IPPROTO_ICMP);
    if (this.#fd < 0) throw new Error(libc.errnoName());
    for (const [level, name, value] of [
      [IPPROTO_IP, IP_TOS, tos],
      [IPPROTO_IP, IP_RECVTOS, 1],
      [SOL_SOCKET, SO_TIMESTAMPNS, 1],
    ] as const)
      libc.setsockopt(this.#fd, level, name, int32(value), 4);
    const address = addressBytes(host, port);
    const why = bindSocket(libc, this.#fd, address);
    if (why !== '') {
      this.close();
      throw new Error(why);
    }
    libc.getsockname(this.#fd, address, int32(16));
    this.port = new DataView(address.buffer).getUint16(2);
    this.#layOut();
  }

  #layOut(): void {
    const header = new DataView(this.#header.buffer);
    const vector = new DataView(this.#vector.buffer);
    vector.setBigUint64(0, this.#libc.address(this.data), true);
    vector.setBigUint64(8, BigInt(SLOT_BYTES), true);
    header.setBigUint64(0, this.#libc.address(this.#name), true);
    header.setBigUint64(16, this.#libc.address(this.#vector), true);
    header.setBigUint64(24, 1n, true);
    header.setBigUint64(32, this.#libc.address(this.#control), true);
  }

  send(bytes: Uint8Array, host: string, port: number): boolean {
    return this.#libc.sendto(this.#fd, bytes, bytes.length, 0, addressBytes(host, port), 16) === bytes.length;
  }

  /** Waits; false when nothing arrived in `waitNs`. */
  wait(waitNs: number): boolean {
    return waitAny(this.#libc, [this], waitNs);
  }

  /** The next packet, its bytes in `data`; null when none waits. */
  receive(): Probed | null {
    const header = new DataView(this.#header.buffer);
    header.setUint32(8, 16, true);
    header.setUint32(40, CONTROL_BYTES, true);
    if (this.#libc.recvmmsg(this.#fd, this.#header, 1, 0, null) !== 1) return null;
    const name = new DataView(this.#name.buffer);
    const { tos, wallS, wallNs } = this.#controls(header.getUint32(40, true));
    return {
      length: header.getUint32(56, true),
      host: [...this.#name.subarray(4, 8)].join('.'),
      port: name.getUint16(2),
      tos,
      kernelNs: Number.isNaN(wallS) ? Number.NaN : monotonicOf(this.#libc, wallS, wallNs),
    };
  }

  #controls(length: number): { tos: number; wallS: number; wallNs: number } {
    const view = new DataView(this.#control.buffer);
    const found = { tos: -1, wallS: Number.NaN, wallNs: 0 };
    for (let at = 0; at + 16 <= length; ) {
      const size = view.getUint32(at, true);
      if (size < 16) break;
      const [level, type] = [view.getInt32(at + 8, true), view.getInt32(at + 12, true)];
      if (level === IPPROTO_IP && type === IP_TOS) found.tos = view.getUint8(at + 16);
      if (level === SOL_SOCKET && type === SO_TIMESTAMPNS) {
        found.wallS = Number(view.getBigInt64(at + 16, true));
        found.wallNs = view.getUint32(at + 24, true);
      }
      at += (size + 7) & ~7;
    }
    return found;
  }

  get fd(): number {
    return this.#fd;
  }

  close(): void {
    this.#libc.close(this.#fd);
  }
}

/** Waits for the first of several sockets. */
export function waitAny(libc: Libc, sockets: readonly ProbeSocket[], waitNs: number): boolean {
  const polls = new DataView(new ArrayBuffer(8 * sockets.length));
  sockets.forEach((socket, i) => {
    polls.setInt32(8 * i, socket.fd, true);
    polls.setInt16(8 * i + 4, POLLIN, true);
  });
  const timeout = new DataView(new ArrayBuffer(16));
  const ns = Math.max(0, Math.floor(waitNs));
  timeout.setBigInt64(0, BigInt(Math.floor(ns / 1e9)), true);
  timeout.setBigInt64(8, BigInt(ns % 1e9), true);
  return libc.ppoll(new Uint8Array(polls.buffer), sockets.length, new Uint8Array(timeout.buffer), null) > 0;
}

export async function openProbeSocket(
  kind: ProbeKind,
  host: string,
  port: number,
  tos: number,
): Promise<ProbeSocket> {
  return new ProbeSocket(await loadLibc(), kind, host, port, tos);
}

/** Wall time to monotonic, by one mono-real-mono reading: accurate to about ten microseconds. */
function monotonicOf(libc: Libc, wallS: number, wallNs: number): number {
  const before = timeOf(libc, CLOCK_MONOTONIC);
  const wall = timeOf(libc, CLOCK_REALTIME);
  const after = timeOf(libc, CLOCK_MONOTONIC);
  const agoNs = (wall.s - wallS) * 1e9 + (wall.ns - wallNs);
  return (before.s * 1e9 + before.ns + after.s * 1e9 + after.ns) / 2 - agoNs;
}

function timeOf(libc: Libc, id: number): { s: number; ns: number } {
  const time = new DataView(new ArrayBuffer(16));
  libc.clock_gettime(id, new Uint8Array(time.buffer));
  return { s: Number(time.getBigInt64(0, true)), ns: Number(time.getBigInt64(8, true)) };
}

function int32(value: number): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(4));
  bytes.setInt32(0, value, true);
  return new Uint8Array(bytes.buffer);
}

function addressBytes(host: string, port: number): Uint8Array<ArrayBuffer> {
  const address = new DataView(new ArrayBuffer(16));
  address.setUint16(0, AF_INET, true);
  address.setUint16(2, port);
  host.split('.').forEach((byte, i) => {
    address.setUint8(4 + i, Number(byte));
  });
  return new Uint8Array(address.buffer);
}
