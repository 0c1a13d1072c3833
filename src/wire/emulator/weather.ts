import type { Random, TimeNoise } from '../../core/random.ts';
import { NS_PER_MS, NS_PER_S } from '../../core/time/clock.ts';
import type { Bloat, Blocks, Storms } from './impairment.ts';

/**
 * Random intervals in which nothing passes. Like all weather, a function of the time since the link's start,
 * independent of traffic. Call `moveTo` first; time never goes back. Hot path.
 */
export class BlockWeather {
  readonly #blocks: Blocks;
  readonly #random: Random;
  #fromNs = 0;
  #lostUntilNs = 0;
  #endNs = 0;

  constructor(blocks: Blocks, random: Random) {
    this.#blocks = blocks;
    this.#random = random;
  }

  moveTo(timeNs: number): void {
    if (this.#blocks.perS === 0) return;
    while (this.#endNs <= timeNs) {
      this.#fromNs = this.#endNs + this.#random.exponential(NS_PER_S / this.#blocks.perS);
      const lengthNs = this.#lengthMs() * NS_PER_MS;
      this.#endNs = this.#fromNs + lengthNs;
      this.#lostUntilNs = this.#fromNs + lengthNs * this.#blocks.lostShare;
    }
  }

  #lengthMs(): number {
    const { lengthMs, medianMs, spread } = this.#blocks;
    if (medianMs === undefined) return Math.max(1e-3, this.#random.between(lengthMs));
    const drawnMs = medianMs * Math.exp(spread * this.#random.normal());
    return Math.max(1e-3, Math.min(lengthMs[1], Math.max(lengthMs[0], drawnMs)));
  }

  /** End of the block at `timeNs`, or `timeNs` itself. */
  heldUntil(timeNs: number): number {
    return timeNs >= this.#fromNs && timeNs < this.#endNs ? this.#endNs : timeNs;
  }

  isLost(timeNs: number): boolean {
    return timeNs >= this.#fromNs && timeNs < this.#lostUntilNs;
  }
}

/** Seconds with a raised floor, standing queues and stalls. */
export class StormWeather {
  readonly #storms: Storms;
  readonly #random: Random;
  readonly #noise: TimeNoise;
  #fromNs = 0;
  #endNs = 0;
  #floorNs = 0;
  #queueFromNs = 0;
  #queueEndNs = 0;
  #heightNs = 0;
  #isStall = false;

  constructor(storms: Storms, random: Random, noise: TimeNoise) {
    this.#storms = storms;
    this.#random = random;
    this.#noise = noise;
  }

  moveTo(timeNs: number): void {
    if (this.#storms.perS === 0) return;
    while (this.#endNs <= timeNs) this.#nextStorm();
    while (this.#queueEndNs <= timeNs) this.#nextQueue();
  }

  #nextStorm(): void {
    const { perS, lengthS, floorMs, floorSpread } = this.#storms;
    this.#fromNs = this.#endNs + this.#random.exponential(NS_PER_S / perS);
    this.#endNs = this.#fromNs + this.#random.between(lengthS) * NS_PER_S;
    this.#floorNs = floorMs * Math.exp(floorSpread * this.#random.normal()) * NS_PER_MS;
    this.#queueEndNs = this.#fromNs;
    this.#nextQueue();
  }

  #nextQueue(): void {
    const { pauseMs, heightMs, plateauMs, stallShare } = this.#storms;
    this.#queueFromNs = this.#queueEndNs + this.#random.exponential(pauseMs * NS_PER_MS);
    this.#heightNs = this.#random.between(heightMs) * NS_PER_MS;
    this.#isStall = this.#random.chance(stallShare);
    const lengthNs = this.#isStall ? this.#heightNs : this.#random.between(plateauMs) * NS_PER_MS;
    this.#queueEndNs = this.#queueFromNs + Math.max(1e3, lengthNs);
    // No queue outlasts its storm.
    if (this.#queueFromNs >= this.#endNs) this.#queueEndNs = Math.max(this.#queueEndNs, this.#endNs);
  }

  #inQueue(timeNs: number): boolean {
    return timeNs >= this.#queueFromNs && timeNs < this.#queueEndNs && this.#queueFromNs < this.#endNs;
  }

  heldUntil(timeNs: number): number {
    return this.#isStall && this.#inQueue(timeNs) ? this.#queueEndNs : timeNs;
  }

  extraNs(timeNs: number): number {
    if (timeNs < this.#fromNs || timeNs >= this.#endNs) return 0;
    if (this.#isStall || !this.#inQueue(timeNs)) return this.#floorNs;
    const { riseMs, noiseMs } = this.#storms;
    const risen = Math.min(1, (timeNs - this.#queueFromNs) / Math.max(1, riseMs * NS_PER_MS));
    const wobbleNs = noiseMs * NS_PER_MS * this.#noise.at(timeNs);
    return this.#floorNs + risen * Math.max(0, this.#heightNs + wobbleNs);
  }
}

/** A sawtooth of standing delay while another user's transfer runs. */
export class BloatWeather {
  readonly #bloat: Bloat;
  readonly #random: Random;
  #segmentFromNs = 0;
  #segmentEndNs = 0;
  #fromDelayNs = 0;
  #toDelayNs = 0;
  #transferEndNs = 0;
  #peakNs = 0;
  #phase: 'off' | 'rise' | 'drain' = 'drain';

  constructor(bloat: Bloat, random: Random) {
    this.#bloat = bloat;
    this.#random = random;
  }

  moveTo(timeNs: number): void {
    while (this.#segmentEndNs <= timeNs) this.#next();
  }

  #next(): void {
    const { onS, offS, peakMs, riseS, backOff, againS, drainS } = this.#bloat;
    const random = this.#random;
    const reachedNs = this.#toDelayNs;
    this.#segmentFromNs = this.#segmentEndNs;
    if (this.#phase === 'drain') {
      this.#segment('off', random.between(offS) * NS_PER_S, 0, 0);
    } else if (this.#phase === 'off') {
      this.#transferEndNs = this.#segmentFromNs + random.between(onS) * NS_PER_S;
      this.#peakNs = random.between(peakMs) * NS_PER_MS;
      this.#segment('rise', random.between(riseS) * NS_PER_S, 0, this.#peakNs);
    } else if (this.#segmentFromNs < this.#transferEndNs) {
      this.#segment('rise', random.between(againS) * NS_PER_S, backOff * this.#peakNs, this.#peakNs);
    } else this.#segment('drain', drainS * NS_PER_S, reachedNs, 0);
  }

  /** A linear segment of delay; a rise is cut off where the transfer ends. */
  #segment(phase: 'off' | 'rise' | 'drain', lengthNs: number, fromNs: number, toNs: number): void {
    const leftNs = this.#transferEndNs - this.#segmentFromNs;
    const cut = phase === 'rise' && leftNs < lengthNs ? leftNs / lengthNs : 1;
    this.#phase = phase;
    this.#segmentEndNs = this.#segmentFromNs + lengthNs * cut;
    this.#fromDelayNs = fromNs;
    this.#toDelayNs = fromNs + (toNs - fromNs) * cut;
  }

  extraNs(timeNs: number): number {
    const part = (timeNs - this.#segmentFromNs) / (this.#segmentEndNs - this.#segmentFromNs);
    return this.#fromDelayNs + (this.#toDelayNs - this.#fromDelayNs) * part;
  }
}
