import type { SnapshotBoard } from '../core/memory/snapshot.ts';
import type { LimitedBy, SupervisorState } from './robot-state.ts';
import { LIMITED_BY, SUPERVISOR_STATES } from './robot-state.ts';

const HEAD = [
  'robotNs',
  'state',
  'epoch',
  'appliedSeq',
  'queueDepth',
  'limitedBy',
  'clearanceM',
  'gripper',
] as const;

export const robotBoardSize = (joints: number): number => HEAD.length + 2 * joints;

/** The robot as its own process sees it, every control cycle, whether or not an operator listens. */
export interface RobotSnapshot {
  robotNs: number;
  state: SupervisorState;
  cause: string;
  epoch: number;
  appliedSeq: number;
  queueDepth: number;
  limitedBy: LimitedBy;
  /** NaN where nothing is watched. */
  clearanceM: number;
  /** As measured, 0 open to 1 closed. */
  gripper: number;
  measuredRad: Float64Array;
  targetRad: Float64Array;
}

/** What the board takes from the supervisor. */
interface Supervised {
  readonly state: SupervisorState;
  readonly cause: string;
  readonly epoch: number;
  readonly limitedBy: LimitedBy;
  readonly clearanceM: number;
  readonly reading: { gripper: number; positionsRad: Float64Array };
  readonly targetRad: Float64Array;
}

/** Hot path. `numbers` is scratch of `robotBoardSize`. */
export function writeRobotBoard(
  board: SnapshotBoard,
  numbers: Float64Array,
  nowNs: number,
  supervisor: Supervised,
  appliedSeq: number,
  queueDepth: number,
): void {
  numbers[0] = nowNs;
  numbers[1] = SUPERVISOR_STATES.indexOf(supervisor.state);
  numbers[2] = supervisor.epoch;
  numbers[3] = appliedSeq;
  numbers[4] = queueDepth;
  numbers[5] = LIMITED_BY.indexOf(supervisor.limitedBy);
  numbers[6] = supervisor.clearanceM;
  numbers[7] = supervisor.reading.gripper;
  numbers.set(supervisor.reading.positionsRad, HEAD.length);
  numbers.set(supervisor.targetRad, HEAD.length + supervisor.targetRad.length);
  board.write(numbers, supervisor.cause);
}

export function readRobotBoard(board: SnapshotBoard, joints: number): RobotSnapshot | null {
  const numbers = new Float64Array(robotBoardSize(joints));
  const cause = board.read(numbers);
  if (cause === null) return null;
  return {
    robotNs: numbers[0]!,
    state: SUPERVISOR_STATES[numbers[1]!] ?? 'disconnected',
    cause,
    epoch: numbers[2]!,
    appliedSeq: numbers[3]!,
    queueDepth: numbers[4]!,
    limitedBy: LIMITED_BY[numbers[5]!] ?? '',
    clearanceM: numbers[6]!,
    gripper: numbers[7]!,
    measuredRad: numbers.slice(HEAD.length, HEAD.length + joints),
    targetRad: numbers.slice(HEAD.length + joints),
  };
}
