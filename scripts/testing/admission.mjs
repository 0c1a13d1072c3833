// Decides which file of the second tier may start beside those that run.

/**
 * `file`, `running`: { hasBrowser, isBackground, isLight }. One file per core: with more, devices that must reply in time were
 * starved. A browser that renders in software fills a core, and beside another one on two cores a page's test took four times as
 * long as alone: they get half the cores. Beside those, one that mostly waits may run, and one in the background, on what the
 * others leave.
 */
export function admits(file, running, cores) {
  const alone = (isOfKind) => running.every((other) => !isOfKind(other));
  if (file.isBackground) return alone((other) => other.isBackground) || running.length < cores;
  if (file.isLight) return alone((other) => other.isLight);
  const ahead = running.filter(({ isBackground, isLight }) => !isBackground && !isLight);
  const browsers = ahead.filter(({ hasBrowser }) => hasBrowser).length;
  return ahead.length < cores && !(file.hasBrowser && browsers >= Math.ceil(cores / 2));
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
