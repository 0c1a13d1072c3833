import type { Counters } from '../../core/counters.ts';
import { type Clock, NS_PER_MS } from '../../core/time/clock.ts';
import { copyMotorHealth } from '../../messages/motor-health.ts';
import type { Driver } from '../driver.ts';
import { type DriverMemory, orderBoard, reportBoard, worldBoard } from './driver-boards.ts';
import { WriteResults } from './write-results.ts';

/** The control loop wakes this thread at 50 Hz or faster. After this silence it stops the robot. */
const CONTROL_SILENCE_MS = 150;

/** The driver's side of the two boards: carries out the newest order and publishes a report. Sans I/O. */
export class DriverLoop {
  readonly #driver: Driver;
  readonly #clock: Clock;
  readonly #counters: Counters | null;
  readonly #controlSilenceMs: number;
  readonly #orders;
  readonly #order;
  readonly #reportBoard;
  readonly #report;
  readonly #results: WriteResults;
  readonly #worldBoard;
  /** Requests for the world that were passed on. */
  #worldRequests = 0;
  /** Number of the newest target seen: it is written in the pass that sees it, or never. */
  #written = 0;
  /** The newest generation started. */
  #generation = 0;
  #enabled = false;
  #lapse = '';
  #receivedNs = 0;
  #busErrors = 0;

  constructor(
    driver: Driver,
    memory: DriverMemory,
    joints: number,
    clock: Clock,
    counters: Counters | null = null,
    controlSilenceMs = CONTROL_SILENCE_MS,
  ) {
    this.#driver = driver;
    this.#clock = clock;
    this.#counters = counters;
    this.#controlSilenceMs = controlSilenceMs;
    this.#orders = orderBoard(memory, joints);
    this.#order = this.#orders.value;
    this.#reportBoard = reportBoard(memory, joints);
    this.#report = this.#reportBoard.value;
    this.#results = new WriteResults(memory.results);
    this.#worldBoard = worldBoard(memory);
    this.#receivedNs = clock.nowNs();
  }

  /** Called when the control loop wakes this thread. A stop comes before everything else. */
  onWake(): void {
    const nowNs = this.#clock.nowNs();
    this.#receivedNs = nowNs;
    if (this.#orders.read()) this.#carryOut(nowNs);
    this.#publish(nowNs);
  }

  #carryOut(nowNs: number): void {
    const { writes, positionsRad, gripper } = this.#order;
    const isPowered = this.#power(nowNs);
    this.#askWorld();
    if (writes === this.#written) return;
    this.#written = writes;
    if (isPowered) this.#report.writing = this.#driver.write(nowNs, positionsRad, gripper);
    const isFault = this.#report.writing === 'fault';
    this.#results.push(writes, isPowered && !isFault ? this.#clock.nowNs() : Number.NaN, isFault);
  }

  /**
   * True if the joints were already powered before this pass. A target from before power-on must not be
   * written.
   */
  #power(nowNs: number): boolean {
    const { generation, powered } = this.#order;
    if (generation !== this.#generation) {
      // Carry out a stop even if power was requested again before this thread ran.
      if (!powered || generation > this.#generation + 1) this.#driver.stop(nowNs);
      this.#generation = generation;
      this.#enabled = false;
      this.#lapse = '';
    }
    if (generation === this.#report.doneGeneration) return this.#enabled;
    this.#report.enabling = powered ? this.#driver.enable(nowNs) : 'stale';
    if (powered && this.#report.enabling === 'stale') return false;
    this.#report.doneGeneration = generation;
    this.#enabled = this.#report.enabling === 'ok';
    if (powered) this.#report.writing = 'ok';
    return false;
  }

  #askWorld(): void {
    const { worldRequests, worldSeed } = this.#order;
    if (worldRequests === this.#worldRequests) return;
    this.#worldRequests = worldRequests;
    this.#driver.world?.request(this.#orders.text, worldSeed < 0 ? null : worldSeed);
  }

  #publish(nowNs: number): void {
    this.#report.beats++;
    const reading = this.#driver.read(nowNs, this.#report);
    this.#report.reading = this.#lapse === '' ? reading : 'fault';
    if (this.#driver.health !== undefined) copyMotorHealth(this.#driver.health, this.#report);
    this.#reportBoard.write(this.#lapse || this.#driver.fault);
    this.#count();
    const { world } = this.#driver;
    if (world) this.#worldBoard.write(world.read(this.#worldBoard.value));
  }

  #count(): void {
    const { busErrors = 0 } = this.#driver;
    if (busErrors > this.#busErrors) this.#counters?.add('bus-error', busErrors - this.#busErrors);
    this.#busErrors = busErrors;
  }

  /** Called periodically: stops the robot if the control loop is silent. */
  watch(): void {
    const nowNs = this.#clock.nowNs();
    if (nowNs - this.#receivedNs <= this.#controlSilenceMs * NS_PER_MS) return;
    if (!this.#enabled) return;
    this.#driver.stop(nowNs);
    this.#enabled = false;
    this.#report.writing = 'fault';
    this.#lapse = `no message from the control loop for ${this.#controlSilenceMs} ms`;
  }

  end(): void {
    this.#driver.stop(this.#clock.nowNs());
    this.#driver.dispose();
  }
}
