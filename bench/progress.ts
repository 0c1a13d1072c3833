import { interruption } from './interrupt.ts';

/** Without a terminal, a long phase prints a line once a minute. */
const LOG_PERIOD_MS = 60_000;

/** One line per phase on stderr, with the time the bench still needs. */
export class Progress {
  readonly #phases: number;
  #leftS: number;
  #done = 0;

  constructor(phases: number, totalS: number) {
    this.#phases = phases;
    this.#leftS = totalS;
  }

  /** Runs a phase that should take `seconds`. On a terminal the line counts down. */
  async during<T>(label: string, seconds: number, work: () => Promise<T>): Promise<T> {
    const startedMs = performance.now();
    const head = `[${++this.#done}/${this.#phases}] ${label}`;
    const left = () => Math.max(0, this.#leftS - (performance.now() - startedMs) / 1000);
    const line = () => `${head}: ${Math.round(seconds)} s, ${timeText(left())} left in total`;
    const live = process.stderr.isTTY;
    process.stderr.write(live ? line() : `${line()}\n`);
    const tick = () => process.stderr.write(live ? `\r\x1b[K${line()}` : `${line()}\n`);
    const timer = setInterval(tick, live ? 1000 : LOG_PERIOD_MS);
    try {
      const result = await work();
      interruption.throwIfAborted();
      return result;
    } finally {
      clearInterval(timer);
      if (live) process.stderr.write(`\r\x1b[K${head}: done\n`);
      this.#leftS -= seconds;
    }
  }
}

export function timeText(seconds: number): string {
  const whole = Math.round(seconds);
  return whole < 90 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
