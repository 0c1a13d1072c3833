import { SnapshotBoard } from '../../core/memory/snapshot.ts';
import { StructBoard } from '../../core/memory/struct-board.ts';
import { flag, number, oneOf, perJoint, type StructOf, struct } from '../../core/memory/struct-layout.ts';
import { copyMotorHealth, emptyMotorHealth } from '../../messages/motor-health.ts';
import { TICK_STATUSES } from '../../messages/robot-state.ts';
import { WORLD_STATE } from '../../messages/world-state.ts';
import { createWriteResults } from './write-results.ts';

/** Control thread to driver thread. The generation grows whenever power is switched on or off. */
const ORDER = struct({
  generation: number,
  powered: flag,
  /** Grows with each target. */
  writes: number,
  gripper: number,
  /** Grows with each request for the world; −1 as its seed: the next one. The board's text is the task. */
  worldRequests: number,
  worldSeed: number,
  positionsRad: perJoint,
});

/** Driver thread to control thread, with the newest reading. The board's text is the driver's fault. */
const REPORT = struct({
  /** Grows with every pass of the thread. */
  beats: number,
  /** The newest generation that was powered or brought to rest. */
  doneGeneration: number,
  /** Results of the driver thread's last enable, write and read. */
  enabling: oneOf(TICK_STATUSES, 'fault'),
  writing: oneOf(TICK_STATUSES, 'fault'),
  reading: oneOf(TICK_STATUSES, 'fault'),
  robotNs: number,
  gripper: number,
  gripperN: number,
  positionsRad: perJoint,
  velocitiesRadS: perJoint,
  /** Condition of the motors; NaN if the driver does not know it. */
  temperatureC: perJoint,
  currentA: perJoint,
  voltageV: perJoint,
  level: perJoint,
  effortsNm: perJoint,
  externalNm: perJoint,
});

/** Two boards shared by the control thread and a driver thread, and the word that wakes the driver thread. */
export interface DriverMemory {
  order: SharedArrayBuffer;
  report: SharedArrayBuffer;
  /** Results of writes, from the driver thread. */
  results: SharedArrayBuffer;
  /** The simulated world, from the driver thread; its text is the task. */
  world: SharedArrayBuffer;
  /** [wakes, end of the thread requested] */
  wake: SharedArrayBuffer;
}

export function createDriverMemory(joints: number): DriverMemory {
  return {
    order: SnapshotBoard.create(ORDER.size(joints)).buffer,
    report: SnapshotBoard.create(REPORT.size(joints)).buffer,
    results: createWriteResults(),
    world: SnapshotBoard.create(WORLD_STATE.size()).buffer,
    wake: new SharedArrayBuffer(8),
  };
}

/** The control thread writes orders, the driver thread reads them. Hot path: nothing allocates. */
export const orderBoard = (memory: DriverMemory, joints: number): StructBoard<StructOf<typeof ORDER>> =>
  new StructBoard(memory.order, ORDER.create(joints));

/** The driver thread writes reports, the control thread reads them. */
export function reportBoard(memory: DriverMemory, joints: number): StructBoard<StructOf<typeof REPORT>> {
  const report = REPORT.create(joints);
  report.enabling = 'stale';
  report.writing = 'stale';
  report.reading = 'stale';
  copyMotorHealth(emptyMotorHealth(joints), report);
  report.gripperN = Number.NaN;
  report.effortsNm.fill(Number.NaN);
  report.externalNm.fill(Number.NaN);
  return new StructBoard(memory.report, report);
}

/** The driver thread writes the world, the control thread reads it. */
export const worldBoard = (memory: DriverMemory): StructBoard<StructOf<typeof WORLD_STATE>> =>
  new StructBoard(memory.world, WORLD_STATE.create());
