import { hostOfSix, isSixHost, writeSix } from '../../core/ip-hosts.ts';
import { type Clock, monotonicClock } from '../../core/time/clock.ts';
import { IdleCollection } from '../../native/garbage.ts';
import {
  configuredPeer,
  type DatagramHandler,
  MAX_DATAGRAM_BYTES,
  type Peer,
  type Reactor,
  type SocketSpec,
} from '../reactor.ts';
import { bindSocket, type Libc, loadLibc } from './libc.ts';
import { setScheduling } from './scheduling.ts';
import { checkHost, socketError } from './socket-error.ts';

const AF_INET = 2;
const AF_INET6 = 10;
const SOCK_DGRAM_NONBLOCK_CLOEXEC = 2 | 0x800 | 0x80000;
const SOL_SOCKET = 1;
const SO_RCVBUF = 8;
const SO_TIMESTAMPNS = 35;
const IPPROTO_IP = 0;
const IP_TOS = 1;
const IPPROTO_IPV6 = 41;
const IPV6_TCLASS = 67;
const IPV6_V6ONLY = 26;
/** Expedited forwarding: the highest Wi-Fi airtime class. */
const DSCP_EF = 0xb8;
const PR_SET_TIMERSLACK = 29;
const POLLIN = 1;
const MSG_TRUNC = 0x20;
const CLOCK_REALTIME = 0;
const CLOCK_MONOTONIC = 1;

const BATCH = 32;
const SLOT_BYTES = 2048;
const CONTROL_BYTES = 64;
/** struct sockaddr_in and sockaddr_in6. */
const FOUR_BYTES = 16;
const SIX_BYTES = 28;
const NAME_BYTES = 32;
const MMSGHDR_BYTES = 64;
const RECEIVE_BUFFER_BYTES = 4 << 20;
const MAX_WAIT_NS = 50e6;
const CLOCK_REFRESH_NS = 20e6;

/**
 * One native wait for all sockets and the next deadline, meant for a worker thread that does nothing else:
 * `run` does not return to the event loop until stopped. Linux, 64-bit, through FFI.
 */
export async function openNativeReactor(
  specs: readonly SocketSpec[],
  stopFlag: Int32Array = new Int32Array(new SharedArrayBuffer(4)),
  clock: Clock = monotonicClock,
  realtimePriority = 0,
): Promise<Reactor> {
  return nativeReactor(await loadLibc(), specs, stopFlag, clock, realtimePriority);
}

/** The same with these system calls. */
export const nativeReactor = (
  libc: Libc,
  specs: readonly SocketSpec[],
  stopFlag: Int32Array,
  clock: Clock,
  realtimePriority: number,
): Reactor => new NativeReactor(libc, specs, stopFlag, clock, realtimePriority);

class NativeReactor implements Reactor {
  readonly kind = 'native';
  /** Kernels and emulators without receive stamps exist; then the stamp is lost, not the process. */
  stampSource: 'kernel' | 'userspace' = 'kernel';
  readonly scheduling: string;
  readonly #libc: Libc;
  readonly #clock: Clock;
  readonly #stop: Int32Array;
  readonly #fds: number[] = [];
  readonly #ports: number[] = [];
  readonly #polls: DataView;
  readonly #timeout = new DataView(new ArrayBuffer(16));
  readonly #batch: ReceiveBatch;
  readonly #stamps: KernelClock;
  readonly #four = new Target(FOUR_BYTES);
  readonly #six = new Target(SIX_BYTES);
  readonly #targets: Target[] = [];

