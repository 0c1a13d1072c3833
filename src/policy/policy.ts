import type { Observation } from './observation.ts';

/** Consecutive actions at the policy's rate, row-major: the joints in radians, then the gripper where it has one. */
export interface Chunk {
  rows: number;
  width: number;
  values: Float64Array;
}

/** What a policy says about itself; null where it does not. */
export interface PolicyFacts {
  name: string;
  /** Rows per second, as in its training data. */
  fps: number | null;
  joints: readonly string[] | null;
  cameras: readonly string[] | null;
  task: string | null;
}

/**
 * One interface for every way to run a policy. Row 0 of an answer is for the instant of the observation itself, however
 * long the answer takes.
 */
export interface Policy {
  readonly facts: PolicyFacts;
  /** Rejects when the policy fails or `signal` aborts. An empty chunk: no action now. */
  infer(observation: Observation, signal: AbortSignal): Promise<Chunk>;
  close(): void;
}

export const NO_FACTS: PolicyFacts = { name: '', fps: null, joints: null, cameras: null, task: null };
export const EMPTY_CHUNK: Chunk = { rows: 0, width: 0, values: new Float64Array(0) };

/** Longest answer: more rows than any known policy gives. */
export const MAX_ROWS = 1000;

/** A chunk from rows of numbers; null if they are not one. */
export function chunkOf(rows: unknown): Chunk | null {
  if (!Array.isArray(rows) || rows.length > MAX_ROWS) return null;
  if (rows.length === 0) return EMPTY_CHUNK;
  const width = Array.isArray(rows[0]) ? rows[0].length : 0;
  const values = new Float64Array(rows.length * width);
  for (const [i, row] of rows.entries()) {
    if (!Array.isArray(row) || row.length !== width) return null;
    for (let k = 0; k < width; k++) {
      if (typeof row[k] !== 'number') return null;
      values[i * width + k] = row[k];
    }
  }
  return { rows: rows.length, width, values };
}

/** Larger angles are invalid for any joint, as for the input that gets them. */
const MAX_ANGLE_RAD = 4 * Math.PI;

/** Why a chunk cannot drive this many joints, with or without a gripper; null: it can. */
export function whyUnusable({ rows, width, values }: Chunk, joints: number): string | null {
  if (rows === 0) return null;
  if (width !== joints && width !== joints + 1)
    return `it answers rows of ${width} numbers, the robot has ${joints} joints`;
  if (values.length !== rows * width)
    return `it answers ${values.length} numbers for ${rows} rows of ${width}`;
  for (let i = 0; i < values.length; i++) {
    const column = i % width;
    if (!Number.isFinite(values[i])) return `it answers ${values[i]} in column ${column}`;
    if (column < joints && Math.abs(values[i]!) > MAX_ANGLE_RAD)
      return `it answers ${values[i]!.toPrecision(3)} rad for joint ${column}: no joint turns that far`;
  }
  return null;
}
