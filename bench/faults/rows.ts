import type { Fault } from './fault.ts';
import { ARM_KILLS } from './rows/arms.ts';
import { CLOCK } from './rows/clock.ts';
import { DESCRIPTORS } from './rows/descriptors.ts';
import { DISKS } from './rows/disks.ts';
import { FEEDBACK } from './rows/feedback.ts';
import { HOSTILE } from './rows/hostile.ts';
import { KILLS } from './rows/kills.ts';
import { NETWORK } from './rows/network.ts';
import { OPERATORS } from './rows/operators.ts';
import { PAUSE_ROWS } from './rows/pauses.ts';

/** Every fault of the matrix, in order. */
export const FAULTS: readonly Fault[] = [
  ...KILLS,
  ...ARM_KILLS,
  ...PAUSE_ROWS,
  ...NETWORK,
  ...HOSTILE,
  ...FEEDBACK,
  ...DISKS,
  ...DESCRIPTORS,
  ...CLOCK,
  ...OPERATORS,
];
