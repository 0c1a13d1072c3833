import { Counters } from '../core/counters.ts';
import { RecordRing } from '../core/memory/ring.ts';
import { SnapshotBoard } from '../core/memory/snapshot.ts';
import { DurationHistogram } from '../core/statistics/histogram.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import { RING_ROW } from '../messages/ring-row.ts';
import { ROBOT_BOARD } from '../messages/robot-board.ts';
import { FLAG_BYTES, type Flags, type Role } from '../messages/role-flags.ts';
import { TRACE_FIELDS } from '../messages/trace-record.ts';
import { WORLD_STATE } from '../messages/world-state.ts';
import { BOARD } from '../operator/board.ts';
import { jointsRing } from '../operator/joints-ring.ts';
import { PERSON_BOARD } from '../operator/person-board.ts';
import type { Side } from '../rig/arms-config.ts';
import type { Rig } from '../rig/rig.ts';
import type { Priors } from '../robot/network-memory.ts';
import { PAIR_BOARD } from '../robot/pair-watch.ts';
import type { PriorJson } from '../robot/playout/adaptive/prior.ts';
import { FlightRecorder } from '../robot/supervisor/flight-recorder.ts';
import { TOPIC_BOARD } from '../robot/topic-commander.ts';
import type { FailedMessage } from './worker-host.ts';

/** The memory a control thread shares with the rest of its process. All its data leaves through it. */
export interface RoleMemory extends Flags {
  counters: SharedArrayBuffer;
  lateness: SharedArrayBuffer;
  board: SharedArrayBuffer;
  traceRing: SharedArrayBuffer;
  telemetryRing: SharedArrayBuffer;
  /**
   * Operator, for the recorder: every published command with the state of its instant, and every closed
   * command.
   */
  rowRing: SharedArrayBuffer;
  rowTraceRing: SharedArrayBuffer;
  /** Commanded and measured joints, for the same two readers; empty on the robot. */
  traceJoints: SharedArrayBuffer;
  telemetryJoints: SharedArrayBuffer;
  /** The robot's last seconds; empty on the operator. */
  flight: SharedArrayBuffer;
  /** The newest state of the other arm, if the robot has one beside it. */
  pair: SharedArrayBuffer;
  /** A person's hand, measured while the operator runs. */
  person: SharedArrayBuffer;
  /** The newest command on the robot's topic. */
  topics: SharedArrayBuffer;
  /** The simulated world, if the robot has one: as read on the robot, as received on the operator. */
  world: SharedArrayBuffer;
}

/** What a role needs for one arm. */
export interface ArmStart {
  /** Null: the only one. */
  side: Side | null;
  rig: Rig;
  model: RobotModel;
  robotHost: string;
  memory: RoleMemory;
  /** The model of the arm beside it. */
  neighbour: RobotModel | null;
  /** Paired keys; empty on a plain link. */
  keys: Uint8Array[];
}

/** Start data of a control worker: of the only arm, or of the left one with the right one in `second`. */
export interface ControlStart extends ArmStart {
  role: Role;
  second: ArmStart | null;
  /** Operator: session number. Robot: boot number. */
  identity: number;
  /** Robot: ids of keys whose machines may only watch and stop it. */
  viewers: string[];
  /** Robot: what playout learnt about each network in earlier sessions. */
  priors: Priors;
}

/** Messages from a control worker to its process; rare, never per tick. */
export type ControlMessage =
  | {
      kind: 'ready';
      ports: number[];
      inputs: string[];
      reactor: string;
      stampSource: 'kernel' | 'userspace';
      scheduling: string;
      fallback: string | null;
    }
  | {
      kind: 'transition';
      /** Of two arms. */
      side: Side | null;
      from: string;
      to: string;
      cause: string;
      robotNs: number;
      flight: number;
    }
  | { kind: 'learnt'; network: string; prior: PriorJson }
  | FailedMessage
  | { kind: 'done' };

/** Ten seconds of closed commands at 400 Hz. */
const RING_RECORDS = 4096;

/** Twenty seconds of rows at 100 Hz: longer than a disk may stall. */
const ROW_RECORDS = 2048;

/** How much of the past the flight recorder keeps. */
const FLIGHT_S = 2;

/** `recorded`: numbers per row of a recording, if not one per joint. */
export function createRoleMemory(
  role: Role,
  joints: number,
  controlHz = 0,
  pairJoints = 0,
  recorded = joints,
): RoleMemory {
  const cycles = role === 'robot' ? FLIGHT_S * controlHz : 1;
  const rowRecords = role === 'operator' ? ROW_RECORDS : 2;
  const jointsRecords = role === 'operator' ? RING_RECORDS : 2;
  const numbers = role === 'operator' ? BOARD.size(joints) : ROBOT_BOARD.size(joints);
  return {
    flags: new SharedArrayBuffer(FLAG_BYTES),
    counters: new Counters().buffer,
    lateness: new DurationHistogram().buffer,
    board: SnapshotBoard.create(numbers).buffer,
    traceRing: RecordRing.create(TRACE_FIELDS.length, RING_RECORDS).buffer,
    telemetryRing: RecordRing.create(TRACE_FIELDS.length, RING_RECORDS).buffer,
    rowRing: RecordRing.create(RING_ROW.size(recorded), rowRecords).buffer,
    rowTraceRing: RecordRing.create(TRACE_FIELDS.length, rowRecords).buffer,
    traceJoints: jointsRing(joints, jointsRecords).buffer,
    telemetryJoints: jointsRing(joints, jointsRecords).buffer,
    flight: FlightRecorder.create(joints, cycles).buffer,
    pair: SnapshotBoard.create(PAIR_BOARD.size(pairJoints)).buffer,
    person: SnapshotBoard.create(PERSON_BOARD.size(0)).buffer,
    topics: SnapshotBoard.create(TOPIC_BOARD.size(joints)).buffer,
    world: SnapshotBoard.create(WORLD_STATE.size()).buffer,
  };
}

/** The arms of a control thread, left before right. */
export const armsOf = (start: ControlStart): ArmStart[] =>
  start.second === null ? [start] : [start, start.second];
