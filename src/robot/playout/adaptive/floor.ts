import { NS_PER_MS } from '../../../core/clock.ts';

const BUCKETS = 16;
const BUCKET_NS = 10 * NS_PER_MS;

/**
 * Least apparent delay of the last 160 ms (of the last 16 commands where they are rarer): what the path takes
 * without queues, whatever the clocks say. Short enough to climb with a standing queue. Hot path.
 */
export class Floor {
  readonly #least = new Float64Array(BUCKETS).fill(Number.POSITIVE_INFINITY);
  #index = 0;
  #sinceNs = Number.NEGATIVE_INFINITY;
  valueNs = Number.NaN;

  add(atNs: number, apparentNs: number): number {
    const least = this.#least;
    if (atNs - this.#sinceNs >= BUCKET_NS) {
      this.#index = (this.#index + 1) % BUCKETS;
      this.#sinceNs = atNs;
      least[this.#index] = apparentNs;
    } else if (apparentNs < least[this.#index]!) least[this.#index] = apparentNs;
    let valueNs = least[0]!;
    for (let i = 1; i < BUCKETS; i++) if (least[i]! < valueNs) valueNs = least[i]!;
    this.valueNs = valueNs;
    return valueNs;
  }

  /** As if it had been `valueNs` all along; Infinity when nothing is known. */
  fill(valueNs: number): void {
    this.#least.fill(valueNs);
    this.#sinceNs = Number.NEGATIVE_INFINITY;
    this.valueNs = Number.isFinite(valueNs) ? valueNs : Number.NaN;
  }
}
