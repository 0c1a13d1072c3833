import type { Fault } from './fault.ts';
import { KILLS } from './rows/kills.ts';

/** Every fault of the matrix, in the order it is tried and shown. */
export const FAULTS: readonly Fault[] = [...KILLS];
