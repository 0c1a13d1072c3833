import type { HandSample } from '../../messages/hand-sample.ts';

/** A hand pose inside the mapping: finite, with a unit quaternion. */
export type HandPose = Pick<HandSample, 'takenNs' | 'positionM' | 'quatXyzw'>;

/**
 * Smooths a hand. Steps once per new sample (`takenNs` has increased); a repeated sample gives the same
 * result. The caller validates the poses. Hot path: nothing allocates.
 */
export interface PoseFilter {
  /**
   * Delay of the result behind the newest sample: the weighted mean age of its samples, which is its lag
   * behind a hand in steady motion. NaN if nothing is filtered.
   */
  readonly delayNs: number;
  /** Forgets everything but this pose. */
  reset(pose: HandPose): void;
  /** Filters in place. */
  apply(pose: HandPose): void;
}
