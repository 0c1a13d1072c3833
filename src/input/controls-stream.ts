import type { Reason } from '../core/counters.ts';
import type { SampleStatus } from '../messages/hand-sample.ts';
import { type Controls, decodeControls, emptyControls } from './codecs/controls-codec.ts';
import { SourceLock } from './source-lock.ts';

/** The newest state of a device with buttons and axes, from one sender at a time. Hot path. */
export class ControlsStream {
  readonly #staleNs: number;
  readonly #source = new SourceLock([]);
  #newest = emptyControls();
  #next = emptyControls();
  takenNs = Number.NEGATIVE_INFINITY;
  /** Increases with every new sender, see `InputDevice`. */
  stream = 0;

  constructor(staleAfterMs: number) {
    this.#staleNs = staleAfterMs * 1e6;
  }

  get controls(): Controls {
    return this.#newest;
  }

  /** A rejected message changes nothing. */
  take(bytes: Uint8Array, length: number, receivedNs: number, from: number): Reason | null {
    if (!decodeControls(bytes, length, this.#next)) return 'malformed';
    const source = this.#source.admit(from, receivedNs);
    if (source === 'rejected') return 'unknown-source';
    if (source === 'new') this.stream++;
    const newest = this.#next;
    this.#next = this.#newest;
    this.#newest = newest;
    this.takenNs = receivedNs;
    return null;
  }

  status(nowNs: number): SampleStatus {
    if (nowNs - this.takenNs <= this.#staleNs) return 'ok';
    return this.takenNs === Number.NEGATIVE_INFINITY ? 'none' : 'stale';
  }

  sender(nowNs: number): number {
    return this.#source.holder(nowNs);
  }
}
