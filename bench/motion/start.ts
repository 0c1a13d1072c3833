import { follow, type Reacher } from './reachable.ts';
import { norm, type Vec } from './screw-kinematics.ts';

export const AXES: readonly Vec[] = [
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1],
];
const STEP_M = 0.03;
const MOST_STEPS = 9;
/** Kept clear of everything, so that a line is inside reach, not at its edge. */
const ROOM_M = 0.015;
/** The sphere of lines is tested in these directions: faces, corners and edges of a cube. */
export const DIRECTIONS: readonly Vec[] = [-1, 0, 1]
  .flatMap((x) => [-1, 0, 1].flatMap((y) => [-1, 0, 1].map((z): Vec => [x, y, z])))
  .filter((v) => norm(v) > 0)
  .sort((a, b) => norm(a) - norm(b))
  .map((v) => v.map((value) => value / norm(v)));

export interface Start {
  /** From the home pose, base frame. */
  offsetM: number[];
  qRad: number[];
}

/** The centre nearest to home round which a sphere of this radius is inside reach; null: none. */
export function findStart(reacher: Reacher, radiusM: number): Start | null {
  for (const offsetM of offsets()) {
    const lengthM = norm(offsetM);
    const along = lengthM > 0 ? offsetM.map((value) => value / lengthM) : [1, 0, 0];
    const { m, qRad } = follow(reacher, reacher.model.homeRad, along, lengthM, 0);
    if (m < lengthM) continue;
    const farM = radiusM + ROOM_M;
    if (DIRECTIONS.every((direction) => follow(reacher, qRad, direction, farM, 0).m >= farM))
      return { offsetM, qRad };
  }
  return null;
}

function offsets(): number[][] {
  const steps = Array.from({ length: 2 * MOST_STEPS + 1 }, (_, n) => (n - MOST_STEPS) * STEP_M);
  return steps
    .flatMap((x) => steps.flatMap((y) => steps.map((z) => [x, y, z])))
    .sort((a, b) => norm(a) - norm(b));
}
