import type { InputDevice } from '../input/device.ts';
import { emptyHandSample } from '../messages/hand-sample.ts';

interface Standby {
  name: string;
  device: InputDevice;
  stream: number;
  /** Its clutch was seen open, in a fresh sample of a tracked hand from the same sender. */
  seenOpen: boolean;
}

/** Watches the people's inputs while a policy drives: whoever closes a clutch takes over. Hot path: nothing allocates. */
export class TakeOver {
  readonly #standby: Standby[];
  readonly #sample = emptyHandSample();
  /** The input of the policy that a person has interrupted; null: none. */
  interrupted: string | null = null;

  /** `people`: the inputs with a clutch that a person holds. */
  constructor(people: Iterable<[string, InputDevice]>) {
    this.#standby = Array.from(people, ([name, device]) => ({ name, device, stream: 0, seenOpen: false }));
  }

  /** The input whose clutch was closed since the last call; null: none. */
  watch(nowNs: number): string | null {
    let taker: string | null = null;
    for (const each of this.#standby) {
      const { stream = 0 } = each.device;
      if (stream !== each.stream) each.seenOpen = false;
      each.stream = stream;
      const isSeen = each.device.sample(nowNs, this.#sample) === 'ok' && this.#sample.tracking;
      if (!isSeen) each.seenOpen = false;
      else if (!this.#sample.clutch) each.seenOpen = true;
      else if (each.seenOpen) taker ??= each.name;
    }
    return taker;
  }

  /** What was seen so far no longer counts: a clutch must be opened, then closed. */
  forget(): void {
    for (const each of this.#standby) each.seenOpen = false;
  }
}
