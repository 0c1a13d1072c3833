import { bindLibc, type Pointer } from '../../native/libc.ts';
import { SYSCALL_SIGNATURE, type Syscall } from '../../native/short-slice.ts';

/** The calls a control thread makes, bound once per thread. */
interface LibcCalls {
  socket(domain: number, type: number, protocol: number): number;
  bind(fd: number, address: Pointer, length: number): number;
  getsockname(fd: number, address: Pointer, length: Pointer): number;
  setsockopt(fd: number, level: number, name: number, value: Pointer, length: number): number;
  ppoll(fds: Pointer, count: number, timeout: Pointer, mask: Pointer): number;
  recvmmsg(fd: number, headers: Pointer, count: number, flags: number, timeout: Pointer): number;
  sendto(fd: number, bytes: Pointer, length: number, flags: number, to: Pointer, toLength: number): number;
  clock_gettime(id: number, time: Pointer): number;
  prctl(option: number, a: number, b: number, c: number, d: number): number;
  close(fd: number): number;
  open(file: string, flags: number): number;
  ioctl(fd: number, request: number, argument: Pointer): number;
  read(fd: number, bytes: Pointer, length: number): number;
  write(fd: number, bytes: Pointer, length: number): number;
  /** Pass 0 for the calling thread. */
  sched_setscheduler(pid: number, policy: number, param: Pointer): number;
  mlock(memory: Pointer, length: number): number;
  syscall: Syscall;
}

export interface Libc extends LibcCalls {
  /** Address of memory that does not move: never pass a pooled Buffer. */
  address(bytes: Uint8Array): bigint;
  errnoName(): string;
}

const SIGNATURES = {
  socket: 'int socket(int, int, int)',
  bind: 'int bind(int, void *, uint32_t)',
  getsockname: 'int getsockname(int, void *, void *)',
  setsockopt: 'int setsockopt(int, int, int, void *, uint32_t)',
  ppoll: 'int ppoll(void *, uint64_t, void *, void *)',
  recvmmsg: 'int recvmmsg(int, void *, uint32_t, int, void *)',
  sendto: 'int64_t sendto(int, void *, uint64_t, int, void *, uint32_t)',
  clock_gettime: 'int clock_gettime(int, void *)',
  prctl: 'int prctl(int, uint64_t, uint64_t, uint64_t, uint64_t)',
  close: 'int close(int)',
  open: 'int open(const char *, int)',
  ioctl: 'int ioctl(int, uint64_t, void *)',
  read: 'int64_t read(int, void *, uint64_t)',
  write: 'int64_t write(int, void *, uint64_t)',
  sched_setscheduler: 'int sched_setscheduler(int, int, void *)',
  mlock: 'int mlock(void *, uint64_t)',
  syscall: SYSCALL_SIGNATURE,
};

const ERRNO: Record<number, string> = {
  1: 'EPERM',
  2: 'ENOENT',
  13: 'EACCES',
  16: 'EBUSY',
  24: 'EMFILE',
  98: 'EADDRINUSE',
  99: 'EADDRNOTAVAIL',
};

/** Throws `native-unavailable` where FFI or the platform is missing; the caller falls back to `dgram`. */
export async function loadLibc(): Promise<Libc> {
  const { calls, koffi } = await bindLibc<LibcCalls>(
    SIGNATURES,
    'Use `link.reactor=dgram`: everything works, without kernel receive stamps and DSCP marking.',
  );
  return {
    ...calls,
    address: (bytes) => BigInt(koffi.address(bytes) as unknown as bigint),
    errnoName: () => ERRNO[koffi.errno()] ?? `errno ${koffi.errno()}`,
  };
}

const BIND_TRIES = 5;

/**
 * Binds a socket; returns '' or the errno's name. The engine may change errno between two calls (its own
 * threads, garbage collection), so a failed bind is repeated until two tries in a row give the same name.
 */
export function bindSocket(libc: Libc, fd: number, address: Uint8Array): string {
  let last = '';
  for (let tries = 0; tries < BIND_TRIES; tries++) {
    if (libc.bind(fd, address, address.length) === 0) return '';
    const name = libc.errnoName();
    if (name === last) return name;
    last = name;
  }
  return last;
}
