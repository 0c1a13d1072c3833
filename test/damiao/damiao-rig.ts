import { rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import type { SimArmOptions } from '../../sim/damiao/arm.ts';
import { DamiaoSimulation } from '../../sim/damiao/simulation.ts';
import { loadPlugin, pluginConfig } from '../../src/app/registry.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { frameText } from '../../src/robot/buses/can-frame.ts';
import { DK1, OPENARM, VLAI_L1 } from '../../src/robot/buses/damiao/arms.ts';
import { openPty, type Pty } from '../../src/robot/buses/pty.ts';
import { Arm } from '../../src/testing/driver-bench.ts';
import { fixtureModel } from '../contract/driver-fixture.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** The arms of Damiao motors: their driver's name, facts, model and adapter. */
export const ARMS = {
  openarm: { facts: OPENARM, model: 'openarm', bus: 'slcan', sags: [0, 1, 3] },
  dk1: { facts: DK1, model: 'dk1', bus: 'damiao', sags: [1, 2] },
  'vlai-l1': { facts: VLAI_L1, model: 'vlai-l1-right', bus: 'slcan', sags: [0, 1, 3] },
} as const;
export type ArmName = keyof typeof ARMS;

/** A simulated arm in this process, at a path that stays while its adapter is replugged. */
export class DamiaoRig {
  /** Rigs left behind by timed-out tests: their timers would keep the process alive. */
  static readonly #running = new Set<DamiaoRig>();
  readonly folder = temporaryFolder('damiao');
  readonly link = path.join(this.folder, 'tty');
  /** Commands that reached the arm since the last clear, in cansend notation. */
  readonly commands: string[] = [];
  readonly events: string[] = [];
  readonly name: ArmName;
  readonly #options: Partial<SimArmOptions>;
  readonly #arms: Arm[] = [];
  #pty!: Pty;
  #plugged = false;
  #ticker: NodeJS.Timeout | undefined;
  sim!: DamiaoSimulation;

  private constructor(name: ArmName, options: Partial<SimArmOptions>) {
    this.name = name;
    this.#options = options;
  }

  static async start(name: ArmName, options: Partial<SimArmOptions> = {}): Promise<DamiaoRig> {
    const rig = new DamiaoRig(name, options);
    DamiaoRig.#running.add(rig);
    await rig.plugIn();
    return rig;
  }

  /** A new adapter; the arm behind it is new as well. */
  async plugIn(): Promise<void> {
    const { facts, model, bus, sags } = ARMS[this.name];
    this.#pty = await openPty();
    this.#plugged = true;
    this.sim = new DamiaoSimulation(this.#pty, {
      facts,
      model: fixtureModel(model),
      adapter: bus,
      sags: sags.map((joint) => ({ joint, toRad: 0 })),
      onEvent: (what) => this.events.push(what),
      ...this.#options,
    });
    this.sim.onCommand = (frame) => this.commands.push(frameText(frame));
    symlinkSync(this.#pty.path, this.link);
    this.#ticker = setInterval(() => this.sim.tick(performance.now()), 1);
  }

  unplug(): void {
    if (!this.#plugged) return;
    this.#plugged = false;
    clearInterval(this.#ticker);
    rmSync(this.link, { force: true });
    this.#pty.close();
  }

  /** This machine may be busy with other tests: longer timeouts than in a real set-up. */
  get options(): Record<string, unknown> {
    const own = { bus: `${ARMS[this.name].bus}:${this.link}`, feedbackTimeoutMs: 500 };
    return this.name === 'vlai-l1' ? { can: own } : own;
  }

  async open(options: Record<string, unknown> = {}, model: string = ARMS[this.name].model): Promise<Arm> {
    const own = fixtureModel(model);
    const plugin = await loadPlugin('driver', this.name);
    const config = pluginConfig('driver', this.name, plugin, { ...this.options, ...options });
    const arm = new Arm(await plugin.open(config, own, monotonicClock), own, true);
    this.#arms.push(arm);
    await arm.settle();
    return arm;
  }

  static endAll(): void {
    for (const rig of DamiaoRig.#running) rig.end();
  }

  end(): void {
    DamiaoRig.#running.delete(this);
    for (const arm of this.#arms) arm.driver.dispose();
    this.unplug();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export async function withRig(
  name: ArmName,
  options: Partial<SimArmOptions>,
  work: (rig: DamiaoRig) => Promise<void>,
): Promise<void> {
  const rig = await DamiaoRig.start(name, options);
  try {
    await work(rig);
  } finally {
    rig.end();
  }
}
