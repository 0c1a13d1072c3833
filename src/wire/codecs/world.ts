import type { Reason } from '../../core/counters.ts';
import {
  MAX_TASK_CHARS,
  MAX_WORLD_BODIES,
  WORLD_OUTCOMES,
  WORLD_POSE_SIZE,
  type WorldState,
} from '../../messages/world-state.ts';
import { countOf, frameBody, type Json, numberOf, writeFrame } from './frame.ts';
import type { StateOrigin } from './state.ts';

/** 10 µm, 0.01 mrad. */
const round = (value: number): number => Math.round(value * 1e5) / 1e5;
const rounded = (values: Float64Array): number[] => Array.from(values, round);

/** Robot → operator, state socket, 30 Hz, from a robot in a simulated world. Returns 0 when it does not fit. */
export function encodeWorld(
  { boot, session }: StateOrigin,
  task: string,
  world: WorldState,
  out: Uint8Array,
): number {
  const body = {
    boot,
    session,
    task,
    seed: world.seed,
    round: world.round,
    t: round(world.elapsedS),
    limit: world.limitS,
    score: round(world.score),
    outcome: world.outcome,
    held: world.held,
    force: Math.round(world.contactN * 100) / 100,
    yaw: round(world.gripYawRad),
    opening: round(world.openingM),
    contact: rounded(world.contactM),
    grip: rounded(world.gripM),
    base: rounded(world.baseM),
    bodies: rounded(world.poses.subarray(0, world.bodies * WORLD_POSE_SIZE)),
  };
  return writeFrame('world', body, out);
}

const SCALARS = [
  ['round', 'round'],
  ['elapsedS', 't'],
  ['limitS', 'limit'],
  ['score', 'score'],
  ['held', 'held'],
  ['contactN', 'force'],
  ['gripYawRad', 'yaw'],
  ['openingM', 'opening'],
] as const;

/** Fills `out` and returns the task's name, or a reason; `out` may be partly filled then. */
export function decodeWorld(
  bytes: Uint8Array,
  length: number,
  out: WorldState,
  origin: StateOrigin,
): { task: string } | Reason {
  const body = frameBody(bytes, length);
  if (body === null) return 'bad-json';
  origin.boot = countOf(body['boot']);
  origin.session = countOf(body['session']);
  out.seed = countOf(body['seed']);
  let sum = origin.boot + origin.session + out.seed;
  for (const [field, name] of SCALARS) {
    out[field] = numberOf(body[name]);
    sum += out[field];
  }
  const outcome = WORLD_OUTCOMES.find((each) => each === body['outcome']);
  const { task } = body;
  if (Number.isNaN(sum) || outcome === undefined || typeof task !== 'string') return 'malformed';
  out.outcome = outcome;
  const isWhole =
    fill(body, 'contact', out.contactM, 3) &&
    fill(body, 'grip', out.gripM, 3) &&
    fill(body, 'base', out.baseM, 3) &&
    fillPoses(body, out);
  return isWhole ? { task: task.slice(0, MAX_TASK_CHARS) } : 'malformed';
}

function fillPoses(body: Json, out: WorldState): boolean {
  const poses = body['bodies'];
  if (!Array.isArray(poses) || poses.length % WORLD_POSE_SIZE !== 0) return false;
  out.bodies = poses.length / WORLD_POSE_SIZE;
  return out.bodies <= MAX_WORLD_BODIES && fill(body, 'bodies', out.poses, poses.length);
}

function fill(body: Json, name: string, out: Float64Array, count: number): boolean {
  const values = body[name];
  if (!Array.isArray(values) || values.length !== count || !values.every(Number.isFinite)) return false;
  out.set(values as number[]);
  return true;
}
