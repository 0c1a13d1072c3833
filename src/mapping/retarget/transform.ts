import { z } from 'zod';
import { boxSchema } from '../../geometry/robot-model.ts';
import { HAND_NUMBERS } from '../../hand/points.ts';

const vector = z.tuple([z.number(), z.number(), z.number()]);

export const handTransformConfig = z.strictObject({
  movingAverage: z
    .int()
    .min(1)
    .max(20)
    .default(1)
    .describe('samples averaged for the hand’s points; 1: no averaging'),
  bounds: boxSchema
    .optional()
    .describe('box in the hand’s world for the wrist; outside it the robot hand holds'),
  scale: z.number().min(0.1).max(10).default(1).describe('factor on the points; does not change angles'),
  offsetM: vector.default([0, 0, 0]).describe('added to the points after scaling'),
});
export type HandTransformConfig = z.infer<typeof handTransformConfig>;

/** Prepares detected points for retargeting: mean, bounds, scale and offset. Hot path: nothing allocates. */
export class HandTransform {
  /** Mean age of the samples in the result; NaN without an average. */
  delayNs = Number.NaN;
  readonly #config: HandTransformConfig;
  readonly #window: { takenNs: number; pointsM: Float64Array }[];
  readonly #sumM = new Float64Array(HAND_NUMBERS);
  #filled = 0;
  #newest = 0;

  constructor(config: HandTransformConfig) {
    this.#config = config;
    this.#window = Array.from({ length: config.movingAverage }, () => ({
      takenNs: Number.NEGATIVE_INFINITY,
      pointsM: new Float64Array(HAND_NUMBERS),
    }));
  }

  /** Restarts the average. */
  reset(): void {
    this.#filled = 0;
    for (const slot of this.#window) slot.takenNs = Number.NEGATIVE_INFINITY;
  }

  /**
   * Takes 21 finite points and fills `outM` with 21. Steps once per new sample (`takenNs` has increased); a
   * repeated one gives the same result. If the wrist is out of bounds, `outM` is untouched and the mean
   * restarts.
   */
  apply(pointsM: Float64Array, takenNs: number, outM: Float64Array): 'ok' | 'out-of-bounds' {
    const { bounds, scale, offsetM } = this.#config;
    for (let k = 0; k < 3 && bounds !== undefined; k++)
      if (!(pointsM[k]! >= bounds.minM[k]! && pointsM[k]! <= bounds.maxM[k]!)) {
        this.reset();
        return 'out-of-bounds';
      }
    if (this.#filled === 0 || takenNs > this.#window[this.#newest]!.takenNs) this.#add(pointsM, takenNs);
    for (let i = 0; i < HAND_NUMBERS; i++)
      outM[i] = (scale * this.#sumM[i]!) / this.#filled + offsetM[i % 3]!;
    return 'ok';
  }

  /** Sums from scratch each time: a running sum would accumulate rounding errors. */
  #add(pointsM: Float64Array, takenNs: number): void {
    const count = this.#window.length;
    this.#newest = (this.#newest + 1) % count;
    this.#filled = Math.min(this.#filled + 1, count);
    const slot = this.#window[this.#newest]!;
    slot.takenNs = takenNs;
    for (let i = 0; i < HAND_NUMBERS; i++) slot.pointsM[i] = pointsM[i]!;
    this.#sumM.fill(0);
    let ageNs = 0;
    for (let back = 0; back < this.#filled; back++) {
      const old = this.#window[(this.#newest - back + count) % count]!;
      for (let i = 0; i < HAND_NUMBERS; i++) this.#sumM[i]! += old.pointsM[i]!;
      ageNs += takenNs - old.takenNs;
    }
    this.delayNs = count === 1 ? Number.NaN : ageNs / this.#filled;
  }
}
