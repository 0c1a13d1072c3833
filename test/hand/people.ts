import { HAND_NUMBERS } from '../../src/hand/points.ts';

/**
 * Synthetic people for judging retargeting: skeletons with joint angles, as 21 points of a right hand, palm down,
 * fingers along −z, thumb to −x, Y up, metres. Shares nothing with the code under test but the order of the points.
 */
export interface Body {
  readonly scale: number;
  readonly knucklesM: readonly (readonly number[])[];
  readonly bonesM: readonly (readonly number[])[];
  readonly cmcM: readonly number[];
  readonly thumbM: readonly number[];
}

/** Bends in radians; `spread` positive toward the thumb; `aside` and `down` place the thumb's first bone. */
export interface Shape {
  mcp: number[];
  pip: number[];
  dip: number[];
  spread: number[];
  aside: number;
  down: number;
  thumbMcp: number;
  thumbIp: number;
}

const KNUCKLES_M = [
  [-0.026, 0, -0.092],
  [-0.003, 0.002, -0.095],
  [0.018, 0, -0.089],
  [0.036, -0.003, -0.08],
] as const;
const BONES_M = [
  [0.04, 0.024, 0.02],
  [0.044, 0.028, 0.021],
  [0.04, 0.026, 0.021],
  [0.032, 0.019, 0.018],
] as const;

/** Factors on palm length, palm width, finger length and thumb length. */
export const PROPORTIONS = {
  mean: [1, 1, 1, 1],
  longFingers: [0.96, 0.97, 1.1, 1],
  shortFingers: [1.03, 1.02, 0.9, 1],
  shortThumb: [1, 1, 1, 0.9],
  longThumb: [1, 1, 1, 1.1],
  widePalm: [1, 1.12, 0.97, 1],
  narrow: [1.04, 0.9, 1.04, 1.04],
} as const;
export type Proportions = keyof typeof PROPORTIONS;

export function body(kind: Proportions, scale: number): Body {
  const [palm, width, fingers, thumb] = PROPORTIONS[kind];
  return {
    scale,
    knucklesM: KNUCKLES_M.map(([x, y, z]) => [scale * width * x, scale * y, scale * palm * z]),
    bonesM: BONES_M.map((bones) => bones.map((bone) => scale * fingers * bone)),
    cmcM: [-0.022 * scale * width, -0.01 * scale, -0.024 * scale * palm],
    thumbM: [0.044, 0.032, 0.026].map((bone) => bone * scale * thumb),
  };
}

const four = (value: number): number[] => [value, value, value, value];
const shape = (changes: Partial<Shape> = {}): Shape => ({
  mcp: four(0),
  pip: four(0.05),
  dip: four(0.03),
  spread: [0.06, 0, -0.05, -0.12],
  aside: 0.72,
  down: 0.25,
  thumbMcp: 0.1,
  thumbIp: 0.05,
  ...changes,
});
const bent = (fingers: readonly number[], changes: Partial<Shape> = {}): Shape => {
  const made = shape(changes);
  for (const f of fingers) [made.mcp[f], made.pip[f], made.dip[f]] = [1.35, 1.65, 0.9];
  return made;
};
const TUCKED = { aside: 0.3, down: 0.75, thumbMcp: 0.7, thumbIp: 0.8 };

export const SHAPES = {
  open: shape(),
  flat: shape({ spread: four(0), aside: 0.45, down: 0.15 }),
  spread: shape({ spread: [0.3, 0.05, -0.2, -0.4], aside: 0.95, down: 0.2, thumbMcp: 0, thumbIp: 0 }),
  fist: bent([0, 1, 2, 3], { spread: four(0), ...TUCKED }),
  point: bent([1, 2, 3], { aside: 0.35, down: 0.75, thumbMcp: 0.6, thumbIp: 0.7 }),
  count1: bent([1, 2, 3], TUCKED),
  count2: bent([2, 3], { spread: [0.15, -0.1, 0, 0], ...TUCKED }),
  count3: bent([3], TUCKED),
  count4: shape({ aside: 0.25, down: 0.7, thumbMcp: 0.8, thumbIp: 0.8 }),
  count5: shape({ spread: [0.2, 0.02, -0.12, -0.28], aside: 0.9 }),
  cup: shape({ mcp: four(0.7), pip: four(0.5), dip: four(0.3), aside: 0.6, down: 0.8 }),
} as const satisfies Record<string, Shape>;

export function points({ knucklesM, bonesM, cmcM, thumbM }: Body, s: Shape): Float64Array {
  const out = new Float64Array(HAND_NUMBERS);
  for (let f = 0; f < 4; f++) {
    let [at, bend] = [3 * (5 + 4 * f), 0];
    out.set(knucklesM[f]!, at);
    for (let b = 0; b < 3; b++, at += 3) {
      bend += [s.mcp, s.pip, s.dip][b]![f]!;
      const ahead = bonesM[f]![b]! * Math.cos(bend);
      out[at + 3] = out[at]! - ahead * Math.sin(s.spread[f]!);
      out[at + 4] = out[at + 1]! - bonesM[f]![b]! * Math.sin(bend);
      out[at + 5] = out[at + 2]! - ahead * Math.cos(s.spread[f]!);
    }
  }
  putThumb(cmcM, thumbM, s, out);
  return out;
}

