import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options?: { type: 'minor' | 'major' }) => void;

/** Often enough that a control thread's garbage, about 0.2 MB a second at 100 Hz, does not fill 1 MB in between. */
const EVERY_NS = 3e9;
/** Several times what a collection takes. */
const LEAST_REST_NS = 2e6;
const YOUNG = { type: 'minor' } as const;

let found: Collect | undefined;

function collect(): Collect {
  if (found !== undefined) return found;
  setFlagsFromString('--expose-gc');
  found = runInNewContext('gc') as Collect;
  return found;
}

/** All of this thread's garbage, now. */
export const collectGarbage = (): void => collect()();

/** Collects a loop's garbage while it waits, so that V8 need not do it in the middle of a command. */
export class IdleCollection {
  readonly #collect = collect();
  #nextNs = 0;

  /** Before a wait of `waitNs`. True if time was spent. */
  rest(nowNs: number, waitNs: number): boolean {
    if (waitNs < LEAST_REST_NS || nowNs < this.#nextNs) return false;
    this.#nextNs = nowNs + EVERY_NS;
    this.#collect(YOUNG);
    return true;
  }
}
