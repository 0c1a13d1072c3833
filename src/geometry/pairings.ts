import type { Box, Capsule, RobotModel } from './robot-model.ts';

/** A box that does not move, in the base frame. */
export interface Obstacle {
  name: string;
  minM: readonly number[];
  maxM: readonly number[];
}

export interface Surroundings {
  /** Height of the table; null: no table. */
  groundZM: number | null;
  obstacles: readonly Obstacle[];
  /** The box the flange must stay in. */
  workspace: Box | null;
  /** The other arm of a pair. */
  neighbour?: Neighbour | null;
}

/** Another arm, whose pose is updated continually. In its latest pose it is an obstacle like any other. */
export interface Neighbour {
  model: RobotModel;
  /** Its base frame in ours. */
  base: RobotModel['tool'];
  /** Both arms share one body, which our model already contains. */
  sharedBase: boolean;
  /** Added to the radius of its capsules: it moves while its pose is in transit. */
  marginM: number;
}

/** Two parts that must not touch, or a part and something around the arm. */
export interface Pairing {
  name: string;
  a: number;
  /** Index of another capsule (a neighbour's follow our own) or of an obstacle; −1: the table. */
  b: number;
  kind: 'arm' | 'ground' | 'obstacle' | 'neighbour';
  radiusM: number;
}

/** Walls of a workspace, in the order of its corners: lower x, y, z, upper x, y, z. */
export const WALLS = ['−x', '−y', '−z', '+x', '+y', '+z'];
const SAMPLES = 64;
/** A clearance that varies less than this over all poses does not depend on the motion. */
const CONSTANT_M = 1e-6;
/** Safety margin added to the stopping clearance. */
const RESERVE_M = 0.001;

/** The capsules of the other arm that this arm can collide with. */
export const neighbourCapsules = (neighbour: Neighbour | null | undefined): readonly Capsule[] =>
  neighbour?.model.capsules.filter(({ frame }) => frame > 0 || !neighbour.sharedBase) ?? [];

export function pairingsOf({ capsules, mayTouch }: RobotModel, around: Surroundings): Pairing[] {
  const allowed = new Set(mayTouch.flatMap(([a, b]) => [`${a}\n${b}`, `${b}\n${a}`]));
  const list: Pairing[] = [];
  capsules.forEach((own, a) => {
    capsules.slice(0, a).forEach((other, b) => {
      if (Math.abs(own.frame - other.frame) <= 1 || allowed.has(`${own.name}\n${other.name}`)) return;
      const radiusM = own.radiusM + other.radiusM;
      list.push({ name: `${own.name} ↔ ${other.name}`, a, b, kind: 'arm', radiusM });
    });
    // The base is mounted on whatever it touches.
    if (own.frame === 0) return;
    const { radiusM } = own;
    if (around.groundZM !== null)
      list.push({ name: `${own.name} ↔ ground`, a, b: -1, kind: 'ground', radiusM });
    around.obstacles.forEach(({ name }, b) => {
      list.push({ name: `${own.name} ↔ ${name}`, a, b, kind: 'obstacle', radiusM });
    });
    neighbourCapsules(around.neighbour).forEach((other, i) => {
      const sumM = radiusM + other.radiusM + around.neighbour!.marginM;
      const name = `${own.name} ↔ other arm’s ${other.name}`;
      list.push({ name, a, b: capsules.length + i, kind: 'neighbour', radiusM: sumM });
    });
  });
  return list;
}

/** Selects the pairings whose clearance depends on the pose, by sampling the joint ranges. */
export function variesIn(
  model: RobotModel,
  size: number,
  measure: (qRad: ArrayLike<number>, outM: Float64Array) => void,
): (pairing: Pairing, k: number) => boolean {
  const outM = new Float64Array(size);
  const least = new Float64Array(size).fill(Number.POSITIVE_INFINITY);
  const most = new Float64Array(size).fill(Number.NEGATIVE_INFINITY);
  for (let n = 1; n <= SAMPLES; n++) {
    measure(spreadPose(model, n), outM);
    for (let k = 0; k < size; k++) {
      least[k] = Math.min(least[k]!, outM[k]!);
      most[k] = Math.max(most[k]!, outM[k]!);
    }
  }
  return (_, k) => most[k]! - least[k]! > CONSTANT_M;
}

/** The n-th of a sequence of poses that fills the joint ranges evenly. */
export function spreadPose({ joints }: RobotModel, n: number): number[] {
  // Multiples of powers of the root of x^(d+1) = x + 1, modulo 1.
  let root = 2;
  for (let i = 0; i < 40; i++) root = (1 + root) ** (1 / (joints.length + 1));
  return joints.map(({ minRad, maxRad }, i) => {
    const share = (0.5 + n * root ** -(i + 1)) % 1;
    return minRad + share * (maxRad - minRad);
  });
}

/**
 * Parts of the arm that are close together in the home pose by design keep half of that clearance, and slow
 * down in the other half. Parts that overlap in the home pose are an error in the model and get no exception.
 */
export const shareOf = (restM: number): number => (restM > 0 ? restM / 2 : Number.POSITIVE_INFINITY);

/** The clearance at which the arm stops, for parts with this clearance at rest. */
export const stopClearanceM = (restM: number, stopM: number): number =>
  Math.min(stopM, shareOf(restM)) + Math.min(RESERVE_M, shareOf(restM) / 2);
