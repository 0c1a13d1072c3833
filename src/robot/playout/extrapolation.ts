import { NS_PER_MS, NS_PER_S } from '../../core/clock.ts';

/** Velocity is kept for so long after the newest command … */
const HOLD_NS = 40 * NS_PER_MS;
/** … and has faded to nothing after so long: past it a stop is right, not a guess. */
const END_NS = 80 * NS_PER_MS;
/** What was guessed too much or too little goes away over this time. */
const BLEND_NS = 25 * NS_PER_MS;
/** A command is missed when it is this share of the usual interval overdue. */
const OVERDUE = 1.5;
/** Velocity is taken over so many intervals. */
const SPAN = 3;
const MAX_INTERVAL_NS = 50 * NS_PER_MS;

/**
 * Bridges an underflow of playout: carries the joints on from their recent velocity when no command is due, and
 * leads back to the commands when they come again. It only proposes; the supervisor's limits come after it.
 * Plain state on the caller's clock; nothing is allocated after construction. Hot path.
 */
export class Extrapolation {
  readonly #joints: number;
  /** The newest commands, a ring of rows. */
  readonly #rows: Float64Array[];
  readonly #stampsNs = new Float64Array(SPAN + 1);
  readonly #velocity: Float64Array;
  /** Guess − command at the moment the commands came back. */
  readonly #error: Float64Array;
  readonly #guess: Float64Array;
  #count = 0;
  #newestNs = 0;
  #blendFromNs = Number.NEGATIVE_INFINITY;
  #guessing = false;

  constructor(joints: number) {
    this.#joints = joints;
    this.#rows = Array.from({ length: SPAN + 1 }, () => new Float64Array(joints));
    this.#velocity = new Float64Array(joints);
    this.#error = new Float64Array(joints);
    this.#guess = new Float64Array(joints);
  }

  /** Another engagement, or none: nothing of before is carried on. */
  reset(): void {
    this.#count = 0;
    this.#guessing = false;
    this.#blendFromNs = Number.NEGATIVE_INFINITY;
  }

  /**
   * A command at its instant. `positionsRad` becomes the target to follow: the command plus what is left of a guess.
   * `stampNs` is when the hand was there; any clock, the same for all commands.
   */
  take(positionsRad: Float64Array, stampNs: number, nowNs: number): void {
    if (this.#count > 0 && !(stampNs > this.#stampsNs[(this.#count - 1) % (SPAN + 1)]!)) this.reset();
    if (this.#guessing) this.#blendFrom(positionsRad, nowNs);
    const at = this.#count % (SPAN + 1);
    this.#rows[at]!.set(positionsRad);
    this.#stampsNs[at] = stampNs;
    this.#count++;
    this.#newestNs = nowNs;
    const left = this.#left(nowNs);
    if (left > 0)
      for (let i = 0; i < this.#joints; i++) positionsRad[i] = positionsRad[i]! + left * this.#error[i]!;
  }

  /** Between commands: true when `outRad` holds a target other than the newest command's. */
  propose(nowNs: number, outRad: Float64Array): boolean {
    if (this.#count === 0) return false;
    const newest = this.#rows[(this.#count - 1) % (SPAN + 1)]!;
    const ageNs = nowNs - this.#newestNs;
    if (this.#count > SPAN && ageNs > OVERDUE * this.#intervalNs()) {
      if (!this.#guessing) this.#measureVelocity();
      this.#guessing = true;
    }
    const left = this.#left(nowNs);
    if (!this.#guessing && left === 0) return false;
    const aheadS = this.#guessing ? aheadNs(ageNs) / NS_PER_S : 0;
    for (let i = 0; i < this.#joints; i++)
      this.#guess[i] = newest[i]! + aheadS * this.#velocity[i]! + left * this.#error[i]!;
    outRad.set(this.#guess);
    return true;
  }

  #blendFrom(positionsRad: Float64Array, nowNs: number): void {
    for (let i = 0; i < this.#joints; i++) this.#error[i] = this.#guess[i]! - positionsRad[i]!;
    this.#guessing = false;
    this.#blendFromNs = nowNs;
  }

  #left(nowNs: number): number {
    return Math.max(0, 1 - (nowNs - this.#blendFromNs) / BLEND_NS);
  }

  /** The shortest of the recent intervals: a gap in the stamps is loss, not the sender's rate. */
  #intervalNs(): number {
    let shortestNs = MAX_INTERVAL_NS;
    for (let i = 0; i < SPAN; i++) {
      const newer = this.#stampsNs[(this.#count - 1 - i) % (SPAN + 1)]!;
      const older = this.#stampsNs[(this.#count - 2 - i) % (SPAN + 1)]!;
      shortestNs = Math.min(shortestNs, newer - older);
    }
    return shortestNs;
  }

  #measureVelocity(): void {
    const newest = (this.#count - 1) % (SPAN + 1);
    const oldest = this.#count % (SPAN + 1);
    const overS = (this.#stampsNs[newest]! - this.#stampsNs[oldest]!) / NS_PER_S;
    for (let i = 0; i < this.#joints; i++)
      this.#velocity[i] = (this.#rows[newest]![i]! - this.#rows[oldest]![i]!) / overS;
  }
}

/** Integral of the share of the velocity still held, over the age. */
function aheadNs(ageNs: number): number {
  if (ageNs <= HOLD_NS) return ageNs;
  const fadingNs = Math.min(ageNs, END_NS) - HOLD_NS;
  return HOLD_NS + fadingNs - (fadingNs * fadingNs) / (2 * (END_NS - HOLD_NS));
}
