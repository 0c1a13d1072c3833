import { HandChains } from '../../geometry/hand-chains.ts';
import { measurePalm } from '../../geometry/hand-palm.ts';
import type { RobotModel } from '../../geometry/robot-model.ts';
import { checkHand, HAND_NUMBERS, spanM } from '../../hand/points.ts';
import type { Person } from '../../messages/person.ts';
import { FingerTargets } from './finger-targets.ts';
import { createHandMeter, HAND_ANGLES } from './hand-angles.ts';
import { PalmPoints } from './palm-points.ts';

/** Poses that the person shows, in this order; the last four touch that finger with the thumb. */
export const CALIBRATION_POSES = ['open', 'fist', 'index', 'middle', 'ring', 'pinky'] as const;
export type CalibrationPose = (typeof CALIBRATION_POSES)[number];

/** Hands of 21 points seen in each pose, all of one side. */
export type SeenPoses = Record<CalibrationPose, readonly Float64Array[]>;

export interface PoseTrouble {
  pose: CalibrationPose;
  /** For the person: what was wrong. */
  trouble: string;
}

const PINCHES = CALIBRATION_POSES.slice(2) as readonly ('index' | 'middle' | 'ring' | 'pinky')[];
const FINGERS = ['thumb', ...PINCHES] as const;
const LEAST_HANDS = 20;
const FARTHEST_TOUCH_M = 0.035;
/** Tracked bones may vary by this share within a pose. */
const BONE_SHARE = 0.15;
const FIST_RAD = 3.3;
const MOST_BEND_RAD = 0.35;

/** What is wrong with the hands seen in one pose; null if it can be used. */
export function checkPose(
  pose: CalibrationPose,
  hands: readonly Float64Array[],
  isLeft: boolean,
): string | null {
  if (hands.length < LEAST_HANDS) return `the hand was seen only ${hands.length} times`;
  if (hands.some((hand) => checkHand(hand) !== null)) return 'the tracked points are not a hand';
  for (let i = 1; i < 21; i++) {
    if (i % 4 === 1) continue;
    const bones = hands.map((hand) => spanM(hand, i - 1, i));
    const middleM = median(bones);
    const spread = Math.max(...bones.map((bone) => Math.abs(bone - middleM)));
    if (spread > BONE_SHARE * middleM && spread > 0.004) return 'the tracking was unsteady';
  }
  if (pose === 'fist') {
    const bends = openBends(hands, isLeft).map((finger) => finger.reduce((sum, value) => sum + value, 0));
    const open = bends.findIndex((bend) => bend < FIST_RAD);
    return open < 0 ? null : `the ${PINCHES[open]} finger was not closed`;
  }
  if (pose === 'open') {
    const bent = openBends(hands, isLeft).findIndex((finger) => finger.some((bend) => bend > 0.7));
    return bent < 0 ? null : `the ${PINCHES[bent]} finger was bent`;
  }
  const touchM = touchOf(hands, pose);
  return touchM <= FARTHEST_TOUCH_M ? null : `thumb and ${pose} were ${Math.round(touchM * 1000)} mm apart`;
}

/** The person's hand from all poses, or what was wrong with one of them. `model` has finger geometry. */
export function calibratePerson(model: RobotModel, seen: SeenPoses, isLeft: boolean): Person | PoseTrouble {
  for (const pose of CALIBRATION_POSES) {
    const trouble = checkPose(pose, seen[pose], isLeft);
    if (trouble !== null) return { pose, trouble };
  }
  const all = CALIBRATION_POSES.flatMap((pose) => seen[pose]);
  const person: Person = {
    lengthM: FINGERS.map((_, f) => round(median(all.map((hand) => fingerLength(hand, f))))),
    touchM: PINCHES.map((pose) => round(touchOf(seen[pose], pose))),
    openRad: openBends(seen.open, isLeft).map(
      (finger) => finger.map((bend) => round(clamp(bend, MOST_BEND_RAD))) as [number, number, number],
    ),
  };
  return { ...person, thumbM: thumbOffset(model, person, seen, isLeft) };
}

const fingerLength = (hand: Float64Array, f: number): number =>
  spanM(hand, 1 + 4 * f, 2 + 4 * f) + spanM(hand, 2 + 4 * f, 3 + 4 * f) + spanM(hand, 3 + 4 * f, 4 + 4 * f);

const touchOf = (hands: readonly Float64Array[], pose: CalibrationPose): number =>
  median(hands.map((hand) => spanM(hand, 4, 8 + 4 * PINCHES.indexOf(pose as 'index'))));

/** MCP, PIP and DIP bend of index … pinky. */
function openBends(hands: readonly Float64Array[], isLeft: boolean): number[][] {
  const meter = createHandMeter();
  const angles = new Float64Array(HAND_ANGLES.length);
  const rows = hands.map((hand) => {
    meter.measure(hand, isLeft, angles);
    return PINCHES.flatMap((finger, f) => [
      angles[HAND_ANGLES.indexOf(`${finger}_mcp`)]!,
      angles[HAND_ANGLES.indexOf(`${finger}_pip`)]!,
      bendAt(hand, 7 + 4 * f),
    ]);
  });
  return PINCHES.map((_, f) => [0, 1, 2].map((joint) => median(rows.map((row) => row[3 * f + joint]!))));
}

/** Angle between the bones that meet in a point. */
function bendAt(hand: Float64Array, point: number): number {
  let dot = 0;
  for (let k = 3 * point; k < 3 * point + 3; k++)
    dot += (hand[k]! - hand[k - 3]!) * (hand[k + 3]! - hand[k]!);
  return Math.acos(clamp(dot / (spanM(hand, point - 1, point) * spanM(hand, point, point + 1)), 1));
}

/** Moves the thumb's target so that in the person's own pinches it agrees with the fingers' targets. */
function thumbOffset(
  model: RobotModel,
  person: Person,
  seen: SeenPoses,
  isLeft: boolean,
): [number, number, number] {
  const chains = new HandChains(model);
  const palm = measurePalm(chains);
  const points = new PalmPoints(palm.axes);
  const targets = new FingerTargets(chains, palm, person);
  const rawM = new Float64Array(HAND_NUMBERS);
  const sums: number[][] = [[], [], []];
  chains.hand.fingers.forEach(({ name }, f) => {
    if (name === 'thumb') return;
    const tip = 3 * (4 + 4 * FINGERS.indexOf(name));
    for (const hand of seen[name]) {
      points.take(hand, isLeft);
      rawM.set(points.pointsM);
      targets.take(points.pointsM);
      for (let k = 0; k < 3; k++)
        sums[k]!.push(targets.tipsM[3 * f + k]! - targets.tipsM[k]! - (rawM[tip + k]! - rawM[12 + k]!));
    }
  });
  return sums.map((values) => round(values.reduce((sum, value) => sum + value, 0) / values.length)) as [
    number,
    number,
    number,
  ];
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[at]! : (sorted[at - 1]! + sorted[at]!) / 2;
}

const clamp = (value: number, most: number): number => Math.min(most, Math.max(-most, value));
const round = (value: number): number => Math.round(value * 1e5) / 1e5;
