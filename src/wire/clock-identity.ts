import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import type { SharedClock } from './shared-clock.ts';

/**
 * Names this process's monotonic clock, so that two processes can find out that they share it: the boot of the kernel
 * and the time namespace, hashed. Empty where that is unknown.
 */
function clockIdentity(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const zone = readlinkSync('/proc/self/ns/time');
    return createHash('sha256').update(`farhand clock ${boot} ${zone}`).digest('hex').slice(0, 16);
  } catch {
    return '';
  }
}

/** `source`: a reactor that may know the wall time. */
export const sharedClock = (source: { wallUs?(): number }): SharedClock => ({
  id: clockIdentity(),
  wallUs: () => source.wallUs?.() ?? Number.NaN,
});
