import { z } from 'zod';
import { type JsonProblem, parseJson } from '../core/parse-json.ts';
import { SUPERVISOR_STATES, type SupervisorState } from './robot-state.ts';

/**
 * Operator process → programs that subscribe with `states`: each new state of the robot, at most about 125 times a second.
 * Telemetry reports it 30 times a second, which is too old for a policy.
 */
export interface StateSample {
  kind: 'state';
  /** Which of two arms; absent: there is one. */
  side?: 'left' | 'right' | undefined;
  /** When the robot reported it, converted to the operator's clock; its arrival while the offset is unknown. */
  measuredNs: number;
  state: SupervisorState;
  measuredRad: number[];
  gripper: number;
  /** As in `Telemetry`. */
  externalNm: number[] | null;
  gripperN: number | null;
}

const MAX_BYTES = 8192;
const numbers = z.array(z.number()).max(64);
const schema = z.object({
  ...{
    kind: z.literal('state'),
    side: z.enum(['left', 'right']).optional(),
    measuredNs: z.number(),
    state: z.enum(SUPERVISOR_STATES),
  },
  ...{ measuredRad: numbers, gripper: z.number(), externalNm: numbers.nullable() },
  gripperN: z.number().nullable(),
});

export function parseStateSample(bytes: Uint8Array): StateSample | JsonProblem {
  return parseJson(bytes, schema, MAX_BYTES);
}
