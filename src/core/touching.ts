import { createChain, TRANSFORM_SIZE } from './chain.ts';
import type { Capsule, RobotModel } from './robot-model.ts';

/** Pairs of capsules, by name, that overlap in a pose and are not allowed to. Not for the hot path: allocates. */
export function touchingPairs(model: RobotModel, qRad: ArrayLike<number>): [string, string][] {
  const chain = createChain(model);
  const frames = new Float64Array(TRANSFORM_SIZE * (chain.joints + 1));
  chain.frames(qRad, frames);
  const rods = model.capsules.map((capsule) => ({
    capsule,
    from: placed(frames, capsule.frame, capsule.fromM),
    to: placed(frames, capsule.frame, capsule.toM),
  }));
  const pairs: [string, string][] = [];
  rods.forEach((a, i) => {
    for (const b of rods.slice(i + 1)) {
      if (mayTouch(model, a.capsule, b.capsule)) continue;
      const gapM = segmentGapM(a.from, a.to, b.from, b.to) - a.capsule.radiusM - b.capsule.radiusM;
      if (gapM < 0) pairs.push([a.capsule.name, b.capsule.name]);
    }
  });
  return pairs;
}

/** Of one or of neighbouring frames, or listed as touching by construction. */
export function mayTouch(model: RobotModel, a: Capsule, b: Capsule): boolean {
  return (
    Math.abs(a.frame - b.frame) <= 1 ||
    model.mayTouch.some(
      ([first, second]) => (first === a.name && second === b.name) || (first === b.name && second === a.name),
    )
  );
}

type Point = readonly [number, number, number];

function placed(frames: Float64Array, frame: number, [x, y, z]: Point): Point {
  const row = (at: number) => frames[at]! * x + frames[at + 1]! * y + frames[at + 2]! * z + frames[at + 3]!;
  const first = frame * TRANSFORM_SIZE;
  return [row(first), row(first + 4), row(first + 8)];
}

/** Distance between two segments, each from one point to another; either may be a point. */
export function segmentGapM(a: Point, b: Point, c: Point, d: Point): number {
  const dot = (p: Point, q: Point) => p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
  const minus = (p: Point, q: Point): Point => [p[0] - q[0], p[1] - q[1], p[2] - q[2]];
  const unit = (value: number) => Math.min(1, Math.max(0, value));
  const u = minus(b, a);
  const v = minus(d, c);
  const w = minus(a, c);
  const uu = dot(u, u);
  const vv = dot(v, v);
  const uv = dot(u, v);
  const bend = uu * vv - uv * uv;
  let s = bend > 1e-12 * uu * vv ? unit((uv * dot(v, w) - vv * dot(u, w)) / bend) : 0;
  const t = vv > 0 ? unit((uv * s + dot(v, w)) / vv) : 0;
  s = uu > 0 ? unit((uv * t - dot(u, w)) / uu) : 0;
  return Math.hypot(...[0, 1, 2].map((i) => w[i]! + s * u[i]! - t * v[i]!));
}
