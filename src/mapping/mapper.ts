import type { HandSample } from '../messages/hand-sample.ts';
import type { Person } from '../messages/person.ts';
import type { LimitedBy } from '../messages/robot-state.ts';
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
  /** How an arm is guided; absent for mappers that guide no point. */
  readonly guidance?: Guidance | undefined;
  /** Joint positions of the other arm of a pair; NaN: unknown. Only mappers that keep clear of it. */
  neighbourAt?(positionsRad: ArrayLike<number>): void;
  /** Uses this person's hand from the next engagement on; only mappers of robot hands. */
  usePerson?(person: Person): void;
}

/** The point of an arm that follows the hand. */
export interface Guidance {
  /** The frame whose origin follows the hand; the number of joints: the flange. */
  readonly lead: number;
  /** What keeps the point from where the hand asks it to be, and in which direction (base frame, unit length). */
  readonly limitedBy: LimitedBy;
  readonly towards: Float64Array;
  /** Where this hand asks the point to be, unfiltered; false if the mapper is not engaged. */
  wanted(hand: HandSample, outM: Float64Array, outQuatXyzw: Float64Array): boolean;
}
