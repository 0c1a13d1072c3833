/**
 * The Bento arm as modelled by brachIOplexus and the Virtual Bento. Wire positions are counts of a Dynamixel
 * MX servo: 4096 per turn, 2048 is zero. Joint angles here are wire positions in radians.
 */
export const JOINT_NAMES = ['shoulder', 'elbow', 'wrist_rotate', 'wrist_flex', 'hand'] as const;
export const HAND = 4;

/** brachIOplexus' default minimum and maximum per joint, in counts. The hand is closed at its minimum. */
export const DEFAULT_LIMITS: readonly number[] = [1028, 3073, 2038, 2570, 1028, 3073, 790, 3328, 1928, 2800];
/** Highest speed that brachIOplexus requests, in wire units. */
export const MAX_SPEEDS: readonly number[] = [67, 45, 90, 67, 90];
export const DEFAULT_FRAME_RATE = 30;

export const COUNTS_PER_TURN = 4096;
const ZERO_COUNTS = COUNTS_PER_TURN / 2;
const RAD_PER_COUNT = (2 * Math.PI) / COUNTS_PER_TURN;

export const radOfCounts = (counts: number): number => (counts - ZERO_COUNTS) * RAD_PER_COUNT;

/** Rounds down to a count, as the original does. */
export const countsOfRad = (rad: number): number => Math.trunc(rad / RAD_PER_COUNT + ZERO_COUNTS);

/** For a limit that was converted from counts. */
export const nearestCounts = (rad: number): number => Math.round(rad / RAD_PER_COUNT + ZERO_COUNTS);

/**
 * Joint speed of one wire unit. Unity turns a joint by 1.2 · 0.02 degrees per unit and rendered frame, so it
 * depends on the frame rate.
 */
export const radSPerUnit = (frameRate: number): number => (1.2 * 0.02 * frameRate * Math.PI) / 180;

export interface BentoScene {
  /** As in Unity's project. */
  readonly name: string;
  /** As brachIOplexus lists it. */
  readonly task: string;
  /** Default view: x, y, z in millimetres and Euler angles in degrees, in Unity's frame. */
  readonly camera: readonly number[];
}

const ABOVE = [-185, 500, 0, 66, 270, 0] as const;
const ASIDE = [-208, 403, -222, 55, 299, 0] as const;

/** By scene index; 0 runs before a scene is chosen. */
export const SCENES: readonly BentoScene[] = [
  { name: 'StartUpScene', task: 'Start-up', camera: ABOVE },
  { name: 'DefaultEmptyScene', task: 'Basic Movement', camera: ABOVE },
  { name: 'BallCupTask_Basic', task: 'Slam Dunk', camera: ABOVE },
  { name: 'BallCupTask_Pour', task: 'Don’t Spill', camera: ABOVE },
  { name: 'BallCupTask_Stack', task: '1up Ball Cup', camera: ASIDE },
  { name: 'BlockTask_Basic', task: 'Bento Block Stacking', camera: [-320, 536, 0, 82, 270, 0] },
  { name: 'CupStackTask_Basic', task: 'Cup Stacking', camera: ASIDE },
];
