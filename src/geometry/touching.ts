import { createChain, TRANSFORM_SIZE } from './chain.ts';
import { segmentDistance } from './distance.ts';
import type { Capsule, RobotModel } from './robot-model.ts';

/** Pairs of capsules, by name, that overlap in a pose but must not. Not for the hot path: allocates. */
export function touchingPairs(model: RobotModel, qRad: ArrayLike<number>): [string, string][] {
  const chain = createChain(model);
  const frames = new Float64Array(TRANSFORM_SIZE * (chain.joints + 1));
  chain.frames(qRad, frames);
  const ends = Float64Array.from(
    model.capsules.flatMap(({ frame, fromM, toM }) => [
      ...placed(frames, frame, fromM),
      ...placed(frames, frame, toM),
    ]),
  );
  const pairs: [string, string][] = [];
  model.capsules.forEach((a, i) => {
    model.capsules.forEach((b, j) => {
      if (j <= i || mayTouch(model, a, b)) return;
      if (segmentDistance(ends, 6 * i, 6 * j) < a.radiusM + b.radiusM) pairs.push([a.name, b.name]);
    });
  });
  return pairs;
}

/** Whether they are in the same or adjacent frames, or listed as touching by design. */
function mayTouch(model: RobotModel, a: Capsule, b: Capsule): boolean {
  return (
    Math.abs(a.frame - b.frame) <= 1 ||
    model.mayTouch.some(
      ([first, second]) => (first === a.name && second === b.name) || (first === b.name && second === a.name),
    )
  );
}

/** Transforms a point from a frame to the base frame. */
export function placed(frames: Float64Array, frame: number, [x, y, z]: readonly number[]): number[] {
  const row = (at: number) =>
    frames[at]! * x! + frames[at + 1]! * y! + frames[at + 2]! * z! + frames[at + 3]!;
  const first = frame * TRANSFORM_SIZE;
  return [row(first), row(first + 4), row(first + 8)];
}
