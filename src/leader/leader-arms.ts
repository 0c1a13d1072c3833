import type { LinkMass } from '../geometry/gravity.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import type { LeaderBody } from './force-feedback.ts';
import type { MotorFacts } from './leader-line.ts';

/** `so101_leader_new_calib.urdf` of the arm's makers; the last link with trigger, moved to the flange's frame. */
const SO101: readonly LinkMass[] = [
  { massKg: 0.1, centreM: [-0.0308, 0, -0.0253] },
  { massKg: 0.103, centreM: [-0.0898, -0.0084, 0.0184] },
  { massKg: 0.104, centreM: [-0.0981, 0.0032, 0.0183] },
  { massKg: 0.079, centreM: [-0.0001, -0.0386, 0.0281] },
  { massKg: 0.124, centreM: [0.0067, 0.0004, -0.0609] },
];

/**
 * OpenArm v10: its makers' description (config/arm/v10/inertials); the last link moved to the flange's frame, with a hand of 0.4 kg
 * (estimate) at the flange.
 */
const OPENARM: readonly LinkMass[] = [
  { massKg: 1.142, centreM: [0.0011, 0, 0.054] },
  { massKg: 0.278, centreM: [0.0084, 0, 0.0326] },
  { massKg: 1.074, centreM: [-0.0021, 0.0006, 0.0885] },
  { massKg: 0.56, centreM: [-0.0029, -0.0303, 0.0634] },
  { massKg: 0.551, centreM: [-0.003, 0.0009, 0.0431] },
  { massKg: 0.354, centreM: [-0.0371, 0.0003, -0.0001] },
  { massKg: 0.95, centreM: [0, -0.0077, -0.0015] },
];

/** A DK1 leader: no description is published. A motor of 18 g and 25 g of plastic per link, 0.6 of the follower's size. Estimates. */
const DK1_LINK_KG = 0.6 * 0.043;

/** Masses of a leader's links; of an unknown one, none: it does not carry itself. */
function leaderLinks({ name, joints }: RobotModel): readonly LinkMass[] {
  if (name === 'so101') return SO101;
  if (/^openarm|^vlai-l1/.test(name)) return OPENARM;
  if (name !== 'dk1') return [];
  // Half-way to the next joint.
  return joints.map((_, i) => {
    const [x, y, z] = originOf(joints[i + 1]);
    return { massKg: DK1_LINK_KG, centreM: [x / 2, y / 2, z / 2] };
  });
}

function originOf(joint: RobotModel['joints'][number] | undefined): readonly [number, number, number] {
  if (joint === undefined || !('origin' in joint) || joint.origin === undefined) return [0, 0, 0];
  const [x = 0, y = 0, z = 0] = joint.origin.xyzM;
  return [x, y, z];
}

/** `torquePercent`: how much of each motor's torque may be used. */
export const leaderBody = (
  model: RobotModel,
  { stallNm, stepRad }: MotorFacts,
  torquePercent: number,
): LeaderBody => ({
  model,
  links: leaderLinks(model),
  joints: model.joints.map((_, i) => ({ maxNm: (stallNm(i) * torquePercent) / 100, stepRad })),
});
