import type { RobotModel } from '../geometry/robot-model.ts';
import type { Vector } from './shape.ts';

/** What a physical arm needs beyond its model in `robots/`. Estimates unless a source is named. */
export interface ArmFacts {
  /** Of the whole arm, without a gripper. */
  massKg: number;
  /** Largest torque of each joint. */
  torqueNm: readonly number[];
  /** Where the gripper is mounted, in the flange's frame: its z is the direction of approach. */
  mountRpyRad: Vector;
  layout: Layout;
}

/** Where an arm stands and what it reaches with the gripper straight down. The table's top is z = 0. */
export interface Layout {
  /** Base of the arm; its x points ahead. */
  baseM: Vector;
  /** Where things start. */
  xM: readonly [number, number];
  yM: readonly [number, number];
  trayM: readonly [number, number];
  /** Rotation of the gripper about the vertical at a yaw of zero. */
  yawRad: number;
}

export const UPRIGHT: Vector = [0, 0, 0];
/** The flange's x is the direction of approach. */
const ALONG_X: Vector = [0, Math.PI / 2, 0];

const UR3: ArmFacts = {
  // Maker's data sheet; joint torques by the maker's list.
  massKg: 11,
  torqueNm: [56, 56, 28, 12, 12, 12],
  mountRpyRad: UPRIGHT,
  layout: { baseM: [0, 0, 0], xM: [0.22, 0.4], yM: [-0.16, 0.02], trayM: [0.3, 0.17], yawRad: 0 },
};
const PIPER: ArmFacts = {
  // Mass by the maker's data sheet; torques are estimates (the maker's URDF has a placeholder).
  massKg: 4.2,
  torqueNm: [25, 25, 20, 8, 8, 6],
  mountRpyRad: UPRIGHT,
  // Joint 5 lets it point straight down only when the base is above the table.
  layout: { baseM: [0, 0, 0.12], xM: [0.2, 0.36], yM: [-0.16, 0.02], trayM: [0.27, 0.17], yawRad: Math.PI },
};
const OPENARM: ArmFacts = {
  // Torques of the motors (openarm_description, joint limits); the mass is an estimate.
  massKg: 5.5,
  torqueNm: [40, 40, 27, 27, 7, 7, 7],
  mountRpyRad: UPRIGHT,
  layout: {
    baseM: [0, 0.16, -0.35],
    xM: [0.19, 0.31],
    // An open finger beside a cube does not meet the tray's wall.
    yM: [-0.15, -0.012],
    trayM: [0.24, 0.12],
    yawRad: Math.PI,
  },
};

/** The range of its joint 2 (as published, half of the right arm's) lets it point straight down only over a lower table. */
const VLAI_L1_LEFT: ArmFacts = {
  ...OPENARM,
  layout: { baseM: [0, -0.16, -0.15], xM: [0.2, 0.3], yM: [0.02, 0.14], trayM: [0.25, -0.12], yawRad: 0 },
};

const KNOWN: Readonly<Record<string, ArmFacts>> = {
  ur3: UR3,
  // Maker's data sheet.
  ur3e: { ...UR3, massKg: 11.2, torqueNm: [54, 54, 28, 9, 9, 9] },
  piper: PIPER,
  'piper-old': PIPER,
  xarm6: {
    // Maker's data sheet; torques as in xarm_description.
    massKg: 12.2,
    torqueNm: [50, 50, 32, 32, 32, 20],
    mountRpyRad: UPRIGHT,
    layout: { baseM: [0, 0, 0], xM: [0.3, 0.48], yM: [-0.16, 0.02], trayM: [0.38, 0.17], yawRad: 0 },
  },
  openarm: OPENARM,
  'vlai-l1-right': OPENARM,
  'openarm-left': mirrored(OPENARM),
  'vlai-l1-left': VLAI_L1_LEFT,
  dk1: {
    massKg: 3.5,
    torqueNm: [27, 27, 27, 7, 7, 7],
    mountRpyRad: ALONG_X,
    layout: {
      baseM: [0, 0, 0.1],
      xM: [0.2, 0.36],
      yM: [-0.16, 0.02],
      trayM: [0.27, 0.17],
      yawRad: Math.PI,
    },
  },
  bento: { ...UR3, massKg: 2, torqueNm: [8, 8, 4, 4, 2], mountRpyRad: ALONG_X },
  'bento-arm': { ...UR3, massKg: 2, torqueNm: [8, 8, 4, 4], mountRpyRad: ALONG_X },
};

/** A robot hand on a stand above the table, palm up; all torques are estimates. */
const handFacts = ({ joints }: RobotModel): ArmFacts => ({
  massKg: 1,
  torqueNm: joints.map(({ name }) => (name === 'wrist' ? 3 : 0.8)),
  mountRpyRad: UPRIGHT,
  layout: { baseM: [0.1, 0, 0.15], xM: [0.27, 0.27], yM: [0, 0], trayM: [0.27, 0], yawRad: 0 },
});

function mirrored(facts: ArmFacts): ArmFacts {
  const { baseM, yM, trayM, ...rest } = facts.layout;
  const layout: Layout = {
    ...rest,
    baseM: [baseM[0], -baseM[1], baseM[2]],
    yM: [-yM[1], -yM[0]],
    trayM: [trayM[0], -trayM[1]],
    yawRad: -facts.layout.yawRad,
  };
  return { ...facts, layout };
}

/** Facts of a known arm; estimates for any other, and for hands. */
export function armFacts(model: RobotModel): ArmFacts {
  if (model.family === 'hand') return handFacts(model);
  const known = KNOWN[model.name];
  if (known !== undefined && known.torqueNm.length === model.joints.length) return known;
  return {
    massKg: 1.5 * model.joints.length,
    torqueNm: model.joints.map((_, i) => (i < 3 ? 50 : 15)),
    mountRpyRad: UPRIGHT,
    layout: UR3.layout,
  };
}
