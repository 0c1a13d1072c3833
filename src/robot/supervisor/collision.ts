import { TeleopError } from '../../core/errors.ts';
import { type Chain, createChain, TRANSFORM_SIZE } from '../../geometry/chain.ts';
import { segmentBoxDistanceInto, segmentDistanceInto, segmentHeight } from '../../geometry/distance.ts';
import { neighbourPlacer, placePoint } from '../../geometry/neighbour.ts';
import {
  neighbourCapsules,
  type Pairing,
  pairingsOf,
  type Surroundings,
  variesIn,
  WALLS,
} from '../../geometry/pairings.ts';
import type { Capsule, RobotModel } from '../../geometry/robot-model.ts';

/**
 * Everything the arm must keep clear of, each as one clearance in metres: between surfaces of the arm, to the
 * table and obstacles, and between the flange and the walls of its workspace.
 */
export interface ClearanceField {
  readonly size: number;
  /**
   * The first `touching` clearances are to things that can be touched; the rest are walls of the workspace.
   */
  readonly touching: number;
  readonly names: readonly string[];
  /** Clearances between parts of the arm in the home pose; infinite for everything else. */
  readonly restM: Float64Array;
  /**
   * `size` rows, one number per joint: a clearance changes by at most its row times the joints' rotations.
   */
  readonly reachM: Float64Array;
  /** Radius of the bodies behind each clearance: the smaller it is, the faster the clearance can turn. */
  readonly roundM: Float64Array;
  /** Hot path: nothing allocates. `outM` has `size` numbers. */
  measure(qRad: ArrayLike<number>, outM: Float64Array): void;
  /** Measures only the first `count` clearances listed in `which`; leaves the others unchanged. */
  measureSome(qRad: ArrayLike<number>, which: Int32Array, count: number, outM: Float64Array): void;
  /** Sets the joint positions of the other arm. Hot path. */
  placeNeighbour(qRad: ArrayLike<number>): void;
}

export function createClearanceField(model: RobotModel, around: Surroundings): ClearanceField {
  const chain = createChain(model);
  for (const { name, frame } of model.capsules)
    if (frame > chain.joints)
      throw new TeleopError('bad-model', `${model.name}: capsule "${name}" is in unknown frame ${frame}`, {
        hint: `Use a frame from 0 (base) to ${chain.joints} (flange).`,
      });
  const all = pairingsOf(model, around);
  const { measure: measureAll } = measurer(model, around, all, chain);
  const pairings = all.filter(variesIn(model, all.length + WALLS.length, measureAll));
  const walls = around.workspace === null ? 0 : WALLS.length;
  const { measure, measureSome, placeNeighbour } = measurer(model, around, pairings, chain);
  const restM = new Float64Array(pairings.length + walls);
  measure(model.homeRad, restM);
  return {
    size: pairings.length + walls,
    touching: pairings.length,
    names: [...pairings.map(({ name }) => name), ...WALLS.slice(0, walls).map((wall) => `workspace ${wall}`)],
    restM: restM.map((clearanceM, k) =>
      pairings[k]?.kind === 'arm' ? clearanceM : Number.POSITIVE_INFINITY,
    ),
    reachM: reaches(model, chain, pairings, walls),
    roundM: restM.map((_, k) => roundOf(pairings[k])),
    measure,
    measureSome,
    placeNeighbour,
  };
}

/** Planes are not round at all. */
const roundOf = (pairing: Pairing | undefined): number =>
  pairing === undefined || pairing.kind === 'ground' ? Number.POSITIVE_INFINITY : pairing.radiusM;

