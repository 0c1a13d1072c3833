/** What the three threads of the bench share: the tick, and the stamps of each cycle. */
export interface PiperBenchData {
  link: string;
  cycles: number;
  warmUpCycles: number;
  flags: SharedArrayBuffer;
  stamps: SharedArrayBuffer;
}

export const PERIOD_NS = 5e6;
/** Indices of the flags. */
export const TICK = 0;
export const END = 1;
/**
 * Indices of a cycle's stamps: due, ticker awake, driver called, frames passed to the kernel, frames on the bus.
 */
export const STAMPS = 5;
export const [DUE, AWAKE, CALLED, HANDED, ON_BUS] = [0, 1, 2, 3, 4] as const;
/** A cycle's number is sent as millidegrees of joint 6. */
export const NUMBERS = 1000;

export const flagsOf = (data: PiperBenchData): Int32Array => new Int32Array(data.flags);
export const stampsOf = (data: PiperBenchData): Float64Array => new Float64Array(data.stamps);
