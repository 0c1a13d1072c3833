export type Role = 'operator' | 'robot';

/** Requests between the threads of a role: [stop now, wind down, rows wanted by a recorder, e-stop, lease over]. */
export interface Flags {
  flags: SharedArrayBuffer;
}

export const FLAG_BYTES = 20;

/** A view on one flag, for `Atomics`. */
export const stopFlag = (memory: Flags): Int32Array => new Int32Array(memory.flags, 0, 1);
export const windDownFlag = (memory: Flags): Int32Array => new Int32Array(memory.flags, 4, 1);
export const recorderFlag = (memory: Flags): Int32Array => new Int32Array(memory.flags, 8, 1);
/** Robot: somebody stops it by another way than the link. Operator: its e-stop is to leave by other ways too. */
export const estopFlag = (memory: Flags): Int32Array => new Int32Array(memory.flags, 12, 1);
/** Robot: who drives it may not any more. */
export const leaseOverFlag = (memory: Flags): Int32Array => new Int32Array(memory.flags, 16, 1);
