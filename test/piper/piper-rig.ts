import { rmSync, symlinkSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import { PiperSimulation, type SimulationOptions } from '../../sim/piper/simulation.ts';
import { loadPlugin, pluginConfig } from '../../src/app/registry.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import type { RobotModel } from '../../src/geometry/robot-model.ts';
import { frameText } from '../../src/robot/buses/can-frame.ts';
import { openPty, type Pty } from '../../src/robot/buses/pty.ts';
import { Arm } from '../../src/testing/driver-bench.ts';
import { fixtureModel } from '../contract/driver-fixture.ts';
import { temporaryFolder } from '../temporary-folder.ts';

export const model = fixtureModel('piper');

/** A simulated arm in this process, at a path that stays while its adapter is replugged. */
export class PiperRig {
  readonly folder = temporaryFolder('piper');
  readonly link = path.join(this.folder, 'slcan');
  /** Commands that reached the arm since the last clear, in cansend notation. */
  readonly commands: string[] = [];
  readonly #options: Partial<SimulationOptions>;
  readonly #arms: Arm[] = [];
  #pty!: Pty;
  #ticker: NodeJS.Timeout | undefined;
  sim!: PiperSimulation;

  private constructor(options: Partial<SimulationOptions>) {
    this.#options = options;
  }

  static async start(options: Partial<SimulationOptions> = {}): Promise<PiperRig> {
    const rig = new PiperRig(options);
    await rig.plugIn();
    return rig;
  }

  /** A new adapter; the arm behind it is new as well. */
  async plugIn(): Promise<void> {
    this.#pty = await openPty();
    this.sim = new PiperSimulation(this.#pty, { firmware: 'new', ...this.#options });
    this.sim.onCommand = (frame) => this.commands.push(frameText(frame));
    symlinkSync(this.#pty.path, this.link);
    this.#ticker = setInterval(() => this.sim.tick(performance.now()), 1);
  }

  unplug(): void {
    clearInterval(this.#ticker);
    unlinkSync(this.link);
    this.#pty.close();
  }

  async open(options: Record<string, unknown> = {}, own: RobotModel = model): Promise<Arm> {
    const plugin = await loadPlugin('driver', 'piper');
    const config = pluginConfig('driver', 'piper', plugin, { bus: `slcan:${this.link}`, ...options });
    const arm = new Arm(await plugin.open(config, own, monotonicClock), own, true);
    this.#arms.push(arm);
    await arm.settle();
    return arm;
  }

  end(): void {
    for (const arm of this.#arms) arm.driver.dispose();
    clearInterval(this.#ticker);
    try {
      this.unplug();
    } catch {
      // Already unplugged.
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export async function withRig(
  options: Partial<SimulationOptions>,
  work: (rig: PiperRig) => Promise<void>,
): Promise<void> {
  const rig = await PiperRig.start(options);
  try {
    await work(rig);
  } finally {
    rig.end();
  }
}
