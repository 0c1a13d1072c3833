import { HAND_NUMBERS, PALM, spanM } from './points.ts';

/**
 * A parametric hand for tests, the scripted input and `farhand send openteach`. Bends of the four fingers
 * (index … pinky) at MCP and PIP; the DIP joint follows the PIP joint. Radians.
 */
export interface HandShape {
  mcpRad: readonly number[];
  pipRad: readonly number[];
  /** About the palm's normal; positive toward the thumb. */
  spreadRad: readonly number[];
  thumbMcpRad: number;
  thumbIpRad: number;
  /** Bend of the thumb's base across the palm. */
  thumbCrossRad: number;
  /** Moves the thumb's tip to a finger's tip: 0 not at all, 1 onto it. */
  pinch: number;
  /** The finger of the pinch, 0 index … 3 pinky; default: index. */
  pinchFinger?: number;
}

const four = (value: number): number[] => [value, value, value, value];

const pinching = (finger: number, mcpRad: number, pipRad: number, thumbCrossRad: number) => ({
  mcpRad: four(0.2).with(finger, mcpRad),
  pipRad: four(0.25).with(finger, pipRad),
  spreadRad: [0.05, 0, -0.05, -0.1],
  thumbMcpRad: 0.3,
  thumbIpRad: 0.3,
  thumbCrossRad,
  pinch: 1,
  pinchFinger: finger,
});

export const HAND_SHAPES = {
  open: {
    mcpRad: four(0),
    pipRad: four(0.05),
    spreadRad: [0.06, 0, -0.05, -0.12],
    thumbMcpRad: 0.1,
    thumbIpRad: 0.05,
    thumbCrossRad: 0,
    pinch: 0,
  },
  fist: {
    mcpRad: four(1.4),
    pipRad: four(1.6),
    spreadRad: four(0),
    thumbMcpRad: 0.7,
    thumbIpRad: 0.9,
    thumbCrossRad: 0.6,
    pinch: 0,
  },
  spread: {
    mcpRad: four(0),
    pipRad: four(0.05),
    spreadRad: [0.3, 0.05, -0.2, -0.4],
    thumbMcpRad: 0.05,
    thumbIpRad: 0,
    thumbCrossRad: -0.2,
    pinch: 0,
  },
  pinch: {
    mcpRad: [0.75, 0.25, 0.2, 0.2],
    pipRad: [0.85, 0.3, 0.25, 0.25],
    spreadRad: [0.05, 0, -0.05, -0.1],
    thumbMcpRad: 0.3,
    thumbIpRad: 0.3,
    thumbCrossRad: 0.3,
    pinch: 1,
  },
  'pinch-middle': pinching(1, 0.85, 0.9, 0.45),
  'pinch-ring': pinching(2, 0.95, 0.95, 0.6),
  'pinch-pinky': pinching(3, 1, 0.95, 0.75),
} as const satisfies Record<string, HandShape>;
export type HandShapeName = keyof typeof HAND_SHAPES;

/** Position of the wrist, and how far the fingers point down. */
export interface HandPlace {
  positionM: ArrayLike<number>;
  pitchRad: number;
}

/** Knuckles of index … pinky of a right hand, palm down, fingers along −z, thumb to the left. */
const KNUCKLES_M = [
  [-0.026, 0, -0.092],
  [-0.003, 0.002, -0.095],
  [0.018, 0, -0.089],
  [0.036, -0.003, -0.08],
] as const;
const PHALANXES_M = [
  [0.04, 0.024, 0.02],
  [0.044, 0.028, 0.021],
  [0.04, 0.026, 0.021],
  [0.032, 0.019, 0.018],
] as const;
const THUMB_CMC_M = [-0.022, -0.01, -0.024] as const;
const THUMB_BONES_M = [0.044, 0.032, 0.026] as const;
/** Angle between the thumb's base and the fingers, in the palm's plane. */
const THUMB_ASIDE_RAD = 0.72;
const DIP_SHARE = 0.7;
const REACH_ROUNDS = 12;

/** Fills 21 points of a right hand, or mirrored, of a left hand. Hot path: nothing allocates. */
export function shapeHand(shape: HandShape, place: HandPlace, isLeft: boolean, outM: Float64Array): void {
  outM.fill(0, 0, HAND_NUMBERS);
  for (let f = 0; f < 4; f++) shapeFinger(shape, f, outM);
  shapeThumb(shape, outM);
  if (shape.pinch > 0) reach(outM, shape.pinch, shape.pinchFinger ?? 0);
  const [sin, cos] = [Math.sin(place.pitchRad), Math.cos(place.pitchRad)];
  for (let i = 0; i < HAND_NUMBERS; i += 3) {
    const [y, z] = [outM[i + 1]!, outM[i + 2]!];
    outM[i] = (isLeft ? -1 : 1) * outM[i]! + place.positionM[0]!;
    outM[i + 1] = cos * y + sin * z + place.positionM[1]!;
    outM[i + 2] = cos * z - sin * y + place.positionM[2]!;
  }
}

