import { bindLibc, type Pointer } from '../../native/libc.ts';

interface PollCall {
  (fds: Pointer, count: number, timeoutMs: number): number;
  /** Runs on a pool thread; the memory must stay valid until it returns. */
  async(
    fds: Pointer,
    count: number,
    timeoutMs: number,
    done: (error: Error | null, ready: number) => void,
  ): void;
}

/** The calls of CAN sockets, serial lines and pseudo-terminals. */
interface BusCalls {
  socket(domain: number, type: number, protocol: number): number;
  bind(fd: number, address: Pointer, length: number): number;
  setsockopt(fd: number, level: number, name: number, value: Pointer, length: number): number;
  if_nametoindex(name: string): number;
  poll: PollCall;
  recv(fd: number, bytes: Pointer, length: number, flags: number): number;
  send(fd: number, bytes: Pointer, length: number, flags: number): number;
  open(path: string, flags: number): number;
  close(fd: number): number;
  posix_openpt(flags: number): number;
  grantpt(fd: number): number;
  unlockpt(fd: number): number;
  ptsname_r(fd: number, name: Pointer, length: number): number;
  tcgetattr(fd: number, settings: Pointer): number;
  tcsetattr(fd: number, when: number, settings: Pointer): number;
  cfmakeraw(settings: Pointer): void;
  tcflush(fd: number, queue: number): number;
  cfsetspeed(settings: Pointer, baudRate: number): number;
  ioctl(fd: number, request: number): number;
}

export interface BusLibc extends BusCalls {
  errno(): number;
}

const SIGNATURES = {
  socket: 'int socket(int, int, int)',
  bind: 'int bind(int, void *, uint32_t)',
  setsockopt: 'int setsockopt(int, int, int, void *, uint32_t)',
  if_nametoindex: 'uint32_t if_nametoindex(const char *)',
  poll: 'int poll(void *, uint64_t, int)',
  recv: 'int64_t recv(int, void *, uint64_t, int)',
  send: 'int64_t send(int, void *, uint64_t, int)',
  open: 'int open(const char *, int)',
  close: 'int close(int)',
  posix_openpt: 'int posix_openpt(int)',
  grantpt: 'int grantpt(int)',
  unlockpt: 'int unlockpt(int)',
  ptsname_r: 'int ptsname_r(int, void *, uint64_t)',
  tcgetattr: 'int tcgetattr(int, void *)',
  tcsetattr: 'int tcsetattr(int, int, void *)',
  cfmakeraw: 'void cfmakeraw(void *)',
  tcflush: 'int tcflush(int, int)',
  cfsetspeed: 'int cfsetspeed(void *, uint32_t)',
  ioctl: 'int ioctl(int, uint64_t)',
};

export const EAGAIN = 11;
export const ENOBUFS = 105;

const ERRNO: Readonly<Record<number, string>> = {
  1: 'EPERM (not permitted)',
  2: 'ENOENT (no such file)',
  6: 'ENXIO (no such device)',
  13: 'EACCES (no permission)',
  16: 'EBUSY (in use by another program)',
  19: 'ENODEV (no such interface)',
  22: 'EINVAL (not valid for this interface)',
  97: 'EAFNOSUPPORT (this kernel has no CAN support)',
  100: 'ENETDOWN (the interface is down)',
  105: 'ENOBUFS (its queue is full)',
};

export const errnoText = (errno: number): string => ERRNO[errno] ?? `errno ${errno}`;

let loaded: Promise<BusLibc> | undefined;

export function loadBusLibc(): Promise<BusLibc> {
  loaded ??= bindAll();
  return loaded;
}

async function bindAll(): Promise<BusLibc> {
  const { calls, koffi } = await bindLibc<BusCalls>(
    SIGNATURES,
    'SocketCAN and pseudo-terminals require 64-bit Linux and the optional package koffi (`npm install koffi`).',
  );
  return { ...calls, errno: () => koffi.errno() };
}
