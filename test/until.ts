import { setTimeout as sleep } from 'node:timers/promises';

const FIRST_LOOK_MS = 10;
/** A look at a page costs several milliseconds in the browser and here: the longer it takes, the less often. */
const LAST_LOOK_MS = 100;
const SLOWER = 1.3;

/** Waits for a condition; on timeout fails with `what` and the text from `about`. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  about: () => unknown = () => '',
  timeoutMs = 50_000,
): Promise<void> {
  const endMs = performance.now() + timeoutMs;
  for (let lookMs = FIRST_LOOK_MS; !(await holds()); lookMs = Math.min(LAST_LOOK_MS, SLOWER * lookMs)) {
    if (performance.now() > endMs) throw new Error(`${what} not within ${timeoutMs} ms: ${await about()}`);
    await sleep(lookMs);
  }
}
