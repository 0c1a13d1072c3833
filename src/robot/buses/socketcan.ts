// UNVERIFIED ON HARDWARE: tested on vcan only, see scripts/socketcan-uml.mjs.
import { TeleopError } from '../../core/errors.ts';
import type { CanBackend, CanEvents, CanLink } from './can.ts';
import { type CanFrame, emptyFrame, isValidFrame } from './can-frame.ts';
import { FdWatcher } from './fd-watcher.ts';
import { type BusLibc, EAGAIN, ENOBUFS, errnoText, loadBusLibc } from './libc.ts';

const PF_CAN = 29;
const SOCK_RAW_NONBLOCK_CLOEXEC = 3 | 0o4000 | 0o2000000;
const CAN_RAW = 1;
const SOL_CAN_RAW = 101;
const CAN_RAW_ERR_FILTER = 2;
const CAN_RAW_FD_FRAMES = 5;
const ERR_MASK_ALL = 0x1fffffff;
/** struct can_frame and canfd_frame: u32 id and flags, u8 length, u8 flags, 2 reserved, data. Host byte order. */
const CLASSIC_BYTES = 16;
const FD_BYTES = 72;
const EXTENDED_FLAG = 0x80000000;
const REMOTE_FLAG = 0x40000000;
const ERROR_FLAG = 0x20000000;
const FD_BRS = 1;
/** Frames read in one go before yielding to other work on the thread. */
const MAX_BATCH = 256;

/** Error classes of linux/can/error.h. */
const ERROR_CLASSES: readonly (readonly [bit: number, text: string])[] = [
  [0x40, 'bus off'],
  [0x20, 'no acknowledgement: no other node on the bus'],
  [0x04, 'controller problem (error passive or overrun)'],
  [0x80, 'bus error'],
  [0x08, 'protocol violation'],
  [0x10, 'transceiver status'],
  [0x02, 'lost arbitration'],
  [0x01, 'transmit time-out'],
  [0x100, 'controller restarted'],
];

/** A kernel CAN interface; its bit rate is already set. */
export function socketcanBackend(name: string): CanBackend {
  return {
    name: `socketcan ${name}`,
    async open(events) {
      const libc = await loadBusLibc();
      return new SocketCanLink(libc, openSocket(libc, name), events);
    },
  };
}

function openSocket(libc: BusLibc, name: string): number {
  const index = libc.if_nametoindex(name);
  if (index === 0) throw failed(name, 'no such interface');
  const fd = libc.socket(PF_CAN, SOCK_RAW_NONBLOCK_CLOEXEC, CAN_RAW);
  if (fd < 0) throw failed(name, errnoText(libc.errno()));
  const one = new Uint8Array(Uint32Array.of(1).buffer);
  const mask = new Uint8Array(Uint32Array.of(ERR_MASK_ALL).buffer);
  // This fails on an interface without FD, which still accepts classic frames.
  libc.setsockopt(fd, SOL_CAN_RAW, CAN_RAW_FD_FRAMES, one, 4);
  libc.setsockopt(fd, SOL_CAN_RAW, CAN_RAW_ERR_FILTER, mask, 4);
  const address = new DataView(new ArrayBuffer(24));
  address.setUint16(0, PF_CAN, true);
  address.setInt32(4, index, true);
  if (libc.bind(fd, new Uint8Array(address.buffer), 24) !== 0) {
    const why = errnoText(libc.errno());
    libc.close(fd);
    throw failed(name, why);
  }
  return fd;
}

function failed(name: string, why: string): TeleopError {
  return new TeleopError('bus-failed', `cannot open CAN interface ${name}: ${why}`, {
    hint: `Bring it up: \`sudo ip link set ${name} up type can bitrate 1000000\`; \`ip -details link show type can\` lists the interfaces.`,
  });
}

class SocketCanLink implements CanLink {
  readonly #libc: BusLibc;
  readonly #fd: number;
  readonly #events: CanEvents;
  readonly #frame = emptyFrame();
  readonly #in = new DataView(new ArrayBuffer(FD_BYTES));
  readonly #inBytes = new Uint8Array(this.#in.buffer);
  readonly #out = new DataView(new ArrayBuffer(FD_BYTES));
  readonly #outBytes = new Uint8Array(this.#out.buffer);
  readonly #watcher: FdWatcher;
  #closed = false;

  constructor(libc: BusLibc, fd: number, events: CanEvents) {
    this.#libc = libc;
    this.#fd = fd;
    this.#events = events;
    this.#watcher = new FdWatcher(libc, fd, () => this.#drain());
  }

  send(frames: readonly CanFrame[], count: number): number {
    for (let i = 0; i < count; i++) {
      const frame = frames[i]!;
      if (this.#closed || !isValidFrame(frame)) return i;
      const bytes = this.#pack(frame);
      if (this.#libc.send(this.#fd, this.#outBytes, bytes, 0) === bytes) continue;
      const errno = this.#libc.errno();
      if (errno !== EAGAIN && errno !== ENOBUFS) this.#lose(errnoText(errno));
      return i;
    }
    return count;
  }

  /** Frames the kernel accepted cannot be withdrawn. */
  discard(): void {}

  close(): void {
    this.#closed = true;
    this.#watcher.end();
  }

  #pack({ id, extended, remote, fd, bitRateSwitch, length, data }: CanFrame): number {
    const flags = (extended ? EXTENDED_FLAG : 0) + (remote ? REMOTE_FLAG : 0);
    this.#out.setUint32(0, id + flags, true);
    this.#out.setUint32(4, 0, true);
    this.#out.setUint8(4, length);
    if (fd && bitRateSwitch) this.#out.setUint8(5, FD_BRS);
    for (let i = 0; i < (fd ? 64 : 8); i++) this.#outBytes[8 + i] = i < length && !remote ? data[i]! : 0;
    return fd ? FD_BYTES : CLASSIC_BYTES;
  }

  #drain(): void {
    for (let i = 0; i < MAX_BATCH && !this.#closed; i++) {
      const bytes = this.#libc.recv(this.#fd, this.#inBytes, FD_BYTES, 0);
      if (bytes === CLASSIC_BYTES || bytes === FD_BYTES) this.#unpack(bytes === FD_BYTES);
      else {
        const errno = this.#libc.errno();
        if (bytes >= 0 || errno !== EAGAIN) this.#lose(bytes < 0 ? errnoText(errno) : 'short read');
        return;
      }
    }
  }

  #unpack(fd: boolean): void {
    const word = this.#in.getUint32(0, true);
    if ((word & ERROR_FLAG) !== 0) {
      const known = ERROR_CLASSES.find(([bit]) => (word & bit) !== 0);
      this.#events.onError(known?.[1] ?? 'unspecified error');
      return;
    }
    const frame = this.#frame;
    frame.extended = (word & EXTENDED_FLAG) !== 0;
    frame.remote = (word & REMOTE_FLAG) !== 0;
    frame.id = word & (frame.extended ? 0x1fffffff : 0x7ff);
    frame.fd = fd;
    frame.bitRateSwitch = fd && (this.#in.getUint8(5) & FD_BRS) !== 0;
    frame.length = Math.min(this.#in.getUint8(4), fd ? 64 : 8);
    frame.data.set(this.#inBytes.subarray(8, 8 + frame.length));
    this.#events.onFrame(frame);
  }

  #lose(why: string): void {
    if (this.#closed) return;
    this.close();
    this.#events.onLost(why);
  }
}
