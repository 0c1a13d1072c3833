import { collectGarbage } from '../native/garbage.ts';

/** Few enough that no garbage collection happens while they are counted. */
const CALLS = 5000;
const ROUNDS = 50;

/**
 * Bytes of garbage per call, once the compiler is done with it: the least of several rounds that is not above `enough`. The
 * compiler works in the background, and on a busy machine that takes longer.
 */
export function garbagePerCall(call: () => void, enough: number): number {
  const round = (): number => {
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < CALLS; i++) call();
    return (process.memoryUsage().heapUsed - before) / CALLS;
  };
  let least = round();
  for (let i = 0; i < ROUNDS && least > enough; i++) least = Math.min(least, round());
  return Math.max(0, least);
}
