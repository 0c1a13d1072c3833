import type { InputDevice } from '../input/device.ts';
import { emptyHandSample } from '../messages/hand-sample.ts';

interface Standby {
  name: string;
  device: InputDevice;
  stream: number;
  /** It has no clutch: a visible hand counts as a closed one, so it takes over only on request. */
  clutchless: boolean;
  /** Its clutch was seen open, in a fresh sample of a tracked hand from the same sender. */
  seenOpen: boolean;
}

/**
 * Watches the people's inputs while a policy drives: whoever closes a clutch takes over. A hand without a clutch takes over
 * only by a request made while it is visible: a hand that comes into view, or a leader arm that someone touches, does not.
 * Hot path: nothing allocates.
 */
export class TakeOver {
  readonly #standby: Standby[];
  readonly #sample = emptyHandSample();
  /** The input of the policy that a person has interrupted; null: none. */
  interrupted: string | null = null;

  /** A person requested that the visible hand without a clutch drives; counts for one call of `watch`. */
  isRequested = false;

  /** `people`: the inputs that a person holds. */
  constructor(people: Iterable<{ name: string; device: InputDevice; clutchless: boolean }>) {
    this.#standby = Array.from(people, (each) => ({ ...each, stream: 0, seenOpen: false }));
  }

  get hasClutchless(): boolean {
    return this.#standby.some(({ clutchless }) => clutchless);
  }

  /** The input whose clutch was closed since the last call, or that was requested; null: none. */
  watch(nowNs: number): string | null {
    let taker: string | null = null;
    for (const each of this.#standby) {
      const { stream = 0 } = each.device;
      if (stream !== each.stream) each.seenOpen = false;
      each.stream = stream;
      const isSeen = each.device.sample(nowNs, this.#sample) === 'ok' && this.#sample.tracking;
      if (each.clutchless) each.seenOpen = this.isRequested;
      else if (!isSeen) each.seenOpen = false;
      else if (!this.#sample.clutch) each.seenOpen = true;
      if (isSeen && this.#sample.clutch && each.seenOpen) taker ??= each.name;
    }
    this.isRequested = false;
    return taker;
  }

  /** What was seen so far no longer counts: a clutch must be opened, then closed. */
  forget(): void {
    for (const each of this.#standby) each.seenOpen = false;
  }
}
