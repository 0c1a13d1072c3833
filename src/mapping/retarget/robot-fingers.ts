/**
 * Fingertip positions of an ORCA hand for its joint angles, in the palm's frame: x toward the thumb, y along
 * the fingers, z out of the palm; metres. ESTIMATE: proportions of a human-sized hand, not measured on the
 * robot. Good enough to close a pinch, which ends in contact.
 */

/** Base of each finger (index … pinky), its proximal bone, and the remainder, which has one joint. */
const FINGERS = [
  { baseM: [0.027, 0.09, 0], bonesM: [0.046, 0.046] },
  { baseM: [0.004, 0.094, 0], bonesM: [0.05, 0.05] },
  { baseM: [-0.019, 0.089, 0], bonesM: [0.046, 0.047] },
  { baseM: [-0.04, 0.079, 0], bonesM: [0.038, 0.038] },
] as const;
const THUMB = { baseM: [0.026, 0.024, 0.012], bonesM: [0.042, 0.032, 0.028], tiltRad: 0.35 } as const;

/** Palm length, used to compare human and robot hands. */
export const ROBOT_PALM_M = 0.094;

/** Angles in the order abduction, MCP, PIP. `first`, `second`: share of each bone, for points before the tip. */
export function fingerTip(
  finger: number,
  abdRad: number,
  mcpRad: number,
  pipRad: number,
  outM: Float64Array,
  first = 1,
  second = 1,
): void {
  const { baseM, bonesM } = FINGERS[finger]!;
  const [a, b] = [first * bonesM[0], second * bonesM[1]];
  const ahead = a * Math.cos(mcpRad) + b * Math.cos(mcpRad + pipRad);
  const down = a * Math.sin(mcpRad) + b * Math.sin(mcpRad + pipRad);
  // The abduction of ring and pinky is positive away from the middle finger.
  const sign = finger < 2 ? 1 : -1;
  outM[0] = baseM[0] + sign * ahead * Math.sin(abdRad);
  outM[1] = baseM[1] + ahead * Math.cos(abdRad);
  outM[2] = baseM[2] + down;
}

/**
 * Abduction swings the thumb away from the fingers in the palm's plane; the other joints bend it across the
 * palm.
 */
export function thumbTip(
  abdRad: number,
  mcpRad: number,
  pipRad: number,
  dipRad: number,
  outM: Float64Array,
  bones = 3,
): void {
  let [along, across] = [0, 0];
  let bendRad = 0;
  for (let bone = 0; bone < bones; bone++) {
    bendRad += bone === 0 ? mcpRad : bone === 1 ? pipRad : dipRad;
    along += THUMB.bonesM[bone]! * Math.cos(bendRad);
    across += THUMB.bonesM[bone]! * Math.sin(bendRad);
  }
  const [sinAbd, cosAbd] = [Math.sin(abdRad), Math.cos(abdRad)];
  const [sinTilt, cosTilt] = [Math.sin(THUMB.tiltRad), Math.cos(THUMB.tiltRad)];
  // It bends toward the little finger, and out of the palm.
  const flat = along * cosTilt;
  outM[0] = THUMB.baseM[0] + flat * sinAbd - across * cosAbd * sinTilt;
  outM[1] = THUMB.baseM[1] + flat * cosAbd + across * sinAbd * sinTilt;
  outM[2] = THUMB.baseM[2] + along * sinTilt + across * cosTilt;
}

/**
 * All 21 points of the robot hand, laid out like a person's right hand: the wrist is the origin. `rad` is in
 * the order of `names`. For drawings.
 */
export function robotHandPoints(names: readonly string[], rad: ArrayLike<number>, outM: Float64Array): void {
  const angle = (name: string): number => rad[names.indexOf(name)] ?? 0;
  const isV2 = names.includes('thumb_cmc');
  const thumb = isV2 ? ['thumb_cmc', 'thumb_mcp', 'thumb_dip'] : ['thumb_mcp', 'thumb_pip', 'thumb_dip'];
  const [mcp, pip, dip] = thumb.map(angle);
  outM.fill(0, 0, 3);
  outM.set(THUMB.baseM, 3);
  for (let bone = 1; bone <= 3; bone++)
    thumbTip(angle('thumb_abd'), mcp!, pip!, dip!, outM.subarray(3 + 3 * bone, 6 + 3 * bone), bone);
  ['index', 'middle', 'ring', 'pinky'].forEach((finger, f) => {
    const at = 15 + 12 * f;
    outM.set(FINGERS[f]!.baseM, at);
    const [abd, first, second] = ['abd', 'mcp', 'pip'].map((part) => angle(`${finger}_${part}`));
    fingerTip(f, abd!, first!, second!, outM.subarray(at + 3, at + 6), 1, 0);
    fingerTip(f, abd!, first!, second!, outM.subarray(at + 6, at + 9), 1, 0.55);
    fingerTip(f, abd!, first!, second!, outM.subarray(at + 9, at + 12));
  });
}
