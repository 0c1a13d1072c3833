import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SimLine } from '../../sim/narrator.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { type Answer, askOperator } from '../../src/desk/ask.ts';
import { temporaryFolder } from '../../src/files/temporary-folder.ts';
import type { SupervisorState } from '../../src/messages/robot-state.ts';
import { loadRig, type Rig } from '../../src/rig/rig.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { startArmSim } from './arm-sims.ts';
import { VerbProcess } from './verb-process.ts';

export type ArmName = 'piper' | 'ur3' | 'xarm6';
export type ArmLine = Extract<SimLine, { kind: 'arm' }>;

interface Change {
  robotNs: number;
  from: SupervisorState;
  to: SupervisorState;
  cause: string;
}

const LOOK_MS = 2;

/**
 * A simulated arm, `farhand robot` and `farhand operator` as three processes on this machine, started as a user would,
 * and their output. All times are of the machine's monotonic clock.
 */
export class ArmRig {
  readonly changes: Change[] = [];
  /** What the simulator reports: the arm's motion and events. */
  readonly seen: ArmLine[] = [];
  readonly events: { atNs: number; what: string }[] = [];
  readonly rctpPort: number;
  readonly #name: ArmName;
  readonly #folder = temporaryFolder('arm').path;
  readonly #settings: string[];
  readonly #rig: Rig;
  sim!: VerbProcess;
  robot!: VerbProcess;
  operator!: VerbProcess;

  private constructor(name: ArmName, ports: readonly number[]) {
    const [command, state, sync, desk, telemetry, rctp] = ports;
    this.#name = name;
    this.rctpPort = rctp!;
    this.#settings = [
      `link.commandPort=${command}`,
      `link.statePort=${state}`,
      `link.syncPort=${sync}`,
      `console.deskPort=${desk}`,
      `console.telemetryPort=${telemetry}`,
      'link.security=plain',
      'trace.dir=',
      // A shared machine stalls for longer than the 100 and 200 ms of a rig.
      'robot.commandTimeoutMs=400',
      'robot.feedbackTimeoutMs=1000',
    ];
    this.#rig = loadRig(name, this.#settings).config;
  }

  /** `more`: settings of the operator; `priority` of both control threads. Returns once the robot is connected. */
  static async start(name: ArmName, more: readonly string[] = [], priority = 0): Promise<ArmRig> {
    const arm = new ArmRig(name, await freeUdpPorts(6));
    try {
      const target = await arm.#startSim();
      const shared = [`rig=${name}`, ...arm.#settings, '--json'];
      const robot = [...target, `robot.realtimePriority=${priority}`];
      arm.robot = new VerbProcess(['robot', ...shared, ...robot], (line) => arm.#onRobot(line));
      await arm.robot.waitFor(/"ready"/);
      const input = ['operator.input=rctp', `operator.inputs.rctp.rightPort=${arm.rctpPort}`];
      const operator = [...input, `operator.realtimePriority=${priority}`, ...more];
      arm.operator = new VerbProcess(['operator', ...shared, ...operator]);
      // It may be stopped if the machine stalled; `rearm` handles that.
      await arm.until(
        () => arm.state,
        30_000,
        () => 'the robot has not seen its operator',
      );
    } catch (error) {
      await arm.close();
      throw error;
    }
    return arm;
  }

  /** Starts the simulator; returns the settings with which the driver connects to it. */
  async #startSim(): Promise<string[]> {
    const { process, settings } = startArmSim(this.#name, this.#folder, (line) => this.#onSim(line));
    this.sim = process;
    return settings();
  }

  #onSim(line: string): void {
    if (!line.startsWith('{')) return;
    const reported = JSON.parse(line) as SimLine;
    if (reported.kind === 'arm') this.seen.push(reported);
    else this.events.push(reported);
  }

  #onRobot(line: string): void {
    if (line.includes('"transition"')) this.changes.push(JSON.parse(line) as Change);
  }

  nowNs = (): number => monotonicClock.nowNs();

  get state(): SupervisorState | undefined {
    return this.changes.at(-1)?.to;
  }

  /** Resolves with the change into `state` at or after `fromNs`; at once when there was one. */
  async waitFor(state: SupervisorState, timeoutMs = 30_000, fromNs = 0): Promise<Change> {
    const found = () => this.changes.findLast(({ to, robotNs }) => to === state && robotNs >= fromNs);
    return this.until(
      found,
      timeoutMs,
      () => `robot is not ${state}: ${JSON.stringify(this.changes.slice(-4))}`,
    );
  }

  /** The first event of the simulated arm at or after `fromNs`. */
  event(what: RegExp, fromNs: number, timeoutMs = 10_000): Promise<{ atNs: number; what: string }> {
    const found = () => this.events.find((event) => event.atNs >= fromNs && what.test(event.what));
    return this.until(found, timeoutMs, () => `no ${what}: ${JSON.stringify(this.events.slice(-6))}`);
  }

  async until<T>(find: () => T | undefined, timeoutMs: number, complaint: () => string): Promise<T> {
    const untilMs = performance.now() + timeoutMs;
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      if (performance.now() > untilMs) throw new Error(complaint());
      await sleep(LOOK_MS);
    }
  }

  /** Like `farhand ask`; throws if it had no effect. */
  ask(kind: string, withinMs = 10_000): Promise<Answer> {
    return askOperator(this.#rig, kind, withinMs);
  }

  /** Sends a line that `farhand sim` accepts on its standard input. */
  say(word: string): void {
    this.sim.child.send(word);
  }

  /** Kills the simulated Piper and starts another after a moment. */
  async replug(afterMs: number): Promise<void> {
    await this.sim.end('SIGKILL');
    await sleep(afterMs);
    await this.#startSim();
  }

  /** From any state: disarms or resets the robot, then arms it again. */
  async rearm(): Promise<void> {
    if (this.state === 'stopped') await this.ask('reset');
    else if (this.state !== 'idle') await this.ask('disarm');
    await this.ask('arm');
  }

  /** Lines of the arm within [fromNs, toNs]. */
  between(fromNs: number, toNs = Number.POSITIVE_INFINITY): ArmLine[] {
    return this.seen.filter(({ atNs }) => atNs >= fromNs && atNs <= toNs);
  }

  async close(): Promise<void> {
    for (const process of [this.operator, this.robot, this.sim]) await process?.end();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