function shapeFinger(shape: HandShape, f: number, outM: Float64Array): void {
  const at = 3 * (5 + 4 * f);
  const [sin, cos] = [Math.sin(shape.spreadRad[f]!), Math.cos(shape.spreadRad[f]!)];
  let bendRad = 0;
  for (let k = 0; k < 3; k++) outM[at + k] = KNUCKLES_M[f]![k]!;
  for (let bone = 0; bone < 3; bone++) {
    const pipRad = shape.pipRad[f]!;
    bendRad += bone === 0 ? shape.mcpRad[f]! : bone === 1 ? pipRad : DIP_SHARE * pipRad;
    const ahead = PHALANXES_M[f]![bone]! * Math.cos(bendRad);
    const from = at + 3 * bone;
    outM[from + 3] = outM[from]! - ahead * sin;
    outM[from + 4] = outM[from + 1]! - PHALANXES_M[f]![bone]! * Math.sin(bendRad);
    outM[from + 5] = outM[from + 2]! - ahead * cos;
  }
}

/** Bends in the plane of its base and the palm's normal, and back toward the fingers. */
function shapeThumb(shape: HandShape, outM: Float64Array): void {
  let asideRad = THUMB_ASIDE_RAD - 0.5 * shape.thumbCrossRad;
  let downRad = 0.15 + shape.thumbCrossRad;
  for (let k = 0; k < 3; k++) outM[3 + k] = THUMB_CMC_M[k]!;
  for (let bone = 0; bone < 3; bone++) {
    const bendRad = bone === 0 ? 0 : bone === 1 ? shape.thumbMcpRad : shape.thumbIpRad;
    asideRad -= bendRad * Math.SQRT1_2;
    downRad += bendRad * Math.SQRT1_2 * 0.5;
    const lengthM = THUMB_BONES_M[bone]!;
    const from = 3 + 3 * bone;
    outM[from + 3] = outM[from]! - lengthM * Math.cos(downRad) * Math.sin(asideRad);
    outM[from + 4] = outM[from + 1]! - lengthM * Math.sin(downRad);
    outM[from + 5] = outM[from + 2]! - lengthM * Math.cos(downRad) * Math.cos(asideRad);
  }
}

/** Moves the thumb's tip towards a finger's by a share, keeping its bone lengths. */
function reach(outM: Float64Array, share: number, finger: number): void {
  const [tip, goal] = [12, 3 * (PALM.index + 3 + 4 * finger)];
  const gx = outM[tip]! + share * (outM[goal]! - outM[tip]!);
  const gy = outM[tip + 1]! + share * (outM[goal + 1]! - outM[tip + 1]!);
  const gz = outM[tip + 2]! + share * (outM[goal + 2]! - outM[tip + 2]!);
  for (let round = 0; round < REACH_ROUNDS; round++) {
    outM[tip] = gx;
    outM[tip + 1] = gy;
    outM[tip + 2] = gz;
    for (let i = 3; i >= 2; i--) pull(outM, i + 1, i, THUMB_BONES_M[i - 1]!);
    for (let i = 1; i <= 3; i++) pull(outM, i, i + 1, THUMB_BONES_M[i - 1]!);
  }
}

/** Moves point `b` along the line to `a` until they are `lengthM` apart. */
function pull(outM: Float64Array, a: number, b: number, lengthM: number): void {
  const share = lengthM / Math.max(1e-9, spanM(outM, a, b));
  for (let k = 0; k < 3; k++) {
    const from = outM[3 * a + k]!;
    outM[3 * b + k] = from + share * (outM[3 * b + k]! - from);
  }
}

/** Interpolates between two shapes. */
export function mixShapes(a: HandShape, b: HandShape, share: number): HandShape {
  const mix = (from: number, to: number) => from + share * (to - from);
  const all = (from: readonly number[], to: readonly number[]) => from.map((value, i) => mix(value, to[i]!));
  return {
    mcpRad: all(a.mcpRad, b.mcpRad),
    pipRad: all(a.pipRad, b.pipRad),
    spreadRad: all(a.spreadRad, b.spreadRad),
    thumbMcpRad: mix(a.thumbMcpRad, b.thumbMcpRad),
    thumbIpRad: mix(a.thumbIpRad, b.thumbIpRad),
    thumbCrossRad: mix(a.thumbCrossRad, b.thumbCrossRad),
    pinch: mix(a.pinch, b.pinch),
    pinchFinger: (b.pinch > 0 ? b.pinchFinger : a.pinchFinger) ?? 0,
  };
}
