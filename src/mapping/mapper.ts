import type { HandSample } from '../messages/hand-sample.ts';
import type { SolveStatus } from './ik/contract.ts';

/** Maps hands to joint targets under a clutch. Hot path: nothing allocates; one caller at a time. */
export interface Mapper {
  /** Current lag of the targets behind the hand due to the filter; NaN without a filter. */
  readonly filterDelayNs: number;
  /**
   * Takes this hand and this robot as the reference of all motion until `release`. The next `map` of the same hand
   * gives `measuredRad`: engaging never moves the robot. On `bad-input` the mapper is disengaged.
   */
  engage(hand: HandSample, measuredRad: ArrayLike<number>): 'ok' | 'bad-input';
  /** Joint targets for a hand. `outRad` is untouched on `bad-input`, `unreachable` and `disengaged`. */
  map(hand: HandSample, outRad: Float64Array): SolveStatus | 'disengaged';
  release(): void;
}
