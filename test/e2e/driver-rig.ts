import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadPlugin, pluginConfig } from '../../src/app/registry.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import type { TickStatus } from '../../src/messages/robot-state.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { type Driver, emptyReading } from '../../src/robot/driver.ts';
import type { SimProcess } from '../contract/sim-process.ts';
import { Lifetime } from '../lifetime.ts';

const CYCLE_MS = 8;

/** Runs a driver in real time, as the supervisor does, against a simulator in its own process. */
export class DriverRig {
  readonly driver: Driver;
  readonly sim: SimProcess;
  readonly reading = emptyReading(6);

  constructor(driver: Driver, sim: SimProcess) {
    this.driver = driver;
    this.sim = sim;
  }

  /** Takes ownership of the simulator. */
  static async open(
    name: string,
    model: string,
    options: Record<string, unknown>,
    sim: SimProcess,
  ): Promise<DriverRig> {
    const life = new Lifetime();
    life.own(sim, (each) => each.stop());
    return life.setUp(async () => {
      const plugin = await loadPlugin('driver', name);
      const config = pluginConfig('driver', name, plugin, options);
      return new DriverRig(await plugin.open(config, loadModel(model), monotonicClock), sim);
    });
  }

  /** Sends a line to the simulator's stdin. */
  say(word: string): void {
    this.sim.child.send(word);
  }

  read(): TickStatus {
    return this.driver.read(monotonicClock.nowNs(), this.reading);
  }

  /** Runs cycles with a read each until `reached`; fails after `ms`. */
  async until(reached: () => boolean, ms: number, what: string): Promise<void> {
    const endNs = monotonicClock.nowNs() + ms * 1e6;
    for (;;) {
      this.read();
      if (reached()) return;
      assert.ok(monotonicClock.nowNs() < endNs, `${what}; fault: "${this.driver.fault}"`);
      await sleep(CYCLE_MS);
    }
  }

  async cycles(ms: number): Promise<void> {
    const endNs = monotonicClock.nowNs() + ms * 1e6;
    await this.until(() => monotonicClock.nowNs() >= endNs, ms + 5000, 'time passes');
  }

  async enable(): Promise<TickStatus> {
    for (;;) {
      const status = this.driver.enable(monotonicClock.nowNs());
      if (status !== 'stale') return status;
      await sleep(CYCLE_MS);
      this.read();
    }
  }

  /** Moves joint 1 at constant speed for a while; returns the distinct results of the writes. */
  async sweep(ms: number, radS: number): Promise<Set<TickStatus>> {
    const answers = new Set<TickStatus>();
    const target = this.reading.positionsRad.slice();
    let lastNs = monotonicClock.nowNs();
    const endNs = lastNs + ms * 1e6;
    while (lastNs < endNs) {
      await sleep(CYCLE_MS);
      const nowNs = monotonicClock.nowNs();
      target[0] = target[0]! + (radS * (nowNs - lastNs)) / 1e9;
      lastNs = nowNs;
      this.read();
      answers.add(this.driver.write(nowNs, target, 0));
    }
    return answers;
  }

  async close(): Promise<void> {
    this.driver.dispose();
    await this.sim.stop();
  }
}
