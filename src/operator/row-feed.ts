import type { Counters } from '../core/counters.ts';
import { RecordRing } from '../core/memory/ring.ts';
import { emptyRow, type PackedRow } from '../messages/ring-row.ts';
import type { RobotState } from '../messages/robot-state.ts';
import { type Flags, recorderFlag } from '../messages/role-flags.ts';
import type { PackedTrace } from '../messages/trace-record.ts';
import { oneWayNs } from '../trace/segments.ts';
import type { ClockSync } from '../wire/clock-sync.ts';
import type { IssuedCommand } from './command-source.ts';

/** Takes every published command for a recording. */
export interface CommandRows {
  /** Hot path. */
  onCommand(command: IssuedCommand, robot: RobotState, sync: ClockSync): void;
}

/** The rings to the recorder, and the flag by which it requests rows. */
export interface RowMemory extends Flags {
  rowRing: SharedArrayBuffer;
  rowTraceRing: SharedArrayBuffer;
}

/** Fills in what a row has once, however many arms it has. Hot path. */
export function beginRow(row: PackedRow, command: IssuedCommand, robot: RobotState, sync: ClockSync): void {
  row.seq = command.seq;
  row.sampledNs = command.sampledOperatorNs;
  row.engaged = command.engagement > 0;
  row.source = command.source;
  row.intervention = command.intervention;
  row.disagreementRad = command.disagreementRad;
  row.supervisor = robot.state;
  row.limitedBy = robot.limitedBy;
  row.offsetNs = sync.offsetAt(command.sampledOperatorNs);
  row.offsetUncertaintyNs = sync.uncertaintyNs;
}

/**
 * Passes every published command, with the state of the same instant, to the recorder's thread through shared
 * memory. Runs on the control thread: nothing waits or allocates, and without a recorder nothing happens.
 */
export class RowFeed implements CommandRows {
  readonly #rows: RecordRing;
  readonly #traces: RecordRing;
  readonly #wanted: Int32Array;
  readonly #counters: Counters;
  readonly #row: PackedRow;

  constructor(memory: RowMemory, joints: number, counters: Counters) {
    this.#rows = RecordRing.attach(memory.rowRing);
    this.#traces = RecordRing.attach(memory.rowTraceRing);
    this.#wanted = recorderFlag(memory);
    this.#counters = counters;
    this.#row = emptyRow(joints);
  }

  /** Hot path. */
  onCommand(command: IssuedCommand, robot: RobotState, sync: ClockSync): void {
    if (Atomics.load(this.#wanted, 0) === 0) return;
    const row = this.#row;
    beginRow(row, command, robot, sync);
    row.commandGripper = command.gripper;
    row.stateGripper = robot.gripper;
    row.gripperN = robot.gripperN;
    row.commandRad.set(command.positionsRad);
    row.stateRad.set(robot.positionsRad);
    row.stateRadS.set(robot.velocitiesRadS);
    row.effortNm.set(robot.effortsNm);
    row.externalNm.set(robot.externalNm);
    if (!this.#rows.push(row.packed)) this.#counters.add('row-dropped');
  }

  /** Hot path. */
  onClosed(record: PackedTrace): void {
    if (!Number.isNaN(record.appliedNs)) {
      this.#row.oneWayNs = oneWayNs(record);
      this.#row.uncertaintyNs = record.uncertaintyNs;
      this.#row.playoutDelayNs = record.playoutDelayNs;
    }
    if (Atomics.load(this.#wanted, 0) === 0) return;
    this.#traces.push(record.packed);
  }
}
