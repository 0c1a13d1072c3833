import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { pluginConfig } from '../app/registry.ts';
import { monotonicClock } from '../core/time/clock.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import type { TickStatus } from '../messages/robot-state.ts';
import { type Driver, type DriverPlugin, emptyReading, type JointReading } from '../robot/driver.ts';
import type { DeviceFixture, RunningDevice } from './device-fixture.ts';

const MS = 1e6;
const CYCLE_MS = 5;
const START_NS = 20e9;
const ENABLE_MS = 5000;
const FIRST_READING_MS = 3000;
/** Readings older than this count as blind: the supervisor's default. */
const BLIND_NS = 200 * MS;

/** An open driver, its newest reading, and its clock: manual, or real if there is a device. */
export class Arm {
  readonly driver: Driver;
  readonly reading: JointReading;
  /** The results of read and write in the last run. */
  readonly answers = new Set<TickStatus>();
  readonly #model: RobotModel;
  readonly #realTime: boolean;
  nowNs: number;

  constructor(driver: Driver, model: RobotModel, realTime: boolean) {
    this.driver = driver;
    this.#model = model;
    this.#realTime = realTime;
    this.reading = emptyReading(model.joints.length);
    this.nowNs = realTime ? monotonicClock.nowNs() : START_NS;
  }

  read(): number[] {
    this.reading.positionsRad.fill(Number.NaN);
    assert.equal(this.driver.read(this.nowNs, this.reading), 'ok', this.driver.fault);
    return [...this.reading.positionsRad];
  }

  /** Waits for the first reading. */
  async settle(): Promise<void> {
    for (let ms = 0; this.driver.read(this.nowNs, this.reading) === 'stale'; ms += CYCLE_MS) {
      assert.ok(ms < FIRST_READING_MS, 'the first reading arrives');
      await this.#tick();
    }
  }

  async enable(): Promise<TickStatus> {
    for (let ms = 0; ms < ENABLE_MS; ms += CYCLE_MS) {
      const status = this.driver.enable(this.nowNs);
      if (status !== 'stale') return status;
      await this.#tick();
      this.driver.read(this.nowNs, this.reading);
    }
    return 'stale';
  }

  /**
   * Control cycles of 5 ms; each writes a target on its way to `targetRad`, as fast as the joints allow, and
   * then overwrites the buffer. Ends with a good reading if `whole`.
   */
  async run(ms: number, targetRad: readonly number[] | null = null, whole = true): Promise<number[]> {
    const target = new Float64Array(this.#model.joints.length);
    const ramp = this.reading.positionsRad.slice();
    this.answers.clear();
    for (let t = 0; t < ms; t += CYCLE_MS) {
      await this.#tick();
      this.answers.add(this.driver.read(this.nowNs, this.reading));
      if (targetRad === null) continue;
      this.#approach(ramp, targetRad);
      target.set(ramp);
      this.answers.add(this.driver.write(this.nowNs, target, 0.5));
      target.fill(Number.NaN);
    }
    return whole && !this.answers.has('fault') ? this.read() : [...this.reading.positionsRad];
  }

  isBlind(): boolean {
    const status = this.driver.read(this.nowNs, this.reading);
    return status !== 'ok' || this.nowNs - this.reading.robotNs > BLIND_NS;
  }

  /** Moves each joint by this much, in the direction its range allows. */
  shifted(fromRad: readonly number[], byRad: number): number[] {
    return fromRad.map((rad, i) => {
      const { minRad, maxRad } = this.#model.joints[i]!;
      if (rad + byRad <= maxRad) return rad + byRad;
      return Math.max(minRad, rad - byRad);
    });
  }

  /** The largest step a cycle of this length allows. */
  #approach(ramp: Float64Array, goalRad: readonly number[]): void {
    for (let i = 0; i < ramp.length; i++) {
      const room = (this.#model.joints[i]!.maxVelocityRadS * CYCLE_MS) / 1000;
      ramp[i] = ramp[i]! + Math.max(-room, Math.min(room, goalRad[i]! - ramp[i]!));
    }
  }

  async #tick(): Promise<void> {
    if (this.#realTime) {
      const dueNs = this.nowNs + CYCLE_MS * MS;
      await sleep(Math.max(0, (dueNs - monotonicClock.nowNs()) / MS));
      this.nowNs = monotonicClock.nowNs();
    } else this.nowNs += CYCLE_MS * MS;
  }
}

/** Opens one driver for one test at a time, on a fresh device if it needs one. */
export class DriverBench {
  readonly #name: string;
  readonly #plugin: DriverPlugin<unknown>;
  readonly #model: RobotModel;
  readonly #fixture: DeviceFixture | null;

  constructor(name: string, plugin: DriverPlugin<unknown>, model: RobotModel, fixture: DeviceFixture | null) {
    this.#name = name;
    this.#plugin = plugin;
    this.#model = model;
    this.#fixture = fixture;
  }

  startDevice(): Promise<RunningDevice> {
    return this.#fixture!.start();
  }

  async open(options: Record<string, unknown>): Promise<Arm> {
    const config = pluginConfig('driver', this.#name, this.#plugin, options);
    const realTime = this.#fixture !== null;
    const clock = realTime ? monotonicClock : { nowNs: () => START_NS };
    return new Arm(await this.#plugin.open(config, this.#model, clock), this.#model, realTime);
  }

  async with(work: (arm: Arm, device: RunningDevice | null) => Promise<void>): Promise<void> {
    const device = this.#fixture === null ? null : await this.#fixture.start();
    try {
      const arm = await this.open(device?.options ?? {});
      try {
        await arm.settle();
        await work(arm, device);
      } finally {
        arm.driver.dispose();
      }
    } finally {
      await device?.stop();
    }
  }
}
