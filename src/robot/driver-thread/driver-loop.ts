import type { Counters } from '../../core/counters.ts';
import { type Clock, NS_PER_MS } from '../../core/time/clock.ts';
import { type Driver, emptyReading, type JointReading } from '../driver.ts';
import { type DriverMemory, emptyOrder, emptyReport, OrderBoard, ReportBoard } from './driver-boards.ts';

/** The control loop passes by at 50 Hz at least; when it has not for so long, the driver's thread stops the robot. */
const CONTROL_SILENCE_NS = 150 * NS_PER_MS;

/** The driver's side of the two boards: carries out the newest order and tells the newest news. Sans I/O. */
export class DriverLoop {
  readonly #driver: Driver;
  readonly #clock: Clock;
  readonly #counters: Counters | null;
  readonly #orders: OrderBoard;
  readonly #reportBoard: ReportBoard;
  readonly #order;
  readonly #report = emptyReport();
  readonly #reading: JointReading;
  #written = 0;
  /** The newest generation that was begun. */
  #generation = 0;
  #enabled = false;
  #lapse = '';
  #receivedNs: number;
  #busErrors = 0;

  constructor(
    driver: Driver,
    memory: DriverMemory,
    joints: number,
    clock: Clock,
    counters: Counters | null = null,
  ) {
    this.#driver = driver;
    this.#clock = clock;
    this.#counters = counters;
    this.#orders = new OrderBoard(memory, joints);
    this.#reportBoard = new ReportBoard(memory, joints);
    this.#order = emptyOrder(joints);
    this.#reading = emptyReading(joints);
    this.#receivedNs = clock.nowNs();
  }

  /** The control loop has passed by. Stopping comes before everything else. */
  onWake(): void {
    const nowNs = this.#clock.nowNs();
    this.#receivedNs = nowNs;
    if (this.#orders.read(this.#order)) this.#carryOut(nowNs);
    this.#publish(nowNs);
  }

  #carryOut(nowNs: number): void {
    const { generation, powered, writes, positionsRad, gripper } = this.#order;
    if (generation !== this.#generation) {
      // A stop counts even where power was asked for again before this thread passed.
      if (!powered || generation > this.#generation + 1) this.#driver.stop(nowNs);
      this.#generation = generation;
      this.#enabled = false;
      this.#lapse = '';
    }
    if (generation !== this.#report.doneGeneration) {
      if (!powered) {
        this.#report.doneGeneration = generation;
        this.#report.enabling = 'stale';
        return;
      }
      this.#report.enabling = this.#driver.enable(nowNs);
      if (this.#report.enabling === 'stale') return;
      this.#report.doneGeneration = generation;
      this.#enabled = this.#report.enabling === 'ok';
      this.#report.writing = 'ok';
      this.#written = writes;
    }
    if (!this.#enabled || writes === this.#written) return;
    this.#written = writes;
    this.#report.writing = this.#driver.write(nowNs, positionsRad, gripper);
  }

  #publish(nowNs: number): void {
    this.#report.beats++;
    const reading = this.#driver.read(nowNs, this.#reading);
    this.#report.reading = this.#lapse === '' ? reading : 'fault';
    this.#report.fault = this.#lapse || this.#driver.fault;
    this.#reportBoard.write(this.#report, this.#reading);
    this.#count();
  }

  #count(): void {
    const { busErrors = 0 } = this.#driver;
    if (busErrors > this.#busErrors) this.#counters?.add('bus-error', busErrors - this.#busErrors);
    this.#busErrors = busErrors;
  }

  /** Now and then: a control loop that is silent has lost the robot. */
  watch(): void {
    const nowNs = this.#clock.nowNs();
    if (nowNs - this.#receivedNs <= CONTROL_SILENCE_NS) return;
    if (!this.#enabled) return;
    this.#driver.stop(nowNs);
    this.#enabled = false;
    this.#report.writing = 'fault';
    this.#lapse = `the control loop was silent for ${CONTROL_SILENCE_NS / NS_PER_MS} ms`;
  }

  end(): void {
    this.#driver.stop(this.#clock.nowNs());
    this.#driver.dispose();
  }
}
