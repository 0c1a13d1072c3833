import { quatNormalise } from '../../geometry/frames.ts';
import { alignment } from './blend.ts';
import type { HandPose, PoseFilter } from './filter.ts';

/** Mean of the last `count` samples. Delay: (count − 1) / 2 sample periods. */
export class MovingAverage implements PoseFilter {
  delayNs = 0;
  readonly #window: HandPose[];
  readonly #positionM = new Float64Array(3);
  readonly #quatXyzw = new Float64Array(4);
  #filled = 0;
  #newest = 0;

  constructor(count: number) {
    this.#window = Array.from({ length: count }, () => ({
      takenNs: 0,
      positionM: new Float64Array(3),
      quatXyzw: new Float64Array(4),
    }));
  }

  reset(pose: HandPose): void {
    this.#filled = 0;
    this.#add(pose);
  }

  apply(pose: HandPose): void {
    if (pose.takenNs > this.#window[this.#newest]!.takenNs) this.#add(pose);
    pose.positionM.set(this.#positionM);
    pose.quatXyzw.set(this.#quatXyzw);
  }

  #add(pose: HandPose): void {
    this.#newest = (this.#newest + 1) % this.#window.length;
    this.#filled = Math.min(this.#filled + 1, this.#window.length);
    const slot = this.#window[this.#newest]!;
    slot.takenNs = pose.takenNs;
    slot.positionM.set(pose.positionM);
    slot.quatXyzw.set(pose.quatXyzw);
    this.#average(slot);
  }

  /** Sums from scratch each time: a running sum would accumulate rounding errors. */
  #average(latest: HandPose): void {
    const count = this.#window.length;
    this.#positionM.fill(0);
    this.#quatXyzw.fill(0);
    this.delayNs = 0;
    for (let back = 0; back < this.#filled; back++) {
      const { takenNs, positionM, quatXyzw } = this.#window[(this.#newest - back + count) % count]!;
      const sign = alignment(latest.quatXyzw, quatXyzw);
      for (let i = 0; i < 3; i++) this.#positionM[i]! += positionM[i]! / this.#filled;
      for (let i = 0; i < 4; i++) this.#quatXyzw[i]! += sign * quatXyzw[i]!;
      this.delayNs += (latest.takenNs - takenNs) / this.#filled;
    }
    quatNormalise(this.#quatXyzw, this.#quatXyzw);
  }
}
