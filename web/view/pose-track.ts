/** Longest gap to smooth over; after a longer gap the values jump. */
const LONGEST_GAP_MS = 250;

/**
 * Interpolates the shown values to the newest message over the usual message interval. Motion is smooth at any frame rate
 * and comes to rest exactly.
 */
export class PoseTrack {
  readonly shown: Float64Array;
  readonly #from: Float64Array;
  readonly #to: Float64Array;
  #startMs = Number.NEGATIVE_INFINITY;
  #gapMs = 33;
  #seen = false;

  constructor(length: number) {
    this.shown = new Float64Array(length);
    this.#from = new Float64Array(length);
    this.#to = new Float64Array(length);
  }

  get started(): boolean {
    return this.#seen;
  }

  aim(values: ArrayLike<number>, nowMs: number): void {
    const gapMs = nowMs - this.#startMs;
    const smooth = this.#seen && gapMs < LONGEST_GAP_MS;
    if (smooth) this.#gapMs += (Math.max(8, gapMs) - this.#gapMs) * 0.1;
    for (let i = 0; i < this.#to.length; i++) {
      this.#to[i] = values[i] ?? 0;
      if (!smooth) this.shown[i] = this.#to[i]!;
    }
    this.#from.set(this.shown);
    this.#startMs = nowMs;
    this.#seen = true;
  }

  /** True if a shown value changed. */
  advance(nowMs: number): boolean {
    const part = Math.min(1, Math.max(0, (nowMs - this.#startMs) / this.#gapMs));
    let moved = false;
    for (let i = 0; i < this.shown.length; i++) {
      const value = part === 1 ? this.#to[i]! : this.#from[i]! + (this.#to[i]! - this.#from[i]!) * part;
      if (value !== this.shown[i]) moved = true;
      this.shown[i] = value;
    }
    return moved;
  }
}
