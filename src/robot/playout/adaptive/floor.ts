import { NS_PER_MS } from '../../../core/time/clock.ts';

const BUCKETS = 16;

/**
 * Least apparent delay of late (of the last 16 commands where they are rarer): what the path takes without the
 * queues of the moment, whatever the clocks say. Short enough, it climbs with a standing queue. Hot path.
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

  /** As if it had been `valueNs` all along; Infinity when nothing is known. */
  fill(valueNs: number): void {
    this.#least.fill(valueNs);
    this.#sinceNs = Number.NEGATIVE_INFINITY;
    this.valueNs = Number.isFinite(valueNs) ? valueNs : Number.NaN;
  }
}
