import os from 'node:os';

const NICE = 10;

/**
 * Makes this thread, and threads it starts from now on, yield to the control thread when they share a core.
 * Linux only, where each thread has its own priority. Not for a thread with a deadline.
 */
export function lowerPriority(): void {
  if (process.platform === 'linux') os.setPriority(0, NICE);
}
