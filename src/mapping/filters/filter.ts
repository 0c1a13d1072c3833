import type { HandSample } from '../../messages/hand-sample.ts';

/** A hand pose on its way through the mapping: finite, and the quaternion has length 1. */
export type HandPose = Pick<HandSample, 'takenNs' | 'positionM' | 'quatXyzw'>;

/**
 * Smooths a hand. It steps once per new sample (`takenNs` has grown); a repeated sample gives the same result again.
 * Only good poses may be handed in: what is wrong with a sample is found before. Hot path: nothing allocates.
 */
export interface PoseFilter {
  /**
   * How old the result is against the newest sample: the mean age of the samples in it by their weight, which is how
   * far it runs behind a hand in steady motion. NaN where nothing is filtered.
   */
  readonly delayNs: number;
  /** Forgets everything but this pose. */
  reset(pose: HandPose): void;
  /** In place. */
  apply(pose: HandPose): void;
}
