import { spreadPose } from '../../geometry/pairings.ts';
import type { RobotModel } from '../../geometry/robot-model.ts';
import { ArmPose } from './arm-pose.ts';

/**
 * Kept below full stretch: closer to it the elbow would have to swing so far for 2 mm that leaving takes longer than the
 * hand notices. And the elbow's least angle from straight.
 */
const MARGIN_M = 0.007;
const ELBOW_RAD = 0.02;
/** The distance must depend on the elbow this much for the arm to have a reach in this sense. */
const SHARE = 0.85;
const STEPS = 400;
const SAMPLES = 200;

/**
 * How far the arm reaches: between two joints, the shoulder and the wrist, whose distance depends on a third, the elbow.
 * At full stretch the elbow is straight.
 */
export interface Reach {
  /** Joints whose axes pass through the shoulder and the wrist. */
  shoulder: number;
  wrist: number;
  elbow: number;
  /** Largest distance allowed. */
  mostM: number;
  /** Where the elbow is straight, and how close it may come. */
  straightRad: number;
  elbowRad: number;
}

/** Null if the arm has no such joints, or its ranges keep it from stretching. */
export function reachOf(model: RobotModel, lead: number): Reach | null {
  const pose = new ArmPose(model);
  const last = lead < model.joints.length ? lead : model.joints.length - 2;
  let best: Reach | null = null;
  for (let wrist = last; wrist >= 2; wrist--)
    for (let shoulder = 0; shoulder < wrist - 1; shoulder++) {
      const found = between(model, pose, shoulder, wrist);
      if (found !== null && found.mostM > (best?.mostM ?? 0) + 0.01) best = found;
    }
  return best;
}

function between(model: RobotModel, pose: ArmPose, shoulder: number, wrist: number): Reach | null {
  const spanM = (q: ArrayLike<number>) => {
    pose.set(q);
    return distanceM(pose, shoulder, wrist);
  };
  const all = Array.from({ length: SAMPLES }, (_, n) => spanM(spreadPose(model, n + 1)));
  const wholeM = Math.max(...all) - Math.min(...all);
  if (wholeM < 0.05) return null;
  for (let elbow = shoulder + 1; elbow < wrist; elbow++) {
    const { minRad, maxRad } = model.joints[elbow]!;
    const q = [...model.homeRad];
    let [mostM, leastM, straightRad] = [0, Number.POSITIVE_INFINITY, 0];
    for (let n = 0; n <= STEPS; n++) {
      q[elbow] = minRad + (n / STEPS) * (maxRad - minRad);
      const m = spanM(q);
      leastM = Math.min(leastM, m);
      if (m > mostM) [mostM, straightRad] = [m, q[elbow]!];
    }
    if (mostM - leastM < SHARE * wholeM || mostM < Math.max(...all) - 0.01) continue;
    return { shoulder, wrist, elbow, mostM: mostM - MARGIN_M, straightRad, elbowRad: ELBOW_RAD };
  }
  return null;
}

/** Between points on the axes of two joints. */
export function distanceM({ axes }: ArmPose, shoulder: number, wrist: number): number {
  const dx = axes[wrist * 6 + 3]! - axes[shoulder * 6 + 3]!;
  const dy = axes[wrist * 6 + 4]! - axes[shoulder * 6 + 4]!;
  const dz = axes[wrist * 6 + 5]! - axes[shoulder * 6 + 5]!;
  return Math.sqrt(dx * dx + dy * dy + dz * dz);
}
