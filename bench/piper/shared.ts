/** What the three threads of the bench share: the tick, and the stamps of each cycle. */
export interface PiperBenchData {
  link: string;
  cycles: number;
  warmUpCycles: number;
  flags: SharedArrayBuffer;
  stamps: SharedArrayBuffer;
}

export const PERIOD_NS = 5e6;
/** Of the flags. */
export const TICK = 0;
export const END = 1;
/**
 * Of a cycle's stamps: when it was due, when the ticker was awake, when the driver was called, when it had handed its
 * frames to the kernel, when they were on the bus.
 */
export const STAMPS = 5;
export const [DUE, AWAKE, CALLED, HANDED, ON_BUS] = [0, 1, 2, 3, 4] as const;
/** A cycle's number travels in joint 6 as millidegrees. */
export const NUMBERS = 1000;

export const flagsOf = (data: PiperBenchData): Int32Array => new Int32Array(data.flags);
export const stampsOf = (data: PiperBenchData): Float64Array => new Float64Array(data.stamps);
