import type { z } from 'zod';
import type { Reason } from '../core/counters.ts';
import type { HandSample, SampleStatus } from '../core/messages.ts';

/** Bytes in, samples out: an input device owns no socket and no clock, so replay and fuzzing are free. */
export interface InputDevice {
  /** Bytes that arrived for this device; valid only during the call. Null when they were taken. */
  ingest(bytes: Uint8Array, length: number, receivedNs: number): Reason | null;
  /** The newest sample (get_state). Fills `out`; `stale` and `none` leave `tracking` false. Hot path. */
  sample(nowNs: number, out: HandSample): SampleStatus;
  /** Goes back to the beginning of its motion, where it has one. */
  restart?(nowNs: number): void;
}

/** What a file in `devices/` exports by default; its file name is the name in a rig. */
export interface InputPlugin<C> {
  readonly about: string;
  /** No human behind it: the operator process may engage by itself. */
  readonly automatic: boolean;
  readonly config: z.ZodType<C>;
  open(config: C, nowNs: number): InputDevice;
}
