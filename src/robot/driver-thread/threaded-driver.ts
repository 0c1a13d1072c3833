import { NS_PER_MS } from '../../core/time/clock.ts';
import type { MotorHealth } from '../../messages/motor-health.ts';
import type { TickStatus } from '../../messages/robot-state.ts';
import type { Driver, HandOver, JointReading, WorldPort } from '../driver.ts';
import { type DriverMemory, orderBoard, reportBoard, worldBoard } from './driver-boards.ts';
import { WriteResults } from './write-results.ts';

/** A driver thread silent for this long counts as dead, unless the rig accepts readings that are older. */
const THREAD_SILENCE_MS = 250;

/**
 * The control thread's view of a driver that runs on its own thread, so that its I/O never delays a control
 * cycle. Hot path: nothing waits.
 */
export class ThreadedDriver implements Driver {
  readonly handOver: HandOver;
  readonly world: WorldPort;
  readonly #orders;
  readonly #order;
  readonly #reportBoard;
  readonly #report;
  readonly #wake: Int32Array;
  /** Text of the order: the task requested last. */
  #task = '';
  #beats = -1;
  #beatNs = Number.NaN;
  #silent = false;
  readonly #silenceNs: number;

  constructor(memory: DriverMemory, joints: number, feedbackTimeoutMs = 0) {
    this.#silenceNs = Math.max(THREAD_SILENCE_MS, feedbackTimeoutMs) * NS_PER_MS;
    this.#orders = orderBoard(memory, joints);
    this.#reportBoard = reportBoard(memory, joints);
    this.#report = this.#reportBoard.value;
    this.#wake = new Int32Array(memory.wake);
    const order = this.#orders.value;
    const results = new WriteResults(memory.results);
    this.#order = order;
    this.world = this.#worldPort(memory);
    this.handOver = {
      get newest() {
        return order.writes;
      },
      next: (out) => results.next(out),
    };
  }

  get health(): MotorHealth {
    return this.#report;
  }

  #worldPort(memory: DriverMemory): WorldPort {
    const board = worldBoard(memory);
    return {
      read: (out) => {
        if (!board.read()) return '';
        out.packed.set(board.value.packed);
        return board.text;
      },
      request: (task, seed) => {
        this.#order.worldRequests++;
        this.#order.worldSeed = seed ?? -1;
        this.#task = task;
        this.#publish();
      },
    };
  }

  get fault(): string {
    return this.#silent
      ? 'the driver thread is not responding; if a reset does not help, restart the robot process'
      : this.#reportBoard.text;
  }

  enable(nowNs: number): TickStatus {
    if (!this.#order.powered) this.#begin(true);
    this.#pass(nowNs);
    if (this.#silent) return 'fault';
    return this.#report.doneGeneration === this.#order.generation ? this.#report.enabling : 'stale';
  }

  read(nowNs: number, out: JointReading): TickStatus {
    this.#pass(nowNs);
    // Without power there is nothing to stop, so wait for a thread that is still starting or a busy machine.
    if (this.#silent) return this.#order.powered ? 'fault' : 'stale';
    out.robotNs = this.#report.robotNs;
    out.gripper = this.#report.gripper;
    out.positionsRad.set(this.#report.positionsRad);
    out.velocitiesRadS.set(this.#report.velocitiesRadS);
    out.effortsNm.set(this.#report.effortsNm);
    out.externalNm.set(this.#report.externalNm);
    out.gripperN = this.#report.gripperN;
    return this.#report.reading;
  }

  write(_nowNs: number, positionsRad: Float64Array, gripper: number): TickStatus {
    if (!this.#order.powered) return 'ok';
    this.#order.writes++;
    this.#order.gripper = gripper;
    this.#order.positionsRad.set(positionsRad);
    this.#publish();
    if (this.#silent) return 'fault';
    return this.#report.doneGeneration === this.#order.generation ? this.#report.writing : 'ok';
  }

  stop(): void {
    this.#begin(false);
    this.#publish();
  }

  dispose(): void {
    this.#begin(false);
    Atomics.store(this.#wake, 1, 1);
    this.#publish();
  }

  #begin(powered: boolean): void {
    this.#order.powered = powered;
    this.#order.generation++;
  }

  #pass(nowNs: number): void {
    this.#publish();
    this.#reportBoard.read();
    if (this.#report.beats !== this.#beats || Number.isNaN(this.#beatNs)) {
      this.#beats = this.#report.beats;
      this.#beatNs = nowNs;
    }
    this.#silent = nowNs - this.#beatNs > this.#silenceNs;
  }

  #publish(): void {
    this.#orders.write(this.#task);
    Atomics.add(this.#wake, 0, 1);
    Atomics.notify(this.#wake, 0);
  }
}
