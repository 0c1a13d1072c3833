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
    const line = () => `${head}: ${Math.round(seconds)} s, ${timeText(left())} left in all`;
    const live = process.stderr.isTTY;
    process.stderr.write(live ? line() : `${line()}\n`);
    const timer = live ? setInterval(() => process.stderr.write(`\r\x1b[K${line()}`), 1000) : null;
    try {
      return await work();
    } finally {
      if (timer) {
        clearInterval(timer);
        process.stderr.write(`\r\x1b[K${head}: done\n`);
      }
      this.#leftS -= seconds;
    }
  }
}

export function timeText(seconds: number): string {
  const whole = Math.round(seconds);
  return whole < 90 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