function measurer(
  { capsules }: RobotModel,
  { groundZM, obstacles, workspace, neighbour }: Surroundings,
  pairings: readonly Pairing[],
  chain: Chain,
): Pick<ClearanceField, 'measure' | 'measureSome' | 'placeNeighbour'> {
  const frames = new Float64Array((chain.joints + 1) * TRANSFORM_SIZE);
  const others = neighbourCapsules(neighbour);
  const ends = new Float64Array((capsules.length + others.length) * 6);
  const placeNeighbour = neighbour
    ? neighbourPlacer(neighbour, ends.subarray(capsules.length * 6))
    : () => {};
  if (neighbour) placeNeighbour(neighbour.model.homeRad);
  const local = Float64Array.from(capsules.flatMap(({ fromM, toM }) => [...fromM, ...toM]));
  const frameAt = Int32Array.from(capsules, ({ frame }) => frame * TRANSFORM_SIZE);
  const boxes = Float64Array.from(obstacles.flatMap(({ minM, maxM }) => [...minM, ...maxM]));
  const walls = workspace === null ? null : Float64Array.from([...workspace.minM, ...workspace.maxM]);
  const flange = chain.joints * TRANSFORM_SIZE;
  const count = pairings.length;
  const first = Int32Array.from(pairings, ({ a }) => a * 6);
  const second = Int32Array.from(pairings, ({ b }) => b * 6);
  const radii = Float64Array.from(pairings, ({ radiusM }) => radiusM);
  const kinds = Int32Array.from(pairings, ({ kind }) =>
    kind === 'ground' ? 1 : kind === 'obstacle' ? 2 : 0,
  );
  const pose = (qRad: ArrayLike<number>): void => {
    chain.frames(qRad, frames);
    for (let i = 0; i < frameAt.length; i++) {
      placePoint(frames, frameAt[i]!, local, i * 6, ends);
      placePoint(frames, frameAt[i]!, local, i * 6 + 3, ends);
    }
  };
  const clearance = (k: number, outM: Float64Array): void => {
    if (k >= count) {
      const wall = k - count;
      const offM = frames[flange + (wall % 3) * 4 + 3]! - walls![wall]!;
      outM[k] = wall < 3 ? offM : -offM;
      return;
    }
    const a = first[k]!;
    const kind = kinds[k]!;
    if (kind === 0) segmentDistanceInto(ends, a, second[k]!, outM, k);
    else if (kind === 1) outM[k] = segmentHeight(ends, a, groundZM!);
    else segmentBoxDistanceInto(ends, a, boxes, second[k]!, outM, k);
    outM[k]! -= radii[k]!;
  };
  const size = count + (walls === null ? 0 : WALLS.length);
  return {
    measure(qRad, outM) {
      pose(qRad);
      for (let k = 0; k < size; k++) clearance(k, outM);
    },
    measureSome(qRad, which, some, outM) {
      pose(qRad);
      for (let n = 0; n < some; n++) clearance(which[n]!, outM);
    },
    placeNeighbour,
  };
}

/**
 * For each clearance and joint: the largest distance, in any pose, from the joint's axis to a point of the
 * part nearer the hand; 0 for joints that move both parts or neither.
 */
function reaches(
  { capsules, homeRad }: RobotModel,
  chain: Chain,
  pairings: readonly Pairing[],
  walls: number,
): Float64Array {
  const { joints } = chain;
  const origins = new Float64Array((joints + 1) * 3);
  chain.linkOrigins(homeRad, origins);
  const lengths = Array.from({ length: joints }, (_, i) =>
    Math.hypot(...[0, 1, 2].map((axis) => origins[3 * i + 3 + axis]! - origins[3 * i + axis]!)),
  );
  const out = new Float64Array((pairings.length + walls) * joints);
  const fill = (row: number, fromFrame: number, toFrame: number, extentM: number) => {
    let reachM = extentM;
    for (let i = toFrame - 1; i >= fromFrame; i--) {
      reachM += lengths[i]!;
      out[row * joints + i] = reachM;
    }
  };
  pairings.forEach(({ a, b, kind }, row) => {
    const own = capsules[a]!;
    const other = kind === 'arm' ? capsules[b]! : null;
    const [near, far] = other !== null && other.frame > own.frame ? [own, other] : [other, own];
    fill(row, near?.frame ?? 0, far.frame, extentOf(far));
  });
  for (let wall = 0; wall < walls; wall++) fill(pairings.length + wall, 0, joints, 0);
  return out;
}

const extentOf = ({ fromM, toM }: Capsule): number => Math.max(Math.hypot(...fromM), Math.hypot(...toM));
