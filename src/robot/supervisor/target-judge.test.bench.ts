import assert from 'node:assert/strict';

export interface JudgedJoint {
  minRad: number;
  maxRad: number;
  maxVelocityRadS: number;
  maxAccelerationRadS2: number;
  maxJerkRadS3: number;
}

interface Sample {
  atNs: number;
  rad: readonly number[];
}

/** Each target may deviate this much from a motion inside the limits. */
const TOLERANCE_RAD = 1e-7;
/** Differences are taken over all targets, and over some of them at least this far apart. */
const APART_NS = [0, 3.9e6, 24e6];

/**
 * Takes the place of a driver and judges its targets by finite differences alone: it knows times, targets and
 * the joints' limits, nothing else. For any motion whose k-th derivative stays inside ±L, the k-th divided
 * difference of samples at any times, multiplied by k!, stays inside ±L. So no limit needs slack for late or
 * uneven cycles. The limits also apply across power cycles. A target holds until another is written.
 */
export class TargetJudge {
  /** Largest share of each limit seen: velocity, acceleration, jerk. */
  readonly worst = [0, 0, 0];
  judged = 0;
  readonly #joints: readonly JudgedJoint[];
  readonly #chains: Sample[][] = APART_NS.map(() => []);
  #cycleNs = Number.NaN;
  #wrote = false;
  #last: Sample | null = null;
  #holds = false;
  #isFirst = true;

  constructor(joints: readonly JudgedJoint[]) {
    this.#joints = joints;
  }

  /** The driver is read: a control cycle begins. The last target held until now. */
  cycle(nowNs: number): void {
    if (this.#holds && !this.#wrote && this.#last !== null && this.#cycleNs > this.#last.atNs)
      this.#judge({ atNs: this.#cycleNs, rad: this.#last.rad });
    this.#cycleNs = nowNs;
    this.#wrote = false;
  }

  /** Power went off: the target no longer holds, and the arm may be anywhere when power returns. */
  unpowered(): void {
    this.#holds = false;
    this.#isFirst = true;
  }

  wrote(nowNs: number, targetRad: ArrayLike<number>): void {
    this.#wrote = true;
    this.#holds = true;
    this.#judge({ atNs: nowNs, rad: Array.from(targetRad) });
    this.#isFirst = false;
  }

  #judge(sample: Sample): void {
    this.judged++;
    this.#judgeRange(sample.rad);
    const last = this.#last;
    if (last !== null && sample.atNs <= last.atNs) {
      sample.rad.forEach((rad, i) => {
        const byRad = Math.abs(rad - last.rad[i]!);
        assert.ok(byRad <= 2 * TOLERANCE_RAD, `joint ${i}: moved by ${byRad} rad in no time`);
      });
      return;
    }
    APART_NS.forEach((apartNs, n) => {
      const chain = this.#chains[n]!;
      const before = chain.at(-1);
      if (before !== undefined && sample.atNs - before.atNs < apartNs) return;
      chain.push(sample);
      if (chain.length > 4) chain.shift();
      for (let order = 1; order < chain.length; order++) this.#judgeOrder(chain.slice(-1 - order), order);
    });
    this.#last = sample;
  }

  #judgeRange(targetRad: readonly number[]): void {
    targetRad.forEach((rad, i) => {
      assert.ok(Number.isFinite(rad), `joint ${i}: ${rad}`);
      if (this.#isFirst) return;
      const { minRad, maxRad } = this.#joints[i]!;
      const before = this.#last!.rad[i]!;
      const isInside = rad >= Math.min(minRad, before) - 1e-12 && rad <= Math.max(maxRad, before) + 1e-12;
      assert.ok(isInside, `joint ${i}: ${rad} rad is outside its range or farther outside`);
    });
  }

  /** Needs one more sample than the order. */
  #judgeOrder(samples: readonly Sample[], order: number): void {
    const atS = samples.map(({ atNs }) => (atNs - samples[0]!.atNs) / 1e9);
    const factorial = [1, 1, 2, 6][order]!;
    const weights = dividedDifference(atS).map((weight) => factorial * weight);
    const slack = TOLERANCE_RAD * weights.reduce((sum, weight) => sum + Math.abs(weight), 0);
    this.#joints.forEach(({ maxVelocityRadS, maxAccelerationRadS2, maxJerkRadS3 }, i) => {
      const limit = order === 1 ? maxVelocityRadS : order === 2 ? maxAccelerationRadS2 : maxJerkRadS3;
      const from = samples[0]!.rad[i]!;
      let difference = 0;
      for (let k = 1; k <= order; k++) difference += weights[k]! * (samples[k]!.rad[i]! - from);
      const found = Math.abs(difference);
      if (!(found <= limit * (1 + 1e-9) + slack)) assert.fail(complaint(i, order, found, limit, samples));
      // A value dominated by the tolerance means little.
      if (slack < 0.1 * limit) this.worst[order - 1] = Math.max(this.worst[order - 1]!, found / limit);
    });
  }
}

/** Weights of the samples in the divided difference over these times; their sum is zero. */
const dividedDifference = (atS: readonly number[]): number[] =>
  atS.map((x, i) => atS.reduce((weight, y, k) => (i === k ? weight : weight / (x - y)), 1));

const complaint = (
  i: number,
  order: number,
  found: number,
  limit: number,
  samples: readonly Sample[],
): string =>
  `joint ${i}: ${found} rad/s^${order}, limit ${limit}: ${samples.map(({ atNs, rad }) => `${rad[i]} at ${atNs}`).join(', ')}`;
