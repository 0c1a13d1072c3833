import type { Telemetry } from '../messages/telemetry.ts';

/** What to press next: the hand's direction with the distance, or the gripper. */
export interface PlaceHint {
  kind: 'forward' | 'back' | 'left' | 'right' | 'up' | 'down' | 'gripper';
  /** How far to go; 0 for the gripper. */
  distanceM: number;
}

/** The task of the tour: its bodies are the tray and the cube. */
export const PLACE_TASK = 'cube';
const [TRAY, CUBE] = [0, 1] as const;
const POSE_SIZE = 7;

/** Close enough to grip, and to let go. */
const OVER_CUBE_M = 0.014;
const OVER_TRAY_M = 0.04;
/** A gripper this high passes over the cube and the walls of the tray. */
const CLEAR_M = 0.095;
const GRIP_ABOVE_M = 0.012;
const DROP_M = 0.085;
const OPEN = 0.25;
/** Closed on nothing. */
const EMPTY = 0.75;

/**
 * The next key for somebody who takes the cube to the tray for the first time, from what the robot reports. Assumes that
 * the robot's x is ahead of the person, as the view shows it. Null: nothing to do, or not this task.
 */
export function placeHint({ world = null, robot }: Telemetry): PlaceHint | null {
  if (world?.task !== PLACE_TASK || world.gripM === undefined || robot === null || world.score >= 1)
    return null;
  const gripM = world.gripM;
  const holds = world.held === CUBE;
  const goalM = world.poses.slice((holds ? TRAY : CUBE) * POSE_SIZE).slice(0, 3);
  const [forwardM, leftM] = [goalM[0]! - gripM[0]!, goalM[1]! - gripM[1]!];
  const isOver = Math.max(Math.abs(forwardM), Math.abs(leftM)) < (holds ? OVER_TRAY_M : OVER_CUBE_M);
  if (!isOver) {
    if (gripM[2]! < CLEAR_M - 0.015) return { kind: 'up', distanceM: CLEAR_M - gripM[2]! };
    return Math.abs(forwardM) > Math.abs(leftM)
      ? { kind: forwardM > 0 ? 'forward' : 'back', distanceM: Math.abs(forwardM) }
      : { kind: leftM > 0 ? 'left' : 'right', distanceM: Math.abs(leftM) };
  }
  if (!holds && (robot.gripper > EMPTY || (robot.gripper > OPEN && gripM[2]! > CLEAR_M / 2))) return GRIPPER;
  const bottomM = holds ? DROP_M : goalM[2]! + GRIP_ABOVE_M;
  const downM = gripM[2]! - bottomM;
  return downM > 0.004 ? { kind: 'down', distanceM: downM } : GRIPPER;
}

const GRIPPER: PlaceHint = { kind: 'gripper', distanceM: 0 };
