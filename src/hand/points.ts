/**
 * Joint sets of tracked hands. Ours has 21 points: 0 wrist; 1–4 thumb CMC, MCP, IP, tip; then MCP, PIP, DIP, tip of
 * index (5–8), middle (9–12), ring (13–16) and pinky (17–20). Metres, right-handed, Y up.
 */
export const HAND_POINTS = 21;
/** Number of coordinates. */
export const HAND_NUMBERS = 3 * HAND_POINTS;

/** Index of each of our points in other sets, by their number of points: OVR 24, WebXR 25, OpenXR 26. */
const SOURCES: Record<number, readonly number[]> = {
  21: Array.from({ length: HAND_POINTS }, (_, i) => i),
  24: [0, 3, 4, 5, 19, 6, 7, 8, 20, 9, 10, 11, 21, 12, 13, 14, 22, 16, 17, 18, 23],
  25: [0, 1, 2, 3, 4, 6, 7, 8, 9, 11, 12, 13, 14, 16, 17, 18, 19, 21, 22, 23, 24],
  26: [1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 13, 14, 15, 17, 18, 19, 20, 22, 23, 24, 25],
};

/** Additional points of the other sets: [index there, the share `w` of point b in (1 − w) a + w b, a, b]. */
const EXTRAS: Record<number, readonly (readonly [at: number, share: number, a: number, b: number])[]> = {
  // Forearm stub, trapezium, pinky metacarpal.
  24: [
    [1, 0, 0, 0],
    [2, 0.5, 0, 1],
    [15, 0.35, 0, 17],
  ],
  // Metacarpals of the four fingers.
  25: [
    [5, 0.3, 0, 5],
    [10, 0.3, 0, 9],
    [15, 0.3, 0, 13],
    [20, 0.3, 0, 17],
  ],
  // Palm, then as WebXR.
  26: [
    [0, 0.5, 0, 9],
    [6, 0.3, 0, 5],
    [11, 0.3, 0, 9],
    [16, 0.3, 0, 13],
    [21, 0.3, 0, 17],
  ],
};

export const POINT_COUNTS: readonly number[] = Object.keys(SOURCES).map(Number);
export const MAX_POINTS = 26;

/** Right-handed, or Unity's left-handed frame, whose z is inverted. */
export type PointFrame = 'rh' | 'unity';

export type PointsReason = 'point-count' | 'non-finite';

/**
 * Extracts our 21 points from `count` points, x, y, z each. `outM` (63 numbers) must not be `pointsM` and is
 * untouched if a reason is returned. Hot path: nothing allocates.
 */
export function takeHandPoints(
  pointsM: ArrayLike<number>,
  count: number,
  frame: PointFrame,
  outM: Float64Array,
): PointsReason | null {
  const sources = SOURCES[count];
  if (sources === undefined || pointsM.length < 3 * count) return 'point-count';
  for (let i = 0; i < 3 * count; i++) if (!Number.isFinite(pointsM[i])) return 'non-finite';
  const z = frame === 'unity' ? -1 : 1;
  for (let i = 0; i < HAND_POINTS; i++) {
    const from = 3 * sources[i]!;
    outM[3 * i] = pointsM[from]!;
    outM[3 * i + 1] = pointsM[from + 1]!;
    outM[3 * i + 2] = z * pointsM[from + 2]!;
  }
  return null;
}

/**
 * The inverse: `count` points (24, 25 or 26) from a hand of 21. Untracked points are interpolated along
 * bones.
 */
export function spreadHandPoints(
  pointsM: ArrayLike<number>,
  count: number,
  frame: PointFrame,
  outM: Float64Array,
): void {
  const z = frame === 'unity' ? -1 : 1;
  SOURCES[count]!.forEach((to, i) => {
    for (let k = 0; k < 3; k++) outM[3 * to + k] = (k === 2 ? z : 1) * pointsM[3 * i + k]!;
  });
  for (const [at, share, a, b] of EXTRAS[count] ?? [])
    for (let k = 0; k < 3; k++) {
      const value = (1 - share) * pointsM[3 * a + k]! + share * pointsM[3 * b + k]!;
      outM[3 * at + k] = (k === 2 ? z : 1) * value;
    }
}

export type HandReason = 'non-finite' | 'degenerate';

/** Least length of a bone, and least width of the palm. */
const SHORTEST_BONE_M = 1e-3;
/** Indices of the points that span the palm. */
export const PALM = { wrist: 0, index: 5, middle: 9, pinky: 17 } as const;

/**
 * Whether 21 points form a valid hand: finite, no bone shorter than a millimetre, and a palm that spans a
 * plane. Hot path: nothing allocates.
 */
export function checkHand(pointsM: Float64Array): HandReason | null {
  for (let i = 0; i < HAND_NUMBERS; i++) if (!Number.isFinite(pointsM[i])) return 'non-finite';
  // Five chains of four bones, each from the wrist.
  for (let i = 1; i < HAND_POINTS; i++)
    if (!(spanM(pointsM, i % 4 === 1 ? PALM.wrist : i - 1, i) >= SHORTEST_BONE_M)) return 'degenerate';
  const lengthM = spanM(pointsM, PALM.wrist, PALM.middle);
  const ax = pointsM[3 * PALM.index]! - pointsM[3 * PALM.pinky]!;
  const ay = pointsM[3 * PALM.index + 1]! - pointsM[3 * PALM.pinky + 1]!;
  const az = pointsM[3 * PALM.index + 2]! - pointsM[3 * PALM.pinky + 2]!;
  const bx = (pointsM[3 * PALM.middle]! - pointsM[0]!) / lengthM;
  const by = (pointsM[3 * PALM.middle + 1]! - pointsM[1]!) / lengthM;
  const bz = (pointsM[3 * PALM.middle + 2]! - pointsM[2]!) / lengthM;
  const cx = ay * bz - az * by;
  const cy = az * bx - ax * bz;
  const cz = ax * by - ay * bx;
  return cx * cx + cy * cy + cz * cz >= SHORTEST_BONE_M * SHORTEST_BONE_M ? null : 'degenerate';
}

/** Distance between two points of a hand. */
export function spanM(pointsM: ArrayLike<number>, a: number, b: number): number {
  const dx = pointsM[3 * b]! - pointsM[3 * a]!;
  const dy = pointsM[3 * b + 1]! - pointsM[3 * a + 1]!;
  const dz = pointsM[3 * b + 2]! - pointsM[3 * a + 2]!;
  return Math.sqrt(dx * dx + dy * dy + dz * dz);
}
