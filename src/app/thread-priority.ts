import os from 'node:os';

const NICE = 10;

/**
 * Lets this thread, and what it starts from now on, give way to the control thread where they share a core. On Linux a
 * priority belongs to a thread; elsewhere nothing is done. Not for a thread on which a deadline hangs.
 */
export function lowerPriority(): void {
  if (process.platform === 'linux') os.setPriority(0, NICE);
}
