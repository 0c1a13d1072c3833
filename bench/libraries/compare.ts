import { monotonicClock } from '../../src/core/time/clock.ts';
import { collectGarbage } from '../../src/native/garbage.ts';

export interface Comparison {
  what: string;
  oursUs: number;
  libraryUs: number;
  /** Per call: objects and array buffers. */
  oursBytes: number;
  libraryBytes: number;
}

type Work = () => unknown;

const TURNS = 60;
const WARM_UP_MS = 300;

/** Time per call in the quietest turn, and median allocation per call. The two take turns, under the same conditions. */
export async function compare(what: string, calls: number, ours: Work, library: Work): Promise<Comparison> {
  const took: [number[], number[]] = [[], []];
  const grew: [number[], number[]] = [[], []];
  for (const work of [ours, library]) {
    const untilNs = monotonicClock.nowNs() + WARM_UP_MS * 1e6;
    while (monotonicClock.nowNs() < untilNs) await work();
  }
  for (let turn = 0; turn < TURNS; turn++)
    for (const [i, work] of [ours, library].entries()) {
      const { us, bytes } = await measure(work, calls);
      took[i]!.push(us);
      grew[i]!.push(bytes);
    }
  return {
    what,
    oursUs: Math.min(...took[0]),
    libraryUs: Math.min(...took[1]),
    oursBytes: median(grew[0]),
    libraryBytes: median(grew[1]),
  };
}

async function measure(work: Work, calls: number): Promise<{ us: number; bytes: number }> {
  collectGarbage();
  const beforeBytes = heldBytes();
  const beforeNs = monotonicClock.nowNs();
  for (let i = 0; i < calls; i++) {
    const result = work();
    if (result instanceof Promise) await result;
  }
  const us = (monotonicClock.nowNs() - beforeNs) / 1e3 / calls;
  return { us, bytes: Math.max(0, heldBytes() - beforeBytes) / calls };
}

function heldBytes(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!;
}

export const comparisonText = ({ what, ...figures }: Comparison): string => {
  const { oursUs, libraryUs, oursBytes, libraryBytes } = figures;
  return `${what.padEnd(42)} ours ${oursUs.toFixed(2)} µs, ${oursBytes.toFixed(0)} B; library ${libraryUs.toFixed(2)} µs, ${libraryBytes.toFixed(0)} B; library/ours ${(libraryUs / oursUs).toFixed(2)}`;
};
