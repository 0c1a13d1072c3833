import type { Capsule, JointModel, RobotModel } from '../geometry/robot-model.ts';
import { linkShapes } from './arm-bodies.ts';
import { fingerShapes, palmShapes } from './gripper-body.ts';
import type { WorldBody } from './shape.ts';

/** Names of its bodies, joints and actuators begin with this. */
export const PARTNER = 'partner/';

const joint = (name: string, aM: number, dM: number, alphaRad: number): JointModel => ({
  ...{
    name,
    minRad: -6.2832,
    maxRad: 6.2832,
    maxVelocityRadS: 3,
    maxAccelerationRadS2: 12,
    maxJerkRadS3: 600,
  },
  dh: { aM, dM, alphaRad, thetaRad: 0 },
});
const capsule = (
  name: string,
  frame: number,
  fromM: Capsule['fromM'],
  toM: Capsule['toM'],
  radiusM: number,
): Capsule => ({ name, frame, fromM, toM, radiusM });

/** Six joints with a closed form, of no maker. */
export const PARTNER_MODEL: RobotModel = {
  ...{ name: 'partner', title: 'the world’s own arm', family: 'ur' },
  tool: { xyzM: [0, 0, 0], rpyRad: [0, 0, 0] },
  homeRad: [0, -Math.PI / 2, Math.PI / 2, -Math.PI / 2, -Math.PI / 2, 0],
  gripper: true,
  joints: [
    joint('pan', 0, 0.16, Math.PI / 2),
    joint('lift', -0.25, 0, 0),
    joint('elbow', -0.22, 0, 0),
    joint('turn1', 0, 0.11, Math.PI / 2),
    joint('turn2', 0, 0.085, -Math.PI / 2),
    joint('turn3', 0, 0.08, 0),
  ],
  capsules: [
    capsule('base', 0, [0, 0, 0], [0, 0, 0.08], 0.06),
    capsule('shoulder', 1, [0, 0, 0], [0, 0, 0.11], 0.05),
    capsule('upper', 2, [0.25, 0, 0.11], [0, 0, 0.11], 0.042),
    capsule('elbow', 2, [0, 0, 0.11], [0, 0, 0.03], 0.04),
    capsule('lower', 3, [0.22, 0, 0.03], [0, 0, 0.03], 0.036),
    capsule('wrist1', 4, [0, -0.06, 0], [0, 0, 0], 0.034),
    capsule('wrist2', 5, [0, 0.06, 0], [0, 0, 0], 0.034),
    capsule('wrist3', 6, [0, 0, -0.04], [0, 0, -0.02], 0.03),
  ],
  mayTouch: [],
};

/** Its parts as bodies, so that whoever draws the things draws it too. */
export function partnerBodies(): WorldBody[] {
  const [base, ...links] = linkShapes(PARTNER_MODEL);
  const part = (name: string, shapes: WorldBody['shapes']): WorldBody => ({
    name: `${PARTNER}${name}`,
    isPartner: true,
    shapes,
  });
  return [
    part('base', base!),
    ...links.map((shapes, i) => part(`link${i + 1}`, shapes)),
    part('hand', palmShapes()),
    part('fingerL', fingerShapes(1)),
    part('fingerR', fingerShapes(-1)),
  ];
}
