import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_MS = 10;

/** Waits for a condition; on timeout fails with `what` and the text from `about`. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  about: () => unknown = () => '',
  timeoutMs = 50_000,
): Promise<void> {
  for (const endMs = performance.now() + timeoutMs; !(await holds()); await sleep(LOOK_MS))
    if (performance.now() > endMs) throw new Error(`${what} not within ${timeoutMs} ms: ${await about()}`);
}
