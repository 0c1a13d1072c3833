import { quatNormalise } from '../../core/frames.ts';
import { alignment } from './blend.ts';
import type { HandPose, PoseFilter } from './filter.ts';

/** Mean of the last `count` samples. Delay: (count − 1) / 2 sample periods. */
export function createMovingAverage(count: number): PoseFilter {
  const window: HandPose[] = Array.from({ length: count }, () => ({
    takenNs: 0,
    positionM: new Float64Array(3),
    quatXyzw: new Float64Array(4),
  }));
  const mean = { positionM: new Float64Array(3), quatXyzw: new Float64Array(4), delayNs: 0 };
  let filled = 0;
  let newest = 0;

  const keep = (pose: HandPose): void => {
    newest = (newest + 1) % count;
    const slot = window[newest]!;
    slot.takenNs = pose.takenNs;
    slot.positionM.set(pose.positionM);
    slot.quatXyzw.set(pose.quatXyzw);
    filled = Math.min(filled + 1, count);
  };
  // Summed anew each time: a running sum would carry its rounding along.
  const average = (): void => {
    const latest = window[newest]!;
    mean.positionM.fill(0);
    mean.quatXyzw.fill(0);
    mean.delayNs = 0;
    for (let back = 0; back < filled; back++) {
      const { takenNs, positionM, quatXyzw } = window[(newest - back + count) % count]!;
      const sign = alignment(latest.quatXyzw, quatXyzw);
      for (let i = 0; i < 3; i++) mean.positionM[i]! += positionM[i]! / filled;
      for (let i = 0; i < 4; i++) mean.quatXyzw[i]! += sign * quatXyzw[i]!;
      mean.delayNs += (latest.takenNs - takenNs) / filled;
    }
    quatNormalise(mean.quatXyzw, mean.quatXyzw);
  };
  return {
    get delayNs() {
      return mean.delayNs;
    },
    reset(pose) {
      filled = 0;
      keep(pose);
      average();
    },
    apply(pose) {
      if (pose.takenNs > window[newest]!.takenNs) {
        keep(pose);
        average();
      }
      pose.positionM.set(mean.positionM);
      pose.quatXyzw.set(mean.quatXyzw);
    },
  };
}