  constructor(libc: Libc, specs: readonly SocketSpec[], stop: Int32Array, clock: Clock, priority: number) {
    this.#libc = libc;
    this.scheduling = setScheduling(libc, priority);
    this.#clock = clock;
    this.#stop = stop;
    this.#polls = new DataView(new ArrayBuffer(8 * specs.length));
    this.#batch = new ReceiveBatch(libc);
    this.#stamps = new KernelClock(libc);
    try {
      for (const spec of specs) this.#open(spec);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  #open(spec: SocketSpec): void {
    checkHost(spec);
    const libc = this.#libc;
    const isSix = spec.host.includes(':');
    const fd = libc.socket(isSix ? AF_INET6 : AF_INET, SOCK_DGRAM_NONBLOCK_CLOEXEC, 0);
    if (fd < 0) throw socketError(spec, libc.errnoName());
    const index = this.#fds.push(fd) - 1;
    if (!setOption(libc, fd, SOL_SOCKET, SO_TIMESTAMPNS, 1)) this.stampSource = 'userspace';
    // Without these two it works as well, but loses more datagrams of a burst, or waits longer in a Wi-Fi queue.
    setOption(libc, fd, SOL_SOCKET, SO_RCVBUF, RECEIVE_BUFFER_BYTES);
    setOption(libc, fd, IPPROTO_IP, IP_TOS, DSCP_EF);
    if (isSix) {
      setOption(libc, fd, IPPROTO_IPV6, IPV6_TCLASS, DSCP_EF);
      // "::" accepts IPv4 too.
      setOption(libc, fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
    }
    this.#targets[index] = isSix ? this.#six : this.#four;
    const own = new Target(isSix ? SIX_BYTES : FOUR_BYTES);
    own.set(configuredPeer(spec.host, spec.port));
    const address = bytesOf(own.address);
    const why = bindSocket(libc, fd, address);
    if (why !== '') throw socketError(spec, why);
    const size = new DataView(new ArrayBuffer(4));
    size.setUint32(0, address.length, true);
    libc.getsockname(fd, address, bytesOf(size));
    this.#ports[index] = own.address.getUint16(2);
    this.#polls.setInt32(8 * index, fd, true);
    this.#polls.setInt16(8 * index + 4, POLLIN, true);
  }

  localPort(socket: number): number {
    return this.#ports[socket] ?? 0;
  }

  send(socket: number, bytes: Uint8Array, length: number, to: Peer): number {
    const target = this.#targets[socket]!;
    if (to !== target.peer && !target.set(to)) return 0;
    const address = bytesOf(target.address);
    const sentNs = this.#clock.nowNs();
    const sent = this.#libc.sendto(this.#fds[socket]!, bytes, length, 0, address, address.length);
    return sent === length ? sentNs : 0;
  }

  async run(handler: DatagramHandler): Promise<void> {
    this.#libc.prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    const idle = new IdleCollection();
    while (Atomics.load(this.#stop, 0) === 0) {
      const nowNs = this.#clock.nowNs();
      // Here, where nothing waits, not between a datagram and its handler.
      this.#stamps.refresh(nowNs);
      const waitNs = Math.min(Math.max(0, handler.nextDeadlineNs() - nowNs), MAX_WAIT_NS);
      if (idle.rest(nowNs, waitNs)) continue;
      this.#timeout.setUint32(8, waitNs, true);
      const ready = this.#libc.ppoll(bytesOf(this.#polls), this.#fds.length, bytesOf(this.#timeout), null);
      if (ready > 0) this.#receive(handler);
      const afterNs = this.#clock.nowNs();
      if (afterNs >= handler.nextDeadlineNs()) handler.onDeadline(afterNs);
    }
  }

  /** One bounded batch per ready socket, so that a flood cannot starve the deadlines. */
  #receive(handler: DatagramHandler): void {
    for (let socket = 0; socket < this.#fds.length; socket++) {
      if ((this.#polls.getInt16(8 * socket + 6, true) & POLLIN) === 0) continue;
      const batch = this.#batch;
      const count = batch.receive(this.#fds[socket]!);
      for (let i = 0; i < count; i++) {
        const length = batch.length(i);
        if (length < 0) {
          handler.onOversize(socket);
          continue;
        }
        const receivedNs = this.#clock.nowNs();
        const kernelNs = Math.min(batch.stampNs(i, this.#stamps), receivedNs);
        handler.onDatagram(socket, batch.slots[i]!, length, batch.peer(i), receivedNs, kernelNs);
      }
    }
  }

  wallUs(): number {
    return this.#stamps.wallUs;
  }

  stop(): void {
    Atomics.store(this.#stop, 0, 1);
  }

  close(): void {
    for (const fd of this.#fds.splice(0)) this.#libc.close(fd);
  }
}

/** The socket address of the last peer: it rarely changes. */
class Target {
  readonly address: DataView;
  peer: Peer = -1;

  constructor(bytes: number) {
    this.address = new DataView(new ArrayBuffer(bytes));
    this.address.setUint16(0, bytes === SIX_BYTES ? AF_INET6 : AF_INET, true);
  }

  /** False if this kind of socket cannot reach it, or its address was forgotten. */
  set(peer: Peer): boolean {
    const host = Math.floor(peer / 65536);
    if (this.address.byteLength === FOUR_BYTES) {
      if (isSixHost(host)) return false;
      this.address.setUint32(4, host);
    } else {
      const zone = writeSix(host, bytesOf(this.address), 8);
      if (zone < 0) return false;
      this.address.setUint32(24, zone, true);
    }
    this.address.setUint16(2, peer % 65536);
    this.peer = peer;
    return true;
  }
}

/** Buffers for recvmmsg, laid out once: 32 datagrams with source address and kernel stamp. */
class ReceiveBatch {
  readonly slots: Uint8Array[] = [];
  readonly #libc: Libc;
  readonly #headers = new DataView(new ArrayBuffer(MMSGHDR_BYTES * BATCH));
  readonly #vectors = new DataView(new ArrayBuffer(16 * BATCH));
  readonly #names = new DataView(new ArrayBuffer(NAME_BYTES * BATCH));
  readonly #nameBytes = bytesOf(this.#names);
  readonly #controls = new DataView(new ArrayBuffer(CONTROL_BYTES * BATCH));

  constructor(libc: Libc) {
    this.#libc = libc;
    const names = libc.address(bytesOf(this.#names));
    const vectors = libc.address(bytesOf(this.#vectors));
    const controls = libc.address(bytesOf(this.#controls));
    for (let i = 0; i < BATCH; i++) {
      const slot = new Uint8Array(new ArrayBuffer(SLOT_BYTES));
      this.slots.push(slot);
      // Not mlockall: Node 20 aborts when V8 releases locked pages.
      libc.mlock(slot, SLOT_BYTES);
      this.#vectors.setBigUint64(16 * i, libc.address(slot), true);
      this.#vectors.setBigUint64(16 * i + 8, BigInt(SLOT_BYTES), true);
      const at = MMSGHDR_BYTES * i;
      this.#headers.setBigUint64(at, names + BigInt(NAME_BYTES * i), true);
      this.#headers.setBigUint64(at + 16, vectors + BigInt(16 * i), true);
      this.#headers.setBigUint64(at + 24, 1n, true);
      this.#headers.setBigUint64(at + 32, controls + BigInt(CONTROL_BYTES * i), true);
    }
  }

  receive(fd: number): number {
    for (let i = 0; i < BATCH; i++) {
      // The kernel overwrites both lengths with what it delivered.
      this.#headers.setUint32(MMSGHDR_BYTES * i + 8, NAME_BYTES, true);
      this.#headers.setUint32(MMSGHDR_BYTES * i + 40, CONTROL_BYTES, true);
    }
    return Math.max(0, this.#libc.recvmmsg(fd, bytesOf(this.#headers), BATCH, 0, null));
  }

  /** −1 when it is longer than the limit. */
  length(i: number): number {
    const length = this.#headers.getUint32(MMSGHDR_BYTES * i + 56, true);
    const truncated = this.#headers.getInt32(MMSGHDR_BYTES * i + 48, true) & MSG_TRUNC;
    return truncated || length > MAX_DATAGRAM_BYTES ? -1 : length;
  }

  peer(i: number): Peer {
    const at = NAME_BYTES * i;
    const port = this.#names.getUint16(at + 2);
    if (this.#names.getUint16(at, true) === AF_INET) return this.#names.getUint32(at + 4) * 65536 + port;
    return hostOfSix(this.#nameBytes, at + 8, this.#names.getUint32(at + 24, true)) * 65536 + port;
  }

  stampNs(i: number, stamps: KernelClock): number {
    const at = CONTROL_BYTES * i;
    if (this.#headers.getUint32(MMSGHDR_BYTES * i + 40, true) < 32) return Number.NaN;
    if (this.#controls.getInt32(at + 12, true) !== SO_TIMESTAMPNS) return Number.NaN;
    const seconds =
      this.#controls.getUint32(at + 16, true) + this.#controls.getInt32(at + 20, true) * 2 ** 32;
    return stamps.toMonotonicNs(seconds, this.#controls.getUint32(at + 24, true));
  }
}

/**
 * Kernel stamps are wall time; this tracks wall − monotonic by the narrowest of a few mono-real-mono
 * readings. Refreshed every 20 ms: a slewing wall clock (500 ppm) moves 10 µs in that time.
 */
class KernelClock {
  readonly #libc: Libc;
  readonly #time = new DataView(new ArrayBuffer(16));
  #baseS = 0;
  #offsetNs = 0;
  #freshUntilNs = Number.NEGATIVE_INFINITY;

  constructor(libc: Libc) {
    this.#libc = libc;
  }

  toMonotonicNs(seconds: number, nanoseconds: number): number {
    return (seconds - this.#baseS) * 1e9 + nanoseconds - this.#offsetNs;
  }

  /** Wall − monotonic time, as of the last refresh. */
  get wallUs(): number {
    return this.#baseS === 0 ? Number.NaN : this.#baseS * 1e6 + this.#offsetNs / 1e3;
  }

  refresh(nowNs: number): void {
    if (nowNs < this.#freshUntilNs) return;
    this.#freshUntilNs = nowNs + CLOCK_REFRESH_NS;
    let bestWidthNs = Number.POSITIVE_INFINITY;
    for (let i = 0; i < 4; i++) {
      const beforeNs = this.#read(CLOCK_MONOTONIC, 0);
      if (this.#baseS === 0) this.#baseS = Math.floor(this.#read(CLOCK_REALTIME, 0) / 1e9);
      const realNs = this.#read(CLOCK_REALTIME, this.#baseS);
      const afterNs = this.#read(CLOCK_MONOTONIC, 0);
      if (afterNs - beforeNs >= bestWidthNs) continue;
      bestWidthNs = afterNs - beforeNs;
      this.#offsetNs = realNs - (beforeNs + afterNs) / 2;
    }
  }

  #read(id: number, baseS: number): number {
    this.#libc.clock_gettime(id, bytesOf(this.#time));
    const seconds = this.#time.getUint32(0, true) + this.#time.getInt32(4, true) * 2 ** 32;
    return (seconds - baseS) * 1e9 + this.#time.getUint32(8, true);
  }
}

function setOption(libc: Libc, fd: number, level: number, name: number, value: number): boolean {
  const data = new DataView(new ArrayBuffer(4));
  data.setInt32(0, value, true);
  return libc.setsockopt(fd, level, name, bytesOf(data), 4) === 0;
}

const views = new WeakMap<DataView, Uint8Array>();

/** The bytes under a view; one object per view, so that the hot path allocates none. */
function bytesOf(view: DataView): Uint8Array {
  let bytes = views.get(view);
  if (bytes === undefined) {
    bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    views.set(view, bytes);
  }
  return bytes;
}
