import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_MS = 10;

/** Waits for something to become true; fails with `what` and what `about` knows when it does not in time. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  about: () => unknown = () => '',
  timeoutMs = 30_000,
): Promise<void> {
  for (const endMs = performance.now() + timeoutMs; !(await holds()); await sleep(LOOK_MS))
    if (performance.now() > endMs) throw new Error(`${what} not within ${timeoutMs} ms: ${await about()}`);
}
