import { number, numbers, oneOf, type StructOf, struct } from '../core/memory/struct-layout.ts';

/** Things in a world, at most. */
export const MAX_WORLD_BODIES = 12;
/** A body's position and its quaternion w, x, y, z. */
export const WORLD_POSE_SIZE = 7;

/** How a task stands: nobody has succeeded yet, it is done, or its time is over. */
export const WORLD_OUTCOMES = ['running', 'done', 'late'] as const;
export type WorldOutcome = (typeof WORLD_OUTCOMES)[number];

/**
 * A simulated world as its robot reports it; lengths in metres, the table's top is z = 0. The name of the task is the
 * text beside it.
 */
export const WORLD_STATE = struct({
  seed: number,
  /** Rounds begun: a new round has other starts. */
  round: number,
  elapsedS: number,
  limitS: number,
  /** 0 to 1. */
  score: number,
  outcome: oneOf(WORLD_OUTCOMES, 'running'),
  /** Index of the body between the pads; −1: none. */
  held: number,
  /** Net force on the arm; 0: nothing touches it. */
  contactN: number,
  /** Rotation of the gripper about the vertical, and the distance of its pads. */
  gripYawRad: number,
  openingM: number,
  bodies: number,
  contactM: numbers(3),
  /** The point between the pads. */
  gripM: numbers(3),
  /** Base of the arm. */
  baseM: numbers(3),
  poses: numbers(MAX_WORLD_BODIES * WORLD_POSE_SIZE),
});
export type WorldState = StructOf<typeof WORLD_STATE>;

/** Starts a task over: empty keeps the task, null takes the next seed. */
export interface WorldRequest {
  task: string;
  seed: number | null;
}
export const MAX_TASK_CHARS = 40;
