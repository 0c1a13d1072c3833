import { NS_PER_S } from '../core/time/clock.ts';
import { MAX_REDUNDANCY } from '../wire/codecs/command.ts';

/** A packet that is not there once this many newer ones are is lost, not overtaken. */
const OVERTAKEN = 16;
const RING = 64;
/** A longer gap is an outage: no packet can repeat that much. */
const LONGEST_BURST = 16;
/** Losses are remembered in buckets, for two minutes altogether. */
const BUCKETS = 12;
const BUCKET_NS = 10 * NS_PER_S;

/**
 * Counts lost packets by the sequence numbers of those that arrive, and decides how many earlier commands each packet
 * should repeat: one more than the longest burst remembered; none where nothing is lost. Never allocates after
 * construction. Hot path.
 */
export class LossMeter {
  /** Commands that each packet should repeat. */
  repeat = 0;
  readonly #seen = new Uint8Array(RING);
  readonly #longest = new Uint8Array(BUCKETS);
  #bucket = 0;
  #bucketEndsNs = Number.NEGATIVE_INFINITY;
  #newest = 0;
  #burst = 0;

  /** A new session restarts the numbering; what was learnt about the network stays. */
  restart(): void {
    this.#newest = 0;
    this.#burst = 0;
  }

  /** A packet whose newest command is `seq` arrived. */
  add(seq: number, nowNs: number): void {
    if (nowNs >= this.#bucketEndsNs) this.#nextBucket(nowNs);
    if (this.#newest === 0 || seq > this.#newest + RING) {
      this.#seen.fill(1);
      this.#burst = 0;
      this.#newest = seq;
      return;
    }
    for (let next = this.#newest + 1; next <= seq; next++) {
      this.#judge(next - OVERTAKEN);
      this.#seen[next % RING] = 0;
    }
    this.#newest = Math.max(this.#newest, seq);
    if (seq > this.#newest - RING) this.#seen[seq % RING] = 1;
  }

  #judge(seq: number): void {
    if (seq < 1) return;
    if (this.#seen[seq % RING] === 0) {
      this.#burst++;
      return;
    }
    if (this.#burst > 0 && this.#burst <= LONGEST_BURST) this.#note(this.#burst);
    this.#burst = 0;
  }

  #note(burst: number): void {
    this.#longest[this.#bucket] = Math.max(this.#longest[this.#bucket]!, burst);
    this.repeat = Math.max(this.repeat, Math.min(MAX_REDUNDANCY, burst + 1));
  }

  #nextBucket(nowNs: number): void {
    const isLongAgo = !(nowNs < this.#bucketEndsNs + BUCKETS * BUCKET_NS);
    if (isLongAgo) this.#longest.fill(0);
    this.#bucketEndsNs = isLongAgo ? nowNs + BUCKET_NS : this.#bucketEndsNs + BUCKET_NS;
    this.#bucket = (this.#bucket + 1) % BUCKETS;
    this.#longest[this.#bucket] = 0;
    let longest = 0;
    for (let i = 0; i < BUCKETS; i++) longest = Math.max(longest, this.#longest[i]!);
    this.repeat = longest === 0 ? 0 : Math.min(MAX_REDUNDANCY, longest + 1);
  }
}
