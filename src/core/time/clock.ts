/**
 * Monotonic time in nanoseconds as a plain number (exact for 104 days of uptime, 2 ns steps beyond).
 * On Linux this is CLOCK_MONOTONIC, so stamps of two processes on one machine are comparable.
 */
export interface Clock {
  nowNs(): number;
}

interface HrtimeHost {
  process?: { hrtime?: () => [seconds: number, ns: number] };
}

const hrtime = (globalThis as HrtimeHost).process?.hrtime;

/** Not `hrtime.bigint`, which allocates; the pair does not exist once this is compiled. */
function hrtimeNs(): number {
  const pair = hrtime!();
  return pair[0] * 1e9 + pair[1];
}

export const monotonicClock: Clock = hrtime ? { nowNs: hrtimeNs } : { nowNs: () => performance.now() * 1e6 };

/** A clock that moves only on request: replay, simulation, tests. */
export class ManualClock implements Clock {
  #nowNs = 0;

  constructor(startNs = 1e9) {
    this.#nowNs = startNs;
  }

  nowNs(): number {
    return this.#nowNs;
  }

  advanceTo(nowNs: number): void {
    if (nowNs > this.#nowNs) this.#nowNs = nowNs;
  }

  advanceBy(deltaNs: number): void {
    this.advanceTo(this.#nowNs + deltaNs);
  }
}

export const NS_PER_S = 1e9;
export const NS_PER_MS = 1e6;
