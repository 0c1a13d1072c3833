import { SnapshotBoard } from '../../core/memory/snapshot.ts';
import type { TickStatus } from '../../messages/robot-state.ts';
import type { JointReading } from '../driver.ts';
import { createWriteResults } from './write-results.ts';

/** What the control thread wants of the driver's thread. Generations count every change between rest and power. */
export interface DriverOrder {
  generation: number;
  powered: boolean;
  /** Grows with each target. */
  writes: number;
  gripper: number;
  positionsRad: Float64Array;
}

/** What the driver's thread has to tell. */
export interface DriverReport {
  /** Grows with every pass of the thread. */
  beats: number;
  /** The newest generation that was powered or brought to rest. */
  doneGeneration: number;
  /** Of the last enable, write and read of that thread. */
  enabling: TickStatus;
  writing: TickStatus;
  reading: TickStatus;
  fault: string;
}

const STATUSES: readonly TickStatus[] = ['ok', 'stale', 'fault'];
const ORDER_HEAD = 4;
const REPORT_HEAD = 7;

/** Two boards between the control thread and the thread of a driver, and the word the latter is woken by. */
export interface DriverMemory {
  order: SharedArrayBuffer;
  report: SharedArrayBuffer;
  /** How writes ended, from the driver's thread. */
  results: SharedArrayBuffer;
  /** [wakes, the thread is to end] */
  wake: SharedArrayBuffer;
}

export function createDriverMemory(joints: number): DriverMemory {
  return {
    order: SnapshotBoard.create(ORDER_HEAD + joints).buffer,
    report: SnapshotBoard.create(REPORT_HEAD + 2 * joints).buffer,
    results: createWriteResults(),
    wake: new SharedArrayBuffer(8),
  };
}

/** One side writes orders, the other reads them. Hot path: nothing allocates. */
export class OrderBoard {
  readonly #board: SnapshotBoard;
  readonly #numbers: Float64Array;

  constructor(memory: DriverMemory, joints: number) {
    this.#board = new SnapshotBoard(memory.order);
    this.#numbers = new Float64Array(ORDER_HEAD + joints);
  }

  write(order: DriverOrder): void {
    const numbers = this.#numbers;
    numbers[0] = order.generation;
    numbers[1] = order.powered ? 1 : 0;
    numbers[2] = order.writes;
    numbers[3] = order.gripper;
    numbers.set(order.positionsRad, ORDER_HEAD);
    this.#board.write(numbers, '');
  }

  read(out: DriverOrder): boolean {
    if (this.#board.read(this.#numbers) === null) return false;
    out.generation = this.#numbers[0]!;
    out.powered = this.#numbers[1] === 1;
    out.writes = this.#numbers[2]!;
    out.gripper = this.#numbers[3]!;
    for (let i = 0; i < out.positionsRad.length; i++) out.positionsRad[i] = this.#numbers[ORDER_HEAD + i]!;
    return true;
  }
}

export class ReportBoard {
  readonly #board: SnapshotBoard;
  readonly #numbers: Float64Array;
  readonly #joints: number;

  constructor(memory: DriverMemory, joints: number) {
    this.#board = new SnapshotBoard(memory.report);
    this.#numbers = new Float64Array(REPORT_HEAD + 2 * joints);
    this.#joints = joints;
  }

  write(report: DriverReport, reading: JointReading): void {
    const numbers = this.#numbers;
    numbers[0] = report.beats;
    numbers[1] = report.doneGeneration;
    numbers[2] = STATUSES.indexOf(report.enabling);
    numbers[3] = STATUSES.indexOf(report.writing);
    numbers[4] = STATUSES.indexOf(report.reading);
    numbers[5] = reading.robotNs;
    numbers[6] = reading.gripper;
    numbers.set(reading.positionsRad, REPORT_HEAD);
    numbers.set(reading.velocitiesRadS, REPORT_HEAD + this.#joints);
    this.#board.write(numbers, report.fault);
  }

  read(out: DriverReport, reading: JointReading): boolean {
    const fault = this.#board.read(this.#numbers);
    if (fault === null) return false;
    const numbers = this.#numbers;
    out.beats = numbers[0]!;
    out.doneGeneration = numbers[1]!;
    out.enabling = STATUSES[numbers[2]!] ?? 'fault';
    out.writing = STATUSES[numbers[3]!] ?? 'fault';
    out.reading = STATUSES[numbers[4]!] ?? 'fault';
    out.fault = fault;
    reading.robotNs = numbers[5]!;
    reading.gripper = numbers[6]!;
    for (let i = 0; i < this.#joints; i++) {
      reading.positionsRad[i] = numbers[REPORT_HEAD + i]!;
      reading.velocitiesRadS[i] = numbers[REPORT_HEAD + this.#joints + i]!;
    }
    return true;
  }
}

export const emptyOrder = (joints: number): DriverOrder => ({
  generation: 0,
  powered: false,
  writes: 0,
  gripper: 0,
  positionsRad: new Float64Array(joints),
});

export const emptyReport = (): DriverReport => ({
  beats: 0,
  doneGeneration: 0,
  enabling: 'stale',
  writing: 'stale',
  reading: 'stale',
  fault: '',
});