/** The thumb bends about an axis that turns as it moves in front of the palm. */
function putThumb(cmcM: readonly number[], thumbM: readonly number[], s: Shape, out: Float64Array): void {
  const [ca, sa] = [Math.cos(s.aside), Math.sin(s.aside)];
  const [cd, sd] = [Math.cos(s.down), Math.sin(s.down)];
  const turn = 0.35 - 0.25 * s.down;
  let along = [-sa * cd, -sd, -ca * cd];
  let inward = [ca, 0, -sa].map(
    (value, k) => Math.cos(turn) * value + Math.sin(turn) * [sa * sd, -cd, ca * sd][k]!,
  );
  out.set(cmcM, 3);
  [0, s.thumbMcp, s.thumbIp].forEach((bend, bone) => {
    const [c, n] = [Math.cos(bend), Math.sin(bend)];
    const next = along.map((value, k) => c * value + n * inward[k]!);
    inward = inward.map((value, k) => c * value - n * along[k]!);
    along = next;
    for (let k = 0; k < 3; k++) out[6 + 3 * bone + k] = out[3 + 3 * bone + k]! + thumbM[bone]! * along[k]!;
  });
}

export const gapM = (p: ArrayLike<number>, a: number, b: number): number =>
  Math.hypot(p[3 * a]! - p[3 * b]!, p[3 * a + 1]! - p[3 * b + 1]!, p[3 * a + 2]! - p[3 * b + 2]!);

/** A natural pose in which thumb and finger (0 index … 3 pinky) are `apartM` apart: least squares on the joints. */
export function pinch(who: Body, finger: number, apartM: number, style: 0 | 1 = 0): Shape {
  const start = shape({
    mcp: four(style ? 0.45 : 0.2),
    pip: four(style ? 0.6 : 0.25),
    dip: four(style ? 0.3 : 0.12),
    spread: [0.05, 0, -0.05, -0.1],
    aside: 0.45,
    down: finger >= 2 ? 1 : 0.85,
    thumbMcp: 0.3,
    thumbIp: 0.35,
  });
  start.mcp[finger] = style ? 1 : 0.8;
  start.pip[finger] = style ? 0.6 : 0.9;
  const low = [-0.2, 0, -0.1, -0.2, -0.2, 0, -0.4];
  const high = [1.2, 1.35, 1, 1.3, 1.5, 1.8, 0.4];
  const made = (x: readonly number[]): Shape => {
    const s = {
      ...start,
      mcp: [...start.mcp],
      pip: [...start.pip],
      dip: [...start.dip],
      spread: [...start.spread],
    };
    [s.aside, s.down, s.thumbMcp, s.thumbIp] = x as [number, number, number, number];
    [s.mcp[finger], s.pip[finger], s.spread[finger]] = [x[4]!, x[5]!, x[6]!];
    s.dip[finger] = 0.45 * x[5]!;
    return s;
  };
  const { mcp, pip, spread } = start;
  const from = [
    start.aside,
    start.down,
    start.thumbMcp,
    start.thumbIp,
    mcp[finger]!,
    pip[finger]!,
    spread[finger]!,
  ];
  let x = [...from];
  const error = (at: readonly number[]) => 2000 * (gapM(points(who, made(at)), 4, 8 + 4 * finger) - apartM);
  // Newton along the gradient of the gap, pulled back toward the natural pose.
  for (let round = 0; round < 25; round++) {
    const now = error(x);
    const slope = x.map((value, i) => (error(x.with(i, value + 1e-5)) - now) / 1e-5);
    const size = slope.reduce((sum, value) => sum + value * value, 0);
    const pull = x.map((value, i) => 0.2 * (from[i]! - value));
    const along = slope.reduce((sum, value, i) => sum + value * pull[i]!, 0);
    x = x.map((value, i) =>
      Math.min(high[i]!, Math.max(low[i]!, value + pull[i]! - (slope[i]! * (now + along)) / size)),
    );
  }
  for (let round = 0; round < 20 && Math.abs(error(x)) > 1e-3; round++) {
    const now = error(x);
    const slope = x.map((value, i) => (error(x.with(i, value + 1e-5)) - now) / 1e-5);
    const size = slope.reduce((sum, value) => sum + value * value, 0);
    x = x.map((value, i) => Math.min(high[i]!, Math.max(low[i]!, value - (slope[i]! * now) / size)));
  }
  return made(x);
}

/** Between two shapes. */
export function between(a: Shape, b: Shape, share: number): Shape {
  const mix = (from: number, to: number) => from + share * (to - from);
  const all = (from: readonly number[], to: readonly number[]) => from.map((value, i) => mix(value, to[i]!));
  return {
    mcp: all(a.mcp, b.mcp),
    pip: all(a.pip, b.pip),
    dip: all(a.dip, b.dip),
    spread: all(a.spread, b.spread),
    aside: mix(a.aside, b.aside),
    down: mix(a.down, b.down),
    thumbMcp: mix(a.thumbMcp, b.thumbMcp),
    thumbIp: mix(a.thumbIp, b.thumbIp),
  };
}

/** Normal deviates, repeatable. */
export function normals(seed: number): () => number {
  let state = seed >>> 0;
  const uniform = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}
