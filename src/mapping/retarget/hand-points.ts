/**
 * Joint sets of tracked hands. Ours has 21 points: 0 wrist; 1–4 thumb CMC, MCP, IP, tip; then MCP, PIP, DIP, tip of
 * index (5–8), middle (9–12), ring (13–16) and pinky (17–20). Metres, right-handed, Y up.
 */
export const HAND_POINTS = 21;

/** Where each of our points is in other sets, by their number of points: OVR 24, WebXR 25, OpenXR 26. */
const SOURCES: Record<number, readonly number[]> = {
  21: Array.from({ length: HAND_POINTS }, (_, i) => i),
  24: [0, 3, 4, 5, 19, 6, 7, 8, 20, 9, 10, 11, 21, 12, 13, 14, 22, 16, 17, 18, 23],
  25: [0, 1, 2, 3, 4, 6, 7, 8, 9, 11, 12, 13, 14, 16, 17, 18, 19, 21, 22, 23, 24],
  26: [1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 13, 14, 15, 17, 18, 19, 20, 22, 23, 24, 25],
};

export const POINT_COUNTS: readonly number[] = Object.keys(SOURCES).map(Number);

/** Right-handed, or Unity's left-handed frame, whose z is turned round. */
export type PointFrame = 'rh' | 'unity';

export type PointsReason = 'point-count' | 'non-finite';

/**
 * Our 21 points out of `count` ones, x, y, z each. `outM` (63 numbers) may not be `pointsM` and is untouched when there
 * is a reason. Hot path: nothing allocates.
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
