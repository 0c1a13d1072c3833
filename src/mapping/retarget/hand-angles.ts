import { checkHand, HAND_NUMBERS, type HandReason, PALM } from '../../core/hand-points.ts';

/** What is measured on a hand, in the order of `measureHand`. Radians; 0 is a straight finger in line with the palm. */
export const HAND_ANGLES = [
  'thumb_mcp',
  'thumb_abd',
  'thumb_pip',
  'index_abd',
  'index_mcp',
  'index_pip',
  'middle_abd',
  'middle_mcp',
  'middle_pip',
  'ring_abd',
  'ring_mcp',
  'ring_pip',
  'pinky_abd',
  'pinky_mcp',
  'pinky_pip',
  'wrist',
] as const;
export type HandAngle = (typeof HAND_ANGLES)[number];

/** A bone that leaves the palm's plane says less and less about abduction: share in the plane where it fades. */
const FADE_FROM = 0.1;
const FADE_OVER = 0.2;

const THUMB = { cmc: 1, mcp: 2, ip: 3, tip: 4 } as const;
const RING = 13;
/** [first point, place of its abduction angle, sign of the abduction] */
const FINGERS = [
  [PALM.index, 3, 1],
  [PALM.middle, 6, 1],
  [RING, 9, -1],
  [PALM.pinky, 12, -1],
] as const;

/** Measures a hand of 21 points. Hot path: nothing allocates; one caller at a time. */
export interface HandMeter {
  /**
   * Fills `outRad` in the order of `HAND_ANGLES`. A left hand is reflected first and comes out as a right one would.
   * `outRad` is untouched when there is a reason.
   */
  measure(pointsM: Float64Array, isLeft: boolean, outRad: Float64Array): HandReason | null;
}

/** `gravity` is the unit vector that points down in the frame of the points. */
export function createHandMeter(gravity: readonly number[] = [0, -1, 0]): HandMeter {
  const p = new Float64Array(HAND_NUMBERS);
  const x = new Float64Array(3);
  const y = new Float64Array(3);
  const z = new Float64Array(3);
  const u = new Float64Array(3);
  const v = new Float64Array(3);
  const angles = new Float64Array(HAND_ANGLES.length);

  /** Bone from point `a` to point `b`, of length 1. */
  const bone = (a: number, b: number, out: Float64Array): void => {
    const dx = p[3 * b]! - p[3 * a]!;
    const dy = p[3 * b + 1]! - p[3 * a + 1]!;
    const dz = p[3 * b + 2]! - p[3 * a + 2]!;
    const length = Math.sqrt(dx * dx + dy * dy + dz * dz);
    out[0] = dx / length;
    out[1] = dy / length;
    out[2] = dz / length;
  };
  const flexion = (a: number, b: number, c: number, d: number): number => {
    bone(a, b, u);
    bone(c, d, v);
    return Math.acos(Math.min(1, Math.max(-1, dot(u, v))));
  };
  const abduction = (a: number, b: number, sign: number): number => {
    bone(a, b, u);
    const out = dot(u, z);
    const flat = Math.sqrt(Math.max(0, 1 - out * out));
    const fade = Math.min(1, Math.max(0, (flat - FADE_FROM) / FADE_OVER));
    return fade === 0 ? 0 : sign * fade * Math.atan2(dot(u, x), dot(u, y));
  };
  const palm = (): void => {
    bone(PALM.wrist, PALM.middle, y);
    bone(PALM.pinky, PALM.index, u);
    cross(u, y, z);
    const sine = Math.sqrt(dot(z, z));
    for (let i = 0; i < 3; i++) z[i]! /= sine;
    cross(y, z, x);
  };
  return {
    measure(pointsM, isLeft, outRad) {
      const reason = checkHand(pointsM);
      if (reason !== null) return reason;
      const mirror = isLeft ? -1 : 1;
      for (let i = 0; i < HAND_NUMBERS; i += 3) {
        p[i] = mirror * pointsM[i]!;
        p[i + 1] = pointsM[i + 1]!;
        p[i + 2] = pointsM[i + 2]!;
      }
      palm();
      angles[0] = flexion(THUMB.cmc, THUMB.mcp, THUMB.mcp, THUMB.ip);
      angles[1] = abduction(THUMB.cmc, THUMB.mcp, 1);
      angles[2] = flexion(THUMB.mcp, THUMB.ip, THUMB.ip, THUMB.tip);
      for (const [mcp, at, sign] of FINGERS) {
        angles[at] = abduction(mcp, mcp + 1, sign);
        angles[at + 1] = flexion(PALM.wrist, mcp, mcp, mcp + 1);
        angles[at + 2] = flexion(mcp, mcp + 1, mcp + 1, mcp + 2);
      }
      const down = mirror * gravity[0]! * y[0]! + gravity[1]! * y[1]! + gravity[2]! * y[2]!;
      angles[15] = Math.asin(Math.min(1, Math.max(-1, down)));
      outRad.set(angles);
      return null;
    },
  };
}

function dot(a: Float64Array, b: Float64Array): number {
  return a[0]! * b[0]! + a[1]! * b[1]! + a[2]! * b[2]!;
}

function cross(a: Float64Array, b: Float64Array, out: Float64Array): void {
  const ax = a[0]!;
  const ay = a[1]!;
  const az = a[2]!;
  out[0] = ay * b[2]! - az * b[1]!;
  out[1] = az * b[0]! - ax * b[2]!;
  out[2] = ax * b[1]! - ay * b[0]!;
}
