/** Lowest rate, and the step between two rates. */
const LEAST_KBIT_S = 150;
const STEP = 0.6;
/** Delay beyond the path's least that means that pictures queue somewhere; a share allows for jitter. */
const QUEUED_NS = 40e6;
const QUEUED_SHARE = 0.5;
/** Consecutive late answers before the rate falls, so that a stall of the path does not count. */
const LATE_IN_A_ROW = 4;
const SHRINK_EVERY_NS = 500e6;
/** Share of packets lost from which the rate falls. */
const LOST_SHARE = 0.1;
/** Calm time before the rate rises: at first, and once it had to fall; it doubles when a rise is undone. */
const FIRST_CALM_NS = 0.7e9;
const CALM_NS = 3e9;
const MOST_CALM_NS = 48e9;
/** Pictures are skipped while the oldest unanswered one is this much older than the least delay. */
const SKIP_NS = 80e6;
/** Pictures underway before the first answer, and after a late one until there is one in time. */
const FEW = 3;
const LOST_NS = 1e9;
/** The least delay is that of this period and the one before: another route may be longer for good. */
const LEAST_PERIOD_NS = 2.5e9;
/** A least delay that rises by more than this is another route, not a queue of ours: that one was emptied. */
const ROUTE_NS = 15e6;

/**
 * How many bits per second a video may use, and whether it may send a picture now. A probe follows each
 * picture, and its answer shows how long both took. No socket and no clock.
 */
export class VideoRate {
  readonly #mostKbitS: number;
  /** When the unanswered probes were sent, oldest first. */
  readonly #underwayNs: number[] = [];
  #kbitS: number;
  /** Of the present period, and of both. */
  #newLeastNs = Number.POSITIVE_INFINITY;
  #leastNs = Number.POSITIVE_INFINITY;
  #periodNs = Number.NaN;
  #late = 0;
  #shrunkNs = Number.NEGATIVE_INFINITY;
  #calmSinceNs = Number.NaN;
  #calmNs = FIRST_CALM_NS;
  #grownNs = Number.NEGATIVE_INFINITY;

  constructor(mostKbitS: number) {
    this.#mostKbitS = mostKbitS;
    // The path is not known yet.
    this.#kbitS = Math.round(mostKbitS * STEP * STEP);
  }

  get kbitS(): number {
    return this.#kbitS;
  }

  mayEncode(nowNs: number): boolean {
    const [oldestNs] = this.#underwayNs;
    if (oldestNs === undefined) return true;
    const ageNs = nowNs - oldestNs;
    if (ageNs > LOST_NS) {
      this.#underwayNs.length = 0;
      this.#shrink(nowNs);
      return true;
    }
    if ((this.#late > 0 || !Number.isFinite(this.#leastNs)) && this.#underwayNs.length >= FEW) return false;
    return ageNs <= this.#leastNs * (1 + QUEUED_SHARE) + SKIP_NS;
  }

  sent(nowNs: number): void {
    this.#underwayNs.push(nowNs);
  }

  /** The probe sent at `t0Ns` was answered; answers to other probes are ignored. */
  answered(t0Ns: number, nowNs: number): void {
    const place = this.#underwayNs.indexOf(t0Ns);
    if (place < 0) return;
    this.#underwayNs.splice(0, place + 1);
    const delayNs = nowNs - t0Ns;
    this.#learn(delayNs, nowNs);
    if (delayNs > this.#leastNs * (1 + QUEUED_SHARE) + QUEUED_NS) {
      this.#calmSinceNs = nowNs;
      if (++this.#late >= LATE_IN_A_ROW) this.#shrink(nowNs);
      return;
    }
    this.#late = 0;
    if (Number.isNaN(this.#calmSinceNs)) this.#calmSinceNs = nowNs;
    if (nowNs - this.#calmSinceNs >= this.#calmNs) this.#grow(nowNs);
  }

  #learn(delayNs: number, nowNs: number): void {
    if (Number.isNaN(this.#periodNs)) this.#periodNs = nowNs;
    this.#newLeastNs = Math.min(this.#newLeastNs, delayNs);
    this.#leastNs = Math.min(this.#leastNs, delayNs);
    if (nowNs - this.#periodNs < LEAST_PERIOD_NS) return;
    const risenNs = this.#newLeastNs - this.#leastNs;
    this.#leastNs = this.#newLeastNs;
    this.#newLeastNs = Number.POSITIVE_INFINITY;
    this.#periodNs = nowNs;
    // What the rate lost to the other route, it regains quickly.
    if (risenNs > ROUTE_NS) this.#calmNs = FIRST_CALM_NS;
  }

  /** The receiver's own report: share of packets lost since its last one. */
  lost(share: number, nowNs: number): void {
    if (share >= LOST_SHARE) this.#shrink(nowNs);
  }

  #shrink(nowNs: number): void {
    this.#late = 0;
    this.#calmSinceNs = nowNs;
    if (nowNs - this.#shrunkNs < SHRINK_EVERY_NS) return;
    this.#calmNs = Math.max(this.#calmNs, CALM_NS);
    if (nowNs - this.#grownNs < 2 * CALM_NS) this.#calmNs = Math.min(MOST_CALM_NS, 2 * this.#calmNs);
    this.#shrunkNs = nowNs;
    this.#kbitS = Math.max(Math.min(LEAST_KBIT_S, this.#mostKbitS), Math.round(this.#kbitS * STEP));
  }

  #grow(nowNs: number): void {
    this.#calmSinceNs = nowNs;
    if (this.#kbitS >= this.#mostKbitS) {
      this.#calmNs = CALM_NS;
      return;
    }
    this.#grownNs = nowNs;
    this.#kbitS = Math.min(this.#mostKbitS, Math.round(this.#kbitS / STEP));
  }
}
