/** Cutoff at rest, and the gain of the first hand's successors: the first one is as noisy as any. */
const REST_HZ = 0.4;
const FIRST_GAIN = 0.06;
/** Speeds are judged by a slow estimate, which noise hardly moves, and a faster one, which notices a stop. */
const SLOW_HZ = 1;
const FAST_HZ = 2;
/** Speed that noise reaches in these estimates: slower motion counts as rest. */
const DEAD_PER_S = 0.08;
/** The same for the distance left behind, per frame of USUAL_PERIOD_S; it bounds the lag of creeping motion. */
const LAG_PER_S = 0.2;
const USUAL_PERIOD_S = 1 / 72;
/** Tracking index (acceleration against noise, per frame) for each unit of speed beyond the dead zone. */
const INDEX_PER_SPEED = 3;
/** Velocity gain below which the predicted velocity fades: a resting hand has none. */
const LEAST_VELOCITY_GAIN = 0.004;

/**
 * Steadies coordinates that move together, such as the points of a finger: an α–β filter whose gains grow with
 * the speed of the last `judged` coordinates. It predicts, so steady motion is not delayed; at rest it is a slow
 * low-pass filter. After motion its gain falls as that of a running mean does, so a stop is averaged and no noisy
 * instant of it is kept. `unit`: 1 for metres, otherwise the noise expected relative to that of a fingertip.
 * Hot path: nothing allocates; one caller at a time.
 */
export class SteadyFilter {
  readonly #judged: number;
  readonly #unit: number;
  readonly #at: Float64Array;
  readonly #perS: Float64Array;
  readonly #seen: Float64Array;
  /** Of the judged coordinates: slow and fast estimate of speed, and of the distance left behind. */
  readonly #slow: Float64Array;
  readonly #fast: Float64Array;
  readonly #behind: Float64Array;
  /** Speed beyond the dead zone, by which the next `apply` chooses its gains; one number. */
  readonly pace = new Float64Array(1);
  /** Gains of position and velocity, and the share of the velocity that is kept. */
  readonly #gains = new Float64Array(3);
  #fresh = true;

  constructor(count: number, judged: number, unit: number) {
    this.#judged = judged;
    this.#unit = unit;
    [this.#at, this.#perS, this.#seen] = [0, 0, 0].map(() => new Float64Array(count)) as Triple;
    [this.#slow, this.#fast, this.#behind] = [0, 0, 0].map(() => new Float64Array(judged)) as Triple;
  }

  reset(): void {
    this.#fresh = true;
  }

  get fresh(): boolean {
    return this.#fresh;
  }

  /** Filtered coordinates; valid until the next call. */
  get at(): Float64Array {
    return this.#at;
  }

  /** Filters `values` from index `from` on, in place; `dtS`: time since the previous call, one number. `judge` comes first. */
  apply(values: Float64Array, from: number, dtS: Float64Array): void {
    const at = this.#at;
    const perS = this.#perS;
    const gains = this.#gains;
    if (this.#fresh) this.#begin(values, from);
    else {
      this.#chooseGains(dtS);
      for (let i = 0; i < at.length; i++) {
        const speed = gains[2]! * perS[i]!;
        const expected = at[i]! + speed * dtS[0]!;
        const off = values[from + i]! - expected;
        this.#seen[i] = values[from + i]!;
        at[i] = expected + gains[0]! * off;
        perS[i] = speed + (gains[1]! * off) / dtS[0]!;
        values[from + i] = at[i]!;
      }
    }
  }

  #begin(values: Float64Array, from: number): void {
    for (let i = 0; i < this.#at.length; i++) this.#at[i] = this.#seen[i] = values[from + i]!;
    this.#perS.fill(0);
    this.#slow.fill(0);
    this.#fast.fill(0);
    this.#behind.fill(0);
    this.#gains[0] = FIRST_GAIN;
    this.#fresh = false;
  }

  /** Sets `pace` for the values that `apply` gets next. */
  judge(values: Float64Array, from: number, dtS: Float64Array): void {
    this.pace[0] = 0;
    if (this.#fresh) return;
    const dt = dtS[0]!;
    const slowShare = 1 / (1 + 1 / (2 * Math.PI * SLOW_HZ * dt));
    const fastShare = 1 / (1 + 1 / (2 * Math.PI * FAST_HZ * dt));
    const first = this.#at.length - this.#judged;
    let slow = 0;
    let fast = 0;
    let behind = 0;
    for (let k = 0; k < this.#judged; k++) {
      const value = values[from + first + k]!;
      const perS = (value - this.#seen[first + k]!) / dt;
      this.#slow[k]! += slowShare * (perS - this.#slow[k]!);
      this.#fast[k]! += fastShare * (perS - this.#fast[k]!);
      this.#behind[k]! += slowShare * ((value - this.#at[first + k]!) / dt - this.#behind[k]!);
      slow += this.#slow[k]! * this.#slow[k]!;
      fast += this.#fast[k]! * this.#fast[k]!;
      behind += this.#behind[k]! * this.#behind[k]!;
    }
    const speed = Math.sqrt(Math.min(slow, fast)) / this.#unit;
    const lag = Math.sqrt(behind) / this.#unit;
    this.pace[0] =
      Math.max(0, speed - DEAD_PER_S) + Math.max(0, lag - LAG_PER_S * Math.sqrt(USUAL_PERIOD_S / dt));
  }

  #chooseGains(dtS: Float64Array): void {
    const index = INDEX_PER_SPEED * this.pace[0]!;
    // Steady gains of a Kalman filter of this tracking index (Kalata 1984).
    const root = (4 + index - Math.sqrt(8 * index + index * index)) / 4;
    const velocity = 2 * (1 - root) * (1 - root);
    const last = this.#gains[0]!;
    const rest = 1 / (1 + 1 / (2 * Math.PI * REST_HZ * dtS[0]!));
    this.#gains[0] = Math.max(rest, 1 - root * root, last / (1 + last));
    this.#gains[1] = velocity;
    this.#gains[2] = velocity / (velocity + LEAST_VELOCITY_GAIN);
  }
}

type Triple = [Float64Array, Float64Array, Float64Array];
