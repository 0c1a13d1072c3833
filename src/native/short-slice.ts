import { readdirSync } from 'node:fs';
import { bindLibc, type Pointer } from './libc.ts';

/** sched_setattr and sched_getattr. */
const NUMBERS: Partial<Record<string, [set: number, get: number]>> = {
  x64: [314, 315],
  arm64: [274, 275],
  riscv64: [274, 275],
  loong64: [274, 275],
};
const ATTR_BYTES = 56;
const SCHED_OTHER = 0;
const SCHED_BATCH = 3;
const POLICY_AT = 4;
const RUNTIME_AT = 24;
const SLICE_NS = 100_000n;
const THIS_THREAD = 0;

/** `syscall` of the C library, with as many arguments as are needed here. */
export const SYSCALL_SIGNATURE = 'int64_t syscall(int64_t, int64_t, void *, uint64_t, uint64_t)';
export type Syscall = (number: number, pid: number, attr: Pointer, a: number, b: number) => number;

/** The kernel's `sched_attr` of a thread. */
class SchedulingOf {
  readonly #bytes = new Uint8Array(new ArrayBuffer(ATTR_BYTES));
  readonly attr = new DataView(this.#bytes.buffer);
  readonly #syscall: Syscall;
  readonly #thread: number;

  constructor(syscall: Syscall, thread: number) {
    [this.#syscall, this.#thread] = [syscall, thread];
  }

  read(): boolean {
    const [, get] = NUMBERS[process.arch] ?? [];
    return get !== undefined && this.#syscall(get, this.#thread, this.#bytes, ATTR_BYTES, 0) === 0;
  }

  /** The nice value and the rest stay as they were read. */
  write(): boolean {
    const [set] = NUMBERS[process.arch] ?? [];
    this.attr.setUint32(0, ATTR_BYTES, true);
    return set !== undefined && this.#syscall(set, this.#thread, this.#bytes, 0, 0) === 0;
  }

  get policy(): number {
    return this.attr.getUint32(POLICY_AT, true);
  }

  set policy(policy: number) {
    this.attr.setUint32(POLICY_AT, policy, true);
  }

  get isShort(): boolean {
    return this.attr.getBigUint64(RUNTIME_AT, true) === SLICE_NS;
  }
}

/**
 * Asks the scheduler for a time slice of 0.1 ms for this thread: when it wakes up it then preempts one that runs with
 * the usual 3 ms, instead of waiting for the end of that. Linux 6.12 or newer; needs no privilege. Returns what to
 * report: empty if it has no effect.
 */
export function shortSlice(syscall: Syscall): string {
  const own = new SchedulingOf(syscall, THIS_THREAD);
  if (!own.read()) return '';
  // Someone else's choice, such as SCHED_IDLE, stays. A thread of a process whose other threads give way inherits that.
  if (own.policy !== SCHED_OTHER && own.policy !== SCHED_BATCH) return '';
  own.policy = SCHED_OTHER;
  own.attr.setBigUint64(RUNTIME_AT, SLICE_NS, true);
  // Older kernels accept the call and ignore the slice.
  return own.write() && own.read() && own.isShort ? '0.1 ms slice' : '';
}

/**
 * All threads of this process without a short slice (V8's compiler and garbage collector, the main thread, writers of files) no longer
 * preempt others when they wake up: one that this thread woke took its processor in the middle of a command, for up to 5 ms. They
 * keep their share of the processors.
 */
export function letOthersGiveWay(syscall: Syscall): void {
  const own = new SchedulingOf(syscall, THIS_THREAD);
  // Without short slices the threads of the path cannot be told from the others.
  if (!own.read() || !own.isShort) return;
  for (const name of readdirSync('/proc/self/task')) {
    const thread = new SchedulingOf(syscall, Number(name));
    if (!thread.read() || thread.policy !== SCHED_OTHER || thread.isShort) continue;
    thread.policy = SCHED_BATCH;
    thread.write();
  }
}

/** A short slice for a thread without native sockets; empty where native calls are not available. */
export const requestShortSlice = (): Promise<string> => natively(shortSlice, '');

/** Once a process has its threads: those that are started later inherit it from the one that starts them. */
export const askOthersToGiveWay = (): Promise<void> => natively(letOthersGiveWay, undefined);

async function natively<T>(act: (syscall: Syscall) => T, otherwise: T): Promise<T> {
  try {
    const { calls } = await bindLibc<{ syscall: Syscall }>({ syscall: SYSCALL_SIGNATURE }, '');
    return act(calls.syscall);
  } catch {
    return otherwise;
  }
}
