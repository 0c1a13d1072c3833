import { TeleopError } from '../../../core/errors.ts';
import type { RobotModel } from '../../../geometry/robot-model.ts';
import { type MotorType, XC330, XC430 } from '../../buses/dynamixel/control-table.ts';

export interface HandJoint {
  readonly name: string;
  readonly motorId: number;
  /** The motor's positive direction extends the joint. */
  readonly inverted: boolean;
  readonly minDeg: number;
  readonly maxDeg: number;
  readonly neutralDeg: number;
  readonly motor: MotorType;
}

/** The joints that a calibration step drives, all at once, against their stops. */
export interface CalibrationStep {
  readonly joints: readonly string[];
  readonly direction: 'flex' | 'extend';
}

/** Motors and calibration of a hand, from the vendor's configuration files. */
export interface Hand {
  /** Name of its model in robots/. */
  readonly name: string;
  readonly baudRate: number;
  readonly maxCurrentMa: number;
  readonly calibrationCurrentMa: number;
  /** How far ahead of the measured position the goal is set while seeking a stop. */
  readonly calibrationStepRad: number;
  readonly joints: readonly HandJoint[];
  readonly calibration: readonly CalibrationStep[];
}

/**
 * Name, motor of the right hand, of the left, range and neutral position in degrees. A negative motor number
 * means inverted.
 */
type Row = readonly [string, number, number, number, number, number];

const V1: readonly Row[] = [
  ['thumb_mcp', -4, -4, -50, 50, -13],
  ['thumb_abd', -3, -3, -20, 42, 42],
  ['thumb_pip', -1, -1, -12, 108, 33],
  ['thumb_dip', -2, -2, -20, 112, 19],
  ['index_abd', 14, 14, -37, 37, 25],
  ['index_mcp', -15, -15, -20, 95, 0],
  ['index_pip', -16, -16, -20, 108, 0],
  ['middle_abd', 13, 13, -37, 37, -2],
  ['middle_mcp', -8, -8, -20, 91, 0],
  ['middle_pip', -9, -9, -20, 107, 0],
  ['ring_abd', -5, -5, -37, 37, -20],
  ['ring_mcp', -7, -7, -20, 91, -1],
  ['ring_pip', -6, -6, -20, 107, 0],
  ['pinky_abd', 12, 12, -37, 37, -37],
  ['pinky_mcp', -10, -10, -20, 98, 1],
  ['pinky_pip', -11, -11, -20, 108, 0],
  ['wrist', -17, -17, -50, 30, 0],
];

const V2: readonly Row[] = [
  ['wrist', -1, -1, -65, 35, -20],
  ['thumb_cmc', 17, -10, -45, 33, 0],
  ['thumb_abd', 14, -13, -18, 55, 50],
  ['thumb_mcp', 15, 12, -25, 100, 33],
  ['thumb_dip', 16, 11, -15, 107, 18],
  ['index_abd', 4, -7, -30, 25, -14],
  ['index_mcp', 3, -8, -25, 100, 2],
  ['index_pip', 2, -9, -15, 107, 6],
  ['middle_abd', 5, -6, -27, 27, -4],
  ['middle_mcp', 10, -17, -25, 100, 2],
  ['middle_pip', 9, -2, -15, 107, 4],
  ['ring_abd', 6, -5, -27, 27, 10],
  ['ring_mcp', -7, 4, -25, 100, -2],
  ['ring_pip', 8, -3, -15, 107, 8],
  ['pinky_abd', -13, 14, -30, 30, 22],
  ['pinky_mcp', 12, -15, -25, 100, -4],
  ['pinky_pip', -11, 16, -15, 107, -2],
];

const FINGERS = ['index', 'middle', 'ring', 'pinky'] as const;
const all = (part: string): string[] => FINGERS.map((finger) => `${finger}_${part}`);
const bothDirections = (joints: readonly string[]): CalibrationStep[] => [
  { joints, direction: 'flex' },
  { joints, direction: 'extend' },
];

const V1_STEPS: readonly CalibrationStep[] = [
  ['thumb_mcp'],
  ['thumb_abd'],
  ['thumb_pip'],
  ['thumb_dip'],
  all('abd'),
  ...FINGERS.flatMap((finger) => [[`${finger}_mcp`], [`${finger}_pip`]]),
  ['wrist'],
].flatMap(bothDirections);

const V2_STEPS: readonly CalibrationStep[] = [
  ['thumb_cmc'],
  ['thumb_abd'],
  ['thumb_mcp'],
  ['thumb_dip'],
  all('abd'),
  all('mcp'),
  all('pip'),
  ['wrist'],
].flatMap(bothDirections);

const VERSIONS = {
  v1: {
    rows: V1,
    calibration: V1_STEPS,
    baudRate: 3_000_000,
    maxCurrentMa: 400,
    calibrationCurrentMa: 350,
    calibrationStepRad: 0.1,
  },
  v2: {
    rows: V2,
    calibration: V2_STEPS,
    baudRate: 1_000_000,
    maxCurrentMa: 300,
    calibrationCurrentMa: 300,
    calibrationStepRad: 0.15,
  },
} as const;

function makeHand(version: 'v1' | 'v2', side: 'right' | 'left'): Hand {
  const { rows, ...rest } = VERSIONS[version];
  const joints = rows.map(([name, right, left, minDeg, maxDeg, neutralDeg]): HandJoint => {
    const motor = side === 'right' ? right : left;
    return {
      name,
      motorId: Math.abs(motor),
      inverted: motor < 0,
      minDeg,
      maxDeg,
      neutralDeg,
      motor: name === 'wrist' ? XC430 : XC330,
    };
  });
  return { ...rest, name: `orca-${version}-${side}`, joints };
}

export const HANDS: readonly Hand[] = (['v1', 'v2'] as const).flatMap((version) =>
  (['right', 'left'] as const).map((side) => makeHand(version, side)),
);

const RANGE_SLACK_RAD = 1e-4;

/** The hand that a model describes: same name, same joints in order, no range beyond the hand's. */
export function handOf(model: RobotModel): Hand {
  const hand = HANDS.find(({ name }) => name === model.name);
  if (hand === undefined)
    throw new TeleopError('bad-model', `${model.name} is not an ORCA hand`, {
      hint: `Set \`model\` in the rig to one of ${HANDS.map(({ name }) => name).join(', ')}.`,
    });
  const fits =
    hand.joints.length === model.joints.length &&
    hand.joints.every(({ name, minDeg, maxDeg }, i) => {
      const joint = model.joints[i]!;
      return (
        joint.name === name &&
        joint.minRad >= (minDeg * Math.PI) / 180 - RANGE_SLACK_RAD &&
        joint.maxRad <= (maxDeg * Math.PI) / 180 + RANGE_SLACK_RAD
      );
    });
  if (!fits)
    throw new TeleopError('bad-model', `the joints of ${model.name} do not match the hand`, {
      hint: `Compare its file in robots/ with the shipped one: names, order and ranges.`,
    });
  return hand;
}
