import type { Counters } from '../core/counters.ts';
import { RecordRing } from '../core/memory/ring.ts';
import { emptyRow, type PackedRow } from '../messages/ring-row.ts';
import { LIMITED_BY, type RobotState, type SupervisorState } from '../messages/robot-state.ts';
import { recorderFlag } from '../messages/role-flags.ts';
import { type PackedTrace, TRACE_FIELDS } from '../messages/trace-record.ts';
import { oneWayNs } from '../trace/segments.ts';
import type { ClockSync } from '../wire/clock-sync.ts';
import type { IssuedCommand } from './command-source.ts';
import { beginRow, type RowMemory } from './row-feed.ts';

/** What an arm adds to a row: its joints, then its gripper if it has one. */
export interface RecordedArm {
  joints: number;
  hasGripper: boolean;
}

export const recordedWidth = ({ joints, hasGripper }: RecordedArm): number => joints + Number(hasGripper);

/** Where an arm's numbers are in a row, and its gripper in the newest state. */
interface ArmPlace extends RecordedArm {
  from: number;
  gripper: number;
  robotNs: number;
  /** Of the gripper, per second. */
  speed: number;
}

/** Commands whose second receipt may be outstanding: two seconds at 400 Hz fit. */
const OPEN = 1024;
/** The least able arm decides what two arms can do. */
const WORST_FIRST: readonly SupervisorState[] = [
  'stopped',
  'disconnected',
  'idle',
  'engaged',
  'hold',
  'armed',
];
const APPLIED = TRACE_FIELDS.indexOf('appliedNs');

/**
 * Joins the commands that two arms get in one tick to one row, and their two traces to the one of the slower arm. Runs on
 * the control thread: nothing waits or allocates, and without a recorder nothing happens.
 */
export class TwoArmRows {
  readonly #rows: RecordRing;
  readonly #traces: RecordRing;
  readonly #wanted: Int32Array;
  readonly #counters: Counters;
  readonly #row: PackedRow;
  readonly #arms: ArmPlace[];
  /** Records of the arm that was first, by number. */
  readonly #open = Array.from({ length: OPEN }, () => new Float64Array(TRACE_FIELDS.length));
  readonly #openSeq = new Float64Array(OPEN);

  constructor(memory: RowMemory, arms: readonly RecordedArm[], counters: Counters) {
    this.#rows = RecordRing.attach(memory.rowRing);
    this.#traces = RecordRing.attach(memory.rowTraceRing);
    this.#wanted = recorderFlag(memory);
    this.#counters = counters;
    let width = 0;
    this.#arms = arms.map((arm) => {
      const from = width;
      width += recordedWidth(arm);
      return { ...arm, from, gripper: Number.NaN, robotNs: Number.NaN, speed: 0 };
    });
    this.#row = emptyRow(width);
  }

  /** The commands and traces of one arm. */
  of(index: number): {
    onCommand(command: IssuedCommand, robot: RobotState, sync: ClockSync): void;
    onClosed(record: PackedTrace): void;
  } {
    return {
      onCommand: (command, robot, sync) => this.#onCommand(index, command, robot, sync),
      onClosed: (record) => this.#onClosed(record),
    };
  }

  /** Arms publish in order, in the same tick: the row is complete with the last one. */
  #onCommand(index: number, command: IssuedCommand, robot: RobotState, sync: ClockSync): void {
    if (Atomics.load(this.#wanted, 0) === 0) return;
    const row = this.#row;
    if (index === 0) this.#begin(command, robot, sync);
    else if (row.sampledNs !== command.sampledOperatorNs) return;
    else this.#join(command, robot);
    this.#fill(index, command, robot);
    if (index < this.#arms.length - 1) return;
    // One unknown torque makes all unknown: a row has all of them or none.
    if (row.externalNm.includes(Number.NaN)) row.externalNm[0] = Number.NaN;
    if (!this.#rows.push(row.packed)) this.#counters.add('row-dropped');
  }

  #begin(command: IssuedCommand, robot: RobotState, sync: ClockSync): void {
    const row = this.#row;
    beginRow(row, command, robot, sync);
    // Grippers are among the joints.
    row.commandGripper = row.stateGripper = row.gripperN = Number.NaN;
  }

  #join(command: IssuedCommand, robot: RobotState): void {
    const row = this.#row;
    if (row.source === 'none' || command.source === 'person') row.source = command.source;
    row.engaged ||= command.engagement > 0;
    row.intervention ||= command.intervention;
    if (!(row.disagreementRad >= command.disagreementRad)) row.disagreementRad = command.disagreementRad;
    if (WORST_FIRST.indexOf(robot.state) < WORST_FIRST.indexOf(row.supervisor)) row.supervisor = robot.state;
    if (LIMITED_BY.indexOf(robot.limitedBy) > LIMITED_BY.indexOf(row.limitedBy))
      row.limitedBy = robot.limitedBy;
  }

  #fill(index: number, command: IssuedCommand, robot: RobotState): void {
    const row = this.#row;
    const arm = this.#arms[index]!;
    const { from, joints, hasGripper } = arm;
    row.commandRad.set(command.positionsRad, from);
    row.stateRad.set(robot.positionsRad, from);
    row.stateRadS.set(robot.velocitiesRadS, from);
    row.effortNm.set(robot.effortsNm, from);
    row.externalNm.set(robot.externalNm, from);
    if (hasGripper) {
      const at = from + joints;
      row.commandRad[at] = finiteOr0(command.gripper);
      row.stateRad[at] = finiteOr0(robot.gripper);
      row.stateRadS[at] = this.#gripperSpeed(arm, robot);
      row.effortNm[at] = row.externalNm[at] = robot.gripperN;
    }
  }

  /** No driver measures it: the slope between two states. */
  #gripperSpeed(arm: ArmPlace, robot: RobotState): number {
    if (robot.robotNs === arm.robotNs) return arm.speed;
    arm.speed = finiteOr0((robot.gripper - arm.gripper) / ((robot.robotNs - arm.robotNs) / 1e9));
    arm.gripper = robot.gripper;
    arm.robotNs = robot.robotNs;
    return arm.speed;
  }

  #onClosed(record: PackedTrace): void {
    if (!Number.isNaN(record.appliedNs)) {
      this.#row.oneWayNs = oneWayNs(record);
      this.#row.uncertaintyNs = record.uncertaintyNs;
      this.#row.playoutDelayNs = record.playoutDelayNs;
    }
    if (Atomics.load(this.#wanted, 0) === 0) return;
    const slot = record.seq % OPEN;
    const first = this.#open[slot]!;
    if (this.#openSeq[slot] !== record.seq) {
      this.#openSeq[slot] = record.seq;
      first.set(record.packed);
      return;
    }
    this.#openSeq[slot] = 0;
    // A command that was never applied is the slowest of all.
    const isFirstSlower = !(first[APPLIED]! <= record.appliedNs);
    this.#traces.push(isFirstSlower && !Number.isNaN(record.appliedNs) ? first : record.packed);
  }
}

const finiteOr0 = (value: number): number => (Number.isFinite(value) ? value : 0);
