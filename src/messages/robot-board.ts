import type { SnapshotBoard } from '../core/memory/snapshot.ts';
import { number, oneOf, perJoint, type StructOf, struct } from '../core/memory/struct-layout.ts';
import { LIMITED_BY, type LimitedBy, SUPERVISOR_STATES, type SupervisorState } from './robot-state.ts';

/** The robot as its own process sees it, every control cycle, with or without an operator. */
export const ROBOT_BOARD = struct({
  robotNs: number,
  state: oneOf(SUPERVISOR_STATES, 'disconnected'),
  epoch: number,
  appliedSeq: number,
  queueDepth: number,
  limitedBy: oneOf(LIMITED_BY, ''),
  /** NaN where no pair is watched. */
  clearanceM: number,
  /** As measured, 0 open to 1 closed. */
  gripper: number,
  measuredRad: perJoint,
  velocitiesRadS: perJoint,
  targetRad: perJoint,
});
type RobotNumbers = StructOf<typeof ROBOT_BOARD>;
export type RobotSnapshot = Omit<RobotNumbers, 'packed'> & { cause: string };

/** What the board copies from the supervisor. */
interface Supervised {
  readonly state: SupervisorState;
  readonly cause: string;
  readonly epoch: number;
  readonly limitedBy: LimitedBy;
  readonly clearanceM: number;
  readonly reading: { gripper: number; positionsRad: Float64Array; velocitiesRadS: Float64Array };
  readonly targetRad: Float64Array;
}

/** Hot path. `out` is scratch. */
export function writeRobotBoard(
  board: SnapshotBoard,
  out: RobotNumbers,
  nowNs: number,
  supervisor: Supervised,
  appliedSeq: number,
  queueDepth: number,
): void {
  out.robotNs = nowNs;
  out.state = supervisor.state;
  out.epoch = supervisor.epoch;
  out.appliedSeq = appliedSeq;
  out.queueDepth = queueDepth;
  out.limitedBy = supervisor.limitedBy;
  out.clearanceM = supervisor.clearanceM;
  out.gripper = supervisor.reading.gripper;
  out.measuredRad.set(supervisor.reading.positionsRad);
  out.velocitiesRadS.set(supervisor.reading.velocitiesRadS);
  out.targetRad.set(supervisor.targetRad);
  board.write(out.packed, supervisor.cause);
}

export function readRobotBoard(board: SnapshotBoard, joints: number): RobotSnapshot | null {
  const view = ROBOT_BOARD.create(joints);
  const cause = board.read(view.packed);
  return cause === null ? null : { ...ROBOT_BOARD.plain(view), cause };
}
