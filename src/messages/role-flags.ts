export type Role = 'operator' | 'robot';

/** Requests between the threads of a role: [stop now, wind down, rows wanted by a recorder, e-stop, lease over, driven arm]. */
export interface Flags {
  flags: SharedArrayBuffer;
}

export const FLAG_BYTES = 24;

/** A view of one flag, for `Atomics`. */
export const stopFlag = (memory: Flags): Int32Array => new Int32Array(memory.flags, 0, 1);
export const windDownFlag = (memory: Flags): Int32Array => new Int32Array(memory.flags, 4, 1);
export const recorderFlag = (memory: Flags): Int32Array => new Int32Array(memory.flags, 8, 1);
/** Robot: stopped by a route other than the link. Operator: its e-stop must also leave by other routes. */
export const estopFlag = (memory: Flags): Int32Array => new Int32Array(memory.flags, 12, 1);
/** Robot: its driver's lease is over. */
export const leaseOverFlag = (memory: Flags): Int32Array => new Int32Array(memory.flags, 16, 1);
/** Operator of two arms: index of the one that the page's hand drives. */
export const drivenFlag = (memory: Flags): Int32Array => new Int32Array(memory.flags, 20, 1);
