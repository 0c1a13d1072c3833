import { NS_PER_MS, NS_PER_S } from '../../core/time/clock.ts';
import type { PlayoutPolicy } from './playout-policy.ts';
import { warpElapsedNs, warpTowards } from './warp.ts';

const BUCKET_NS = 20 * NS_PER_MS;
const BUCKETS = 100;
const QUANTILE = 0.95;
const FORGET = 0.983;
const START_WEIGHT = 2;
const START_NS = 80 * NS_PER_MS;
const PERIOD_NS = NS_PER_S / 2;
/** Half-second slots of the last two seconds. */
const SLOTS = 4;

/**
 * The delay manager of WebRTC's NetEQ for a continuous stream: the longest relative delay of each half second
 * goes into a decaying histogram, whose quantile is the target. The delay moves only outside a dead zone
 * above it. Omits NetEQ's reordering optimizer and pitch-period splicing. A baseline.
 */
export class NeteqPolicy implements PlayoutPolicy {
  readonly name = 'neteq';
  readonly #histogram = new Float64Array(BUCKETS);
  readonly #least = new Float64Array(SLOTS).fill(Number.POSITIVE_INFINITY);
  readonly #most = new Float64Array(SLOTS);
  #slot = 0;
  #slotEndsNs = Number.NaN;
  #added = 0;
  #targetNs = START_NS;
  #playNs = 0;
  #newestNs = 0;
  #floorNs = Number.NaN;

  get delayNs(): number {
    return Number.isNaN(this.#floorNs) ? Number.NaN : this.#playNs;
  }

  get floorNs(): number {
    return this.#floorNs;
  }

  get needNs(): number {
    return this.#targetNs;
  }

  restart(): void {
    this.#slotEndsNs = Number.NaN;
  }

  schedule(sampledRobotNs: number, receivedNs: number): number {
    const transitNs = receivedNs - sampledRobotNs;
    if (!Number.isFinite(transitNs)) return receivedNs + this.#targetNs;
    if (Number.isNaN(this.#slotEndsNs)) this.#begin(sampledRobotNs, transitNs);
    if (sampledRobotNs >= this.#slotEndsNs) this.#closeSlot(sampledRobotNs);
    const least = this.#least;
    least[this.#slot] = Math.min(least[this.#slot]!, transitNs);
    this.#floorNs = Math.min(least[0]!, least[1]!, least[2]!, least[3]!);
    const relativeNs = transitNs - this.#floorNs;
    this.#most[this.#slot] = Math.max(this.#most[this.#slot]!, relativeNs);
    const most = this.#most;
    const highNs = this.#targetNs + Math.max(most[0]!, most[1]!, most[2]!, most[3]!) + BUCKET_NS;
    const aboveNs = Math.max(this.#targetNs, Math.min(highNs, this.#playNs - this.#floorNs));
    const elapsedNs = warpElapsedNs(sampledRobotNs - this.#newestNs);
    this.#playNs = warpTowards(this.#playNs, this.#floorNs + aboveNs, elapsedNs);
    if (sampledRobotNs > this.#newestNs) this.#newestNs = sampledRobotNs;
    return sampledRobotNs + this.#playNs;
  }

  #begin(sampledRobotNs: number, transitNs: number): void {
    this.#least.fill(Number.POSITIVE_INFINITY);
    this.#most.fill(0);
    this.#slotEndsNs = sampledRobotNs + PERIOD_NS;
    this.#newestNs = sampledRobotNs;
    this.#playNs = transitNs + this.#targetNs;
  }

  #closeSlot(sampledRobotNs: number): void {
    const bucket = Math.min(BUCKETS - 1, Math.floor(this.#most[this.#slot]! / BUCKET_NS));
    this.#added++;
    const forget = Math.min(FORGET, Math.max(0, 1 - START_WEIGHT / (this.#added + 1)));
    for (let i = 0; i < BUCKETS; i++) this.#histogram[i] = this.#histogram[i]! * forget;
    this.#histogram[bucket] = this.#histogram[bucket]! + 1 - forget;
    this.#targetNs = (this.#quantileBucket() + 1) * BUCKET_NS;
    this.#slot = (this.#slot + 1) % SLOTS;
    this.#least[this.#slot] = Number.POSITIVE_INFINITY;
    this.#most[this.#slot] = 0;
    this.#slotEndsNs = sampledRobotNs + PERIOD_NS;
  }

  #quantileBucket(): number {
    let sum = 0;
    for (let i = 0; i < BUCKETS; i++) {
      sum += this.#histogram[i]!;
      if (sum >= QUANTILE) return i;
    }
    return BUCKETS - 1;
  }
}
