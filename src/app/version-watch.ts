import { Counters } from '../core/counters.ts';
import { SEAL_VERSION } from '../wire/secure/tags.ts';

const PERIOD_MS = 500;

const OTHER_VERSION = `the other end of the link runs another version of Farhand (this one seals by version ${SEAL_VERSION}): update both ends to the same release`;

/** Says once that a peer speaks another version of the sealed link; nothing else would show why it does not connect. */
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
