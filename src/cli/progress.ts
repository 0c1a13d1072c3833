const PERIOD_MS = 200;

/** A progress bar on stderr; silent for short tasks and without a terminal. */
export function progressLine(label: string): {
  update: (done: number, total: number) => void;
  done: () => void;
} {
  const startedMs = performance.now();
  let shownMs = startedMs;
  let shown = false;
  return {
    update(done, total) {
      const nowMs = performance.now();
      if (!process.stderr.isTTY || nowMs - shownMs < PERIOD_MS || nowMs - startedMs < 2 * PERIOD_MS) return;
      shownMs = nowMs;
      shown = true;
      const percent = total > 0 ? Math.floor((100 * done) / total) : 100;
      process.stderr.write(`\r${label} ${'█'.repeat(percent / 5).padEnd(20, '░')} ${percent} %`);
    },
    done() {
      if (shown) process.stderr.write('\r\x1b[K');
    },
  };
}
