import { HAND_POINTS, PALM } from './points.ts';

/** Pairs of points connected in a drawing: five chains from the wrist, and across the knuckles. */
export const HAND_BONES: readonly (readonly [number, number])[] = [
  ...Array.from({ length: HAND_POINTS - 1 }, (_, i): [number, number] => [i % 4 === 0 ? 0 : i, i + 1]),
  [5, 9],
  [9, 13],
  [13, 17],
];

/** View from behind and above the knuckles, so that bent fingers look bent. */
const TILT_RAD = 0.6;

/**
 * Projects a hand for drawing: seen from its back, fingers up, in palm lengths from the wrist; x right, y up.
 * Right hands have the thumb on the left, left hands on the right. `out` has 42 numbers.
 */
export function projectHand(pointsM: ArrayLike<number>, isLeft: boolean, out: Float64Array): void {
  const at = (i: number) => [pointsM[3 * i]!, pointsM[3 * i + 1]!, pointsM[3 * i + 2]!];
  const wrist = at(PALM.wrist);
  const palm = minus(at(PALM.middle), wrist);
  const lengthM = Math.max(1e-6, Math.hypot(...palm));
  const y = unit(palm);
  const across = minus(at(PALM.index), at(PALM.pinky));
  const along = dot(across, y);
  const thumbward = unit(across.map((value, k) => value - along * y[k]!));
  const mirror = isLeft ? -1 : 1;
  // Out of the palm, on the side towards which the fingers bend.
  const z = cross(thumbward, y).map((value) => mirror * value);
  for (let i = 0; i < HAND_POINTS; i++) {
    const v = minus(at(i), wrist);
    out[2 * i] = (-mirror * dot(v, thumbward)) / lengthM;
    out[2 * i + 1] = (Math.cos(TILT_RAD) * dot(v, y) - Math.sin(TILT_RAD) * dot(v, z)) / lengthM;
  }
}

const dot = (a: readonly number[], b: readonly number[]): number =>
  a[0]! * b[0]! + a[1]! * b[1]! + a[2]! * b[2]!;
const minus = (a: readonly number[], b: readonly number[]): number[] => a.map((value, k) => value - b[k]!);
const unit = (v: readonly number[]): number[] => v.map((value) => value / Math.max(1e-9, Math.hypot(...v)));
const cross = (a: readonly number[], b: readonly number[]): number[] => [
  a[1]! * b[2]! - a[2]! * b[1]!,
  a[2]! * b[0]! - a[0]! * b[2]!,
  a[0]! * b[1]! - a[1]! * b[0]!,
];
