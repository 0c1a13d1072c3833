import { NS_PER_MS } from '../../../core/time/clock.ts';

const BUCKETS = 16;

/**
 * Smallest recent apparent delay (of the last 16 commands if they are rarer): the path's delay without
 * momentary queues, plus the clock error. The window is short enough to rise with a standing queue. Hot path.
 */
export class Floor {
  readonly #bucketNs: number;
  readonly #least = new Float64Array(BUCKETS).fill(Number.POSITIVE_INFINITY);
  #index = 0;
  #sinceNs = Number.NEGATIVE_INFINITY;
  valueNs = Number.NaN;

  constructor(floorMs: number) {
    this.#bucketNs = (floorMs * NS_PER_MS) / BUCKETS;
  }

  add(atNs: number, apparentNs: number): number {
    const least = this.#least;
    if (atNs - this.#sinceNs >= this.#bucketNs) {
      this.#index = (this.#index + 1) % BUCKETS;
      this.#sinceNs = atNs;
      least[this.#index] = apparentNs;
    } else if (apparentNs < least[this.#index]!) least[this.#index] = apparentNs;
    let valueNs = least[0]!;
    for (let i = 1; i < BUCKETS; i++) if (least[i]! < valueNs) valueNs = least[i]!;
    this.valueNs = valueNs;
    return valueNs;
  }

  /** Sets the whole history to `valueNs`; Infinity if nothing is known. */
  fill(valueNs: number): void {
    this.#least.fill(valueNs);
    this.#sinceNs = Number.NEGATIVE_INFINITY;
    this.valueNs = Number.isFinite(valueNs) ? valueNs : Number.NaN;
  }
}
