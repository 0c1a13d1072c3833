import { Counters } from '../core/counters.ts';
import { SEAL_VERSION } from '../wire/secure/tags.ts';

const PERIOD_MS = 500;

const OTHER_VERSION = `the other end of the link may run another version of Farhand (this one uses seal version ${SEAL_VERSION}): update both ends to the same release`;

/**
 * Reports once that a paired peer used another version of the sealed link: nothing else would show why it does not connect.
 * Only authentic handshakes count as `other-version`, so a stranger cannot cause the report.
 */
export function watchVersion(memory: SharedArrayBuffer, say: (text: string) => void): { close(): void } {
  const counters = new Counters(memory);
  const timer = setInterval(() => {
    if (counters.get('other-version') === 0) return;
    say(OTHER_VERSION);
    clearInterval(timer);
  }, PERIOD_MS);
  timer.unref();
  return { close: () => clearInterval(timer) };
}
