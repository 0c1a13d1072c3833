import { HAND_HZ, wantedOf } from './hand-script.ts';
import type { Motion, Place } from './motions.ts';
import { solve } from './reachable.ts';
import { add, pose } from './screw-kinematics.ts';

/**
 * How far behind the hand an arm gets at least: at the velocity limits of its joints alone, along the drawn path, with the
 * flange's rotation kept, by inverse kinematics of the bench's own. NaN if that finds no way.
 */
export function leastLagS(
  { reacher, scale }: Place,
  motion: Motion,
  velocityRadS: readonly number[],
): number {
  const { arm, lead, model } = reacher;
  const { frames } = pose(arm, model.homeRad);
  const wanted = wantedOf(motion.samples, scale);
  let qRad = [...model.homeRad];
  let [behindS, mostS] = [0, 0];
  for (let n = 0; n < motion.samples.length; n++) {
    const p = add(frames[lead]!.p, wanted(n / HAND_HZ));
    const next = solve(reacher, { r: frames[arm.joints]!.r, p }, qRad);
    if (next === null) return Number.NaN;
    const needsS = Math.max(...next.map((rad, i) => Math.abs(rad - qRad[i]!) / velocityRadS[i]!));
    behindS = Math.max(0, behindS + needsS - 1 / HAND_HZ);
    mostS = Math.max(mostS, behindS);
    qRad = next;
  }
  return mostS;
}
