import { TeleopError } from '../../core/errors.ts';
import { type Clock, monotonicClock } from '../../core/time/clock.ts';
import { type DatagramHandler, MAX_DATAGRAM_BYTES, type Peer, type Reactor } from '../reactor.ts';
import { type Libc, loadLibc } from './libc.ts';
import { setScheduling } from './scheduling.ts';

const O_RDWR_NONBLOCK_CLOEXEC = 2 | 0x800 | 0x80000;
const TUNSETIFF = 0x400454ca;
const IFREQ_BYTES = 40;
const IFREQ_FLAGS_AT = 16;
/** Packets with an IP header and nothing before it. */
const IFF_TUN_NO_PI = 0x0001 | 0x1000;
const POLLIN = 1;
const PR_SET_TIMERSLACK = 29;
const BATCH = 32;
const MAX_WAIT_NS = 50e6;
/** A device has one other end: the kernel of the namespace it is in. */
export const TUN_PEER: Peer = 1;
/** What to give the devices: longer packets would not fit where datagrams do. */
export const TUN_MTU = MAX_DATAGRAM_BYTES;

/**
 * Network devices instead of sockets: what arrives is every IPv4 packet that a kernel routes into one of them, of TCP as
 * of UDP, and what is sent comes out there. Linux; needs the right to create devices (root).
 */
export async function openTunReactor(
  names: readonly string[],
  stopFlag: Int32Array = new Int32Array(new SharedArrayBuffer(4)),
  clock: Clock = monotonicClock,
  realtimePriority = 0,
): Promise<Reactor> {
  return new TunReactor(await loadLibc(), names, stopFlag, clock, realtimePriority);
}

class TunReactor implements Reactor {
  readonly kind = 'tun';
  readonly stampSource = 'userspace';
  readonly scheduling: string;
  readonly #libc: Libc;
  readonly #clock: Clock;
  readonly #stop: Int32Array;
  readonly #fds: number[] = [];
  readonly #pollBytes: Uint8Array;
  readonly #polls: DataView;
  readonly #timeoutBytes = new Uint8Array(16);
  readonly #timeout = new DataView(this.#timeoutBytes.buffer);
  readonly #packet = new Uint8Array(new ArrayBuffer(2048));

  constructor(libc: Libc, names: readonly string[], stop: Int32Array, clock: Clock, priority: number) {
    this.#libc = libc;
    this.#clock = clock;
    this.#stop = stop;
    this.scheduling = setScheduling(libc, priority);
    this.#pollBytes = new Uint8Array(8 * names.length);
    this.#polls = new DataView(this.#pollBytes.buffer);
    try {
      names.forEach((name, i) => {
        this.#fds.push(openDevice(libc, name));
        this.#polls.setInt32(8 * i, this.#fds[i]!, true);
        this.#polls.setInt16(8 * i + 4, POLLIN, true);
      });
    } catch (error) {
      this.close();
      throw error;
    }
  }

  localPort(): number {
    return 0;
  }

  send(device: number, bytes: Uint8Array, length: number): number {
    const sentNs = this.#clock.nowNs();
    return this.#libc.write(this.#fds[device]!, bytes, length) === length ? sentNs : 0;
  }

  async run(handler: DatagramHandler): Promise<void> {
    this.#libc.prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    while (Atomics.load(this.#stop, 0) === 0) {
      const waitNs = Math.min(Math.max(0, handler.nextDeadlineNs() - this.#clock.nowNs()), MAX_WAIT_NS);
      this.#timeout.setUint32(8, waitNs, true);
      const ready = this.#libc.ppoll(this.#pollBytes, this.#fds.length, this.#timeoutBytes, null);
      for (let device = 0; ready > 0 && device < this.#fds.length; device++)
        if ((this.#polls.getInt16(8 * device + 6, true) & POLLIN) !== 0) this.#receive(handler, device);
      const nowNs = this.#clock.nowNs();
      if (nowNs >= handler.nextDeadlineNs()) handler.onDeadline(nowNs);
    }
  }

  #receive(handler: DatagramHandler, device: number): void {
    for (let i = 0; i < BATCH; i++) {
      const length = this.#libc.read(this.#fds[device]!, this.#packet, this.#packet.length);
      if (length <= 0) return;
      // A kernel also announces itself over IPv6.
      if (this.#packet[0]! >> 4 !== 4) continue;
      if (length > MAX_DATAGRAM_BYTES) handler.onOversize(device);
      else handler.onDatagram(device, this.#packet, length, TUN_PEER, this.#clock.nowNs(), Number.NaN);
    }
  }

  stop(): void {
    Atomics.store(this.#stop, 0, 1);
  }

  close(): void {
    for (const fd of this.#fds.splice(0)) this.#libc.close(fd);
  }
}

function openDevice(libc: Libc, name: string): number {
  const request = new Uint8Array(new ArrayBuffer(IFREQ_BYTES));
  request.set(new TextEncoder().encode(name));
  new DataView(request.buffer).setUint16(IFREQ_FLAGS_AT, IFF_TUN_NO_PI, true);
  const fd = libc.open('/dev/net/tun', O_RDWR_NONBLOCK_CLOEXEC);
  if (fd >= 0 && libc.ioctl(fd, TUNSETIFF, request) === 0) return fd;
  const why = libc.errnoName();
  if (fd >= 0) libc.close(fd);
  throw new TeleopError('socket-failed', `cannot create the network device ${name}: ${why}`, {
    hint: 'Run as root, on Linux with /dev/net/tun (`modprobe tun`).',
  });
}
