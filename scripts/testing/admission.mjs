// Decides which file of the second tier may start beside those that run. Most of them wait more than they compute:
// by the cores that each kept busy when it was last measured, more of them fit than there are cores.

/** A file that was never measured counts as one that computes all the time. */
const UNKNOWN = 1;
/** Starts of processes come in bursts: leave room for them. */
const FILLED = 0.75;
/** Even files that only wait start processes. */
const FILES_PER_CORE = 2;

/** Cores that a file keeps busy on average. */
export const shareOf = (cost) => (cost === undefined ? UNKNOWN : cost.cpuMs / Math.max(1, cost.ms));

/**
 * `file`, `running`: { share, hasBrowser, hasDeadlines }. A file always starts beside none. Where a device must reply in
 * time, at most one file per core runs, as for files that were never measured. A browser that renders in software fills a
 * core: beside another one on two cores a page's test took four times as long as alone, so half the cores draw.
 */
export function admits(file, running, cores) {
  if (running.length === 0) return true;
  const all = [...running, file];
  const isTight = all.some(({ hasDeadlines }) => hasDeadlines);
  if (all.length > cores * (isTight ? 1 : FILES_PER_CORE)) return false;
  if (all.filter(({ hasBrowser }) => hasBrowser).length > Math.ceil(cores / 2)) return false;
  if (all.length <= cores) return true;
  return all.reduce((sum, { share }) => sum + share, 0) <= cores * FILLED;
}

/** Runs all of them, each as soon as it is admitted; those first in the list go first. */
export async function runAdmitted(files, cores, run) {
  const [waiting, running] = [[...files], new Map()];
  while (waiting.length > 0 || running.size > 0) {
    const next = waiting.findIndex((file) => admits(file, [...running.keys()], cores));
    if (next < 0) {
      await Promise.race(running.values());
      continue;
    }
    const [file] = waiting.splice(next, 1);
    running.set(
      file,
      run(file).finally(() => running.delete(file)),
    );
  }
}
