import type { HandChains } from './hand-chains.ts';

/** What retargeting needs to know about a robot hand, measured on its model at joint angles of zero. */
export interface RobotPalm {
  /** Rows x (toward the thumb), y (along the fingers), z (out of the palm), by the rule for a person's palm. */
  readonly axes: Float64Array;
  /** Knuckle of each finger: its first flexing joint; of the thumb: its first joint. */
  readonly knucklesM: Float64Array;
  /** Knuckle to tip: the chord; of the thumb: along its links. */
  readonly lengthM: Float64Array;
  /** Knuckle to the joint in the middle of the finger (PIP); of the thumb: along its links to the last joint. */
  readonly firstM: Float64Array;
  /** Link whose joint is in the middle of the finger. */
  readonly middle: Int32Array;
  /** Bend of the chord against the straight finger, and direction of the straight finger. 0 for the thumb. */
  readonly chordRad: Float64Array;
  readonly splayRad: Float64Array;
  readonly riseRad: Float64Array;
  /** What each link's joint does. */
  readonly roles: readonly LinkRole[];
}

/** `free`: neither bends nor spreads a finger the way a person's does. */
export interface LinkRole {
  readonly does: 'spread' | 'mcp' | 'pip' | 'dip' | 'pip+dip' | 'free';
  /** 1 where positive angles close the finger, or move it toward the thumb; otherwise −1. */
  readonly sign: number;
}

type Vector = number[];
const at = (from: Float64Array, i: number): Vector => [...from.subarray(3 * i, 3 * i + 3)];
const minus = (a: Vector, b: Vector): Vector => a.map((value, k) => value - b[k]!);
const dot = (a: Vector, b: Vector): number => a.reduce((sum, value, k) => sum + value * b[k]!, 0);
const unit = (v: Vector): Vector => v.map((value) => value / Math.hypot(...v));
const cross = (a: Vector, b: Vector): Vector => [
  a[1]! * b[2]! - a[2]! * b[1]!,
  a[2]! * b[0]! - a[0]! * b[2]!,
  a[0]! * b[1]! - a[1]! * b[0]!,
];

/** Leaves `chains` placed at zero. */
export function measurePalm(chains: HandChains): RobotPalm {
  const { fingers, start, originsM } = chains;
  chains.place(new Float64Array(chains.model.joints.length));
  // The first joints give the palm well enough to tell flexion from spread, which gives the knuckles.
  const guess = palmAxes(chains, Array.from(start.subarray(0, fingers)));
  const roles = Array.from({ length: fingers }, (_, f) => rolesOf(chains, f, guess)).flat();
  const knuckles = Array.from({ length: fingers }, (_, f) => {
    const own = roles.slice(start[f], start[f + 1]).findIndex(({ does }) => does === 'mcp');
    return start[f]! + (f === 0 || own < 0 ? 0 : own);
  });
  const middle = Int32Array.from({ length: fingers }, (_, f) => {
    const end = start[f + 1]!;
    const own = roles.findIndex(({ does }, e) => e > knuckles[f]! && e < end && does.startsWith('pip'));
    return f === 0 || own < 0 ? end - 1 : own;
  });
  const axes = palmAxes(chains, knuckles);
  return {
    axes: Float64Array.from(axes.flat()),
    knucklesM: Float64Array.from(knuckles.flatMap((e) => at(originsM, e))),
    ...lengths(chains, knuckles, middle),
    middle,
    ...directions(chains, knuckles, axes),
    roles,
  };
}

/** y from the wrist to the middle finger's knuckle, z out of the palm, x toward the thumb. */
function palmAxes({ originsM, hand }: HandChains, knuckles: readonly number[]): Vector[] {
  const y = unit(minus(at(originsM, knuckles[2]!), hand.wristM));
  const across = minus(at(originsM, knuckles[1]!), at(originsM, knuckles.at(-1)!));
  const z = unit(cross(across, y));
  return [cross(y, z), y, z];
}

function rolesOf(chains: HandChains, f: number, axes: readonly Vector[]): LinkRole[] {
  const { start, jointOf, model } = chains;
  const links = Array.from({ length: start[f + 1]! - start[f]! }, (_, i) => start[f]! + i);
  const closes = (e: number): number => {
    const { minRad, maxRad } = model.joints[jointOf[e]!]!;
    return maxRad + minRad >= 0 ? 1 : -1;
  };
  // A thumb's last two joints bend like a person's; the others place it.
  if (f === 0)
    return links.map((e, i) => ({
      does: i < links.length - 2 ? 'free' : i === links.length - 2 ? 'pip' : 'dip',
      sign: closes(e),
    }));
  const bends = links.filter((e) => along(chains.axes, e, axes[0]!) > along(chains.axes, e, axes[2]!));
  const names = bends.length > 2 ? (['mcp', 'pip', 'dip'] as const) : (['mcp', 'pip+dip'] as const);
  // Further bends, as in the palm under a little finger, come before the knuckle.
  const before = Math.max(0, bends.length - names.length);
  return links.map((e) => {
    const moves = at(chains.tipPerRad, e);
    const order = bends.indexOf(e);
    if (order >= 0)
      return { does: names[order - before] ?? 'free', sign: Math.sign(dot(moves, axes[2]!)) || 1 };
    const sideways = along(chains.axes, e, axes[2]!) > 0.5;
    return { does: sideways ? 'spread' : 'free', sign: Math.sign(dot(moves, axes[0]!)) || 1 };
  });
}

const along = (axes: Float64Array, e: number, direction: Vector): number =>
  Math.abs(dot(at(axes, e), direction));

function lengths(chains: HandChains, knuckles: readonly number[], middle: Int32Array) {
  const { fingers, originsM, tipsM } = chains;
  const [lengthM, firstM] = [new Float64Array(fingers), new Float64Array(fingers)];
  const gap = (a: Vector, b: Vector) => Math.hypot(...minus(a, b));
  for (let f = 0; f < fingers; f++) {
    const [knuckle, tip] = [at(originsM, knuckles[f]!), at(tipsM, f)];
    if (f > 0) {
      firstM[f] = gap(knuckle, at(originsM, middle[f]!));
      lengthM[f] = gap(knuckle, tip);
      continue;
    }
    for (let e = knuckles[0]! + 1; e <= middle[0]!; e++)
      firstM[0]! += gap(at(originsM, e), at(originsM, e - 1));
    lengthM[0] = firstM[0]! + gap(at(originsM, middle[0]!), tip);
  }
  return { lengthM, firstM };
}

function directions(chains: HandChains, knuckles: readonly number[], axes: readonly Vector[]) {
  const { fingers } = chains;
  const [chordRad, splayRad, riseRad] = [0, 0, 0].map(() => new Float64Array(fingers)) as [
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  const inPalm = (v: Vector) => axes.map((axis) => dot(axis, v)) as [number, number, number];
  const rise = ([x, y, z]: readonly [number, number, number]) => Math.atan2(z, Math.hypot(x, y));
  for (let f = 1; f < fingers; f++) {
    const straight = inPalm(at(chains.directions, f));
    const chord = inPalm(minus(at(chains.tipsM, f), at(chains.originsM, knuckles[f]!)));
    splayRad[f] = Math.atan2(straight[0], straight[1]);
    riseRad[f] = rise(straight);
    chordRad[f] = rise(chord) - riseRad[f]!;
  }
  return { chordRad, splayRad, riseRad };
}
