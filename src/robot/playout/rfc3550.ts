import type { PlayoutPolicy } from './playout-policy.ts';
import { warpElapsedNs, warpTowards } from './warp.ts';

const GAIN = 1 / 16;
const JITTERS = 4;

/**
 * Mean transit time plus four times the interarrival jitter of RFC 3550 A.8, moved by time warp, as many
 * receivers do. A baseline. It misses clusters of late commands by design.
 */
export class Rfc3550Policy implements PlayoutPolicy {
  readonly name = 'rfc3550';
  #meanNs = Number.NaN;
  #transitNs = Number.NaN;
  #jitterNs = 0;
  #newestNs = 0;
  #playNs = 0;

  get delayNs(): number {
    return Number.isNaN(this.#meanNs) ? Number.NaN : this.#playNs;
  }

  get needNs(): number {
    return JITTERS * this.#jitterNs;
  }

  restart(): void {
    this.#meanNs = Number.NaN;
  }

  schedule(sampledRobotNs: number, receivedNs: number): number {
    const transitNs = receivedNs - sampledRobotNs;
    if (!Number.isFinite(transitNs)) return receivedNs + this.needNs;
    if (Number.isNaN(this.#meanNs)) {
      this.#meanNs = transitNs;
      this.#transitNs = transitNs;
      this.#newestNs = sampledRobotNs;
      this.#playNs = transitNs;
    }
    this.#jitterNs += GAIN * (Math.abs(transitNs - this.#transitNs) - this.#jitterNs);
    this.#meanNs += GAIN * (transitNs - this.#meanNs);
    this.#transitNs = transitNs;
    const targetNs = this.#meanNs + JITTERS * this.#jitterNs;
    this.#playNs = warpTowards(this.#playNs, targetNs, warpElapsedNs(sampledRobotNs - this.#newestNs));
    if (sampledRobotNs > this.#newestNs) this.#newestNs = sampledRobotNs;
    return sampledRobotNs + this.#playNs;
  }
}
