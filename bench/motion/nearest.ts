import { HAND_HZ, wantedOf } from './hand-script.ts';
import type { Motion, Place, Segment } from './motions.ts';
import { solve } from './reachable.ts';
import { add, dot, pose, type Vec } from './screw-kinematics.ts';

const STEP_M = 0.005;
const FAR_M = 0.2;
const DIRECTIONS = 150;
/** As much as the guided motion keeps beyond the robot's own margin. */
const ROOM_M = 0.002;
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));

/** Evenly over a sphere. */
const directions: readonly Vec[] = Array.from({ length: DIRECTIONS }, (_, n) => {
  const z = 1 - (2 * n + 1) / DIRECTIONS;
  const r = Math.sqrt(1 - z * z);
  return [r * Math.cos(n * GOLDEN_ANGLE), r * Math.sin(n * GOLDEN_ANGLE), z];
});

export interface Nearest {
  /** Sideways motion of the point, as a share of the hand's. */
  nearestShare: number;
  /** What the slowest joint needs at its velocity limit. */
  leastS: number;
}

/**
 * What an ideal slide makes of a hand that goes across: before and after, the point is at the place nearest to the hand that
 * the arm can take with the flange's rotation kept, clear of everything, whatever lies between. By search over shells around
 * the hand and inverse kinematics of the bench's own; null if it finds none.
 */
export function nearestSlide(place: Place, motion: Motion, velocityRadS: readonly number[]): Nearest | null {
  const { reacher, start, scale } = place;
  const { arm, lead, model } = reacher;
  const home = pose(arm, model.homeRad).frames;
  const r = home[arm.joints]!.r;
  const wanted = wantedOf(motion.samples, scale);
  const hand = (tS: number) => add(home[lead]!.p, wanted(tS));
  const of = (kind: Segment['kind']) => motion.segments.find((segment) => segment.kind === kind)!;
  const free = hand(of('press').fromS);
  const [from, to] = [hand(of('slide').fromS), hand(of('slide').toS - 2 / HAND_HZ)];
  const across = add(to, from, -1);
  const seeds = [0, 0.5, 1].flatMap((share) => {
    const q = solve(reacher, { r, p: add(free, across, share) }, start.qRad);
    return q === null ? [] : [q];
  });
  const nearest = (placeM: Vec) => {
    for (let m = 0; m <= FAR_M; m += STEP_M)
      for (const along of directions)
        for (const seed of seeds) {
          const p = add(placeM, along, m);
          const q = solve(reacher, { r, p }, seed);
          if (q !== null && reacher.room(q) >= ROOM_M) return { p, q };
        }
    return null;
  };
  const [before, after] = [nearest(from), nearest(to)];
  if (before === null || after === null) return null;
  return {
    nearestShare: dot(add(after.p, before.p, -1), across) / dot(across, across),
    leastS: Math.max(...before.q.map((rad, i) => Math.abs(rad - after.q[i]!) / velocityRadS[i]!)),
  };
}
