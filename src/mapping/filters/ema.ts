import { blendQuat, blendVector } from './blend.ts';
import type { PoseFilter } from './filter.ts';

/** Exponential moving average: each sample has weight `alpha`. Delay: (1 − alpha) / alpha sample periods. */
export function createEma(alpha: number): PoseFilter {
  const positionM = new Float64Array(3);
  const quatXyzw = new Float64Array(4);
  let takenNs = 0;
  let delayNs = 0;
  return {
    get delayNs() {
      return delayNs;
    },
    reset(pose) {
      positionM.set(pose.positionM);
      quatXyzw.set(pose.quatXyzw);
      takenNs = pose.takenNs;
      delayNs = 0;
    },
    apply(pose) {
      if (pose.takenNs > takenNs) {
        delayNs = (1 - alpha) * (delayNs + pose.takenNs - takenNs);
        takenNs = pose.takenNs;
        blendVector(positionM, pose.positionM, alpha);
        blendQuat(quatXyzw, pose.quatXyzw, alpha);
      }
      pose.positionM.set(positionM);
      pose.quatXyzw.set(quatXyzw);
    },
  };
}
