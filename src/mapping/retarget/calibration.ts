import type { JointModel, RobotModel } from '../../geometry/robot-model.ts';
import { fingerTip, thumbTip } from './robot-fingers.ts';

/** Poses that the person shows, in this order. */
export const CALIBRATION_POSES = ['open', 'fist', 'spread', 'pinch'] as const;
export type CalibrationPose = (typeof CALIBRATION_POSES)[number];

/** Mean joint angles in each pose before gain and bias, in the model's order. */
export type PoseAngles = Record<CalibrationPose, ArrayLike<number>>;

export interface HandCalibration {
  gain: Record<string, number>;
  biasRad: Record<string, number>;
  /** Joints that were not calibrated, and why. */
  left: Record<string, string>;
}

/** Least motion between two poses needed to calibrate a joint. */
const LEAST_RAD = { flexion: 0.3, coupled: 0.08, abduction: 0.12 } as const;
const SEARCH_STEPS = 200;
const GAIN = { min: 0.3, max: 3 } as const;
/** Share of the range that the person's own extreme reaches. */
const REACH = 0.95;
const MOST_TILT_RAD = 0.5;

interface Line {
  gain: number;
  biasRad: number;
}

/**
 * Gains and biases that map this person's hand to the robot's range: an open hand gives straight fingers, a
 * fist and spread fingers nearly reach their limits. The thumb's abduction comes from pinch and spread: in
 * the pinch its tip comes as close to the index finger's as the estimated geometry allows. The wrist is level
 * where the open hand was.
 */
export function calibrateHand(model: RobotModel, poses: PoseAngles): HandCalibration {
  const found: HandCalibration = { gain: {}, biasRad: {}, left: {} };
  fitLines(model, poses, found);
  fitPinch(model, poses, found);
  return found;
}

function fitLines(model: RobotModel, poses: PoseAngles, found: HandCalibration): void {
  model.joints.forEach((joint, i) => {
    const at = (pose: CalibrationPose) => poses[pose][i]!;
    const line = lineOf(joint, at);
    if (typeof line === 'string') {
      found.left[joint.name] = line;
      return;
    }
    found.gain[joint.name] = round(line.gain);
    found.biasRad[joint.name] = round(line.biasRad);
  });
}

/**
 * Fits the thumb's abduction to the pinch instead of the fist: there its tip comes closest to the index
 * finger's.
 */
function fitPinch(model: RobotModel, poses: PoseAngles, found: HandCalibration): void {
  const at = (name: string) => model.joints.findIndex((joint) => joint.name === name);
  const abd = at('thumb_abd');
  const joint = model.joints[abd]!;
  const rad = Float64Array.from(model.joints, (other, i) =>
    within(other, (found.gain[other.name] ?? 1) * poses.pinch[i]! + (found.biasRad[other.name] ?? 0)),
  );
  const goalRad = nearestAbduction(joint, rad, at);
  const line = between(
    poses.pinch[abd]!,
    goalRad,
    poses.spread[abd]!,
    REACH * joint.maxRad,
    LEAST_RAD.abduction,
  );
  if (typeof line === 'string') return;
  delete found.left[joint.name];
  found.gain[joint.name] = round(line.gain);
  found.biasRad[joint.name] = round(line.biasRad);
}

function nearestAbduction(
  { minRad, maxRad }: JointModel,
  rad: Float64Array,
  at: (name: string) => number,
): number {
  const angle = (name: string) => rad[at(name)]!;
  const bends = at('thumb_cmc') >= 0 ? ['cmc', 'mcp', 'dip'] : ['mcp', 'pip', 'dip'];
  const [first, second, third] = bends.map((part) => angle(`thumb_${part}`));
  const [thumbM, indexM] = [new Float64Array(3), new Float64Array(3)];
  fingerTip(0, angle('index_abd'), angle('index_mcp'), angle('index_pip'), indexM);
  let [bestRad, bestM] = [0, Number.POSITIVE_INFINITY];
  for (let step = 0; step <= SEARCH_STEPS; step++) {
    const abdRad = minRad + (step / SEARCH_STEPS) * (maxRad - minRad);
    thumbTip(abdRad, first!, second!, third!, thumbM);
    const apartM = Math.hypot(...thumbM.map((value, k) => value - indexM[k]!));
    if (apartM < bestM) [bestRad, bestM] = [abdRad, apartM];
  }
  return bestRad;
}

function lineOf(joint: JointModel, at: (pose: CalibrationPose) => number): Line | string {
  if (joint.name === 'wrist') return levelled(at('open'));
  if (joint.name === 'thumb_abd')
    return between(at('fist'), within(joint, 0), at('spread'), REACH * joint.maxRad, LEAST_RAD.abduction);
  if (joint.name.endsWith('_abd')) return spreadOf(joint, at('open'), at('spread'));
  const least = joint.name === 'thumb_dip' ? LEAST_RAD.coupled : LEAST_RAD.flexion;
  return between(at('open'), within(joint, 0), at('fist'), REACH * joint.maxRad, least);
}

const within = ({ minRad, maxRad }: JointModel, rad: number): number =>
  Math.min(maxRad, Math.max(minRad, rad));

function levelled(openRad: number): Line | string {
  if (Math.abs(openRad) > MOST_TILT_RAD) return 'the open hand was not level';
  return { gain: 1, biasRad: -openRad };
}

/** The middle finger hardly spreads: it keeps its gain, only its bias is calibrated. */
function spreadOf(joint: JointModel, openRad: number, spreadRad: number): Line | string {
  const movedRad = spreadRad - openRad;
  if (Math.abs(movedRad) < LEAST_RAD.abduction) return { gain: 1, biasRad: -openRad };
  const endRad = REACH * (movedRad > 0 ? joint.maxRad : joint.minRad);
  return between(openRad, within(joint, 0), spreadRad, endRad, LEAST_RAD.abduction);
}

/** The line through two poses; a gain out of bounds is clamped, keeping the first pose. */
function between(
  fromRad: number,
  fromGoalRad: number,
  toRad: number,
  toGoalRad: number,
  leastRad: number,
): Line | string {
  const movedRad = toRad - fromRad;
  if (!(Math.abs(movedRad) >= leastRad)) return `moved by only ${movedRad.toFixed(2)} rad`;
  const slope = (toGoalRad - fromGoalRad) / movedRad;
  if (!(slope > 0)) return 'moved in the wrong direction';
  const gain = Math.min(GAIN.max, Math.max(GAIN.min, slope));
  return { gain, biasRad: fromGoalRad - gain * fromRad };
}

const round = (value: number): number => Math.round(value * 1e4) / 1e4;
