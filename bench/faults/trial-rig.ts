import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SimLine } from '../../sim/narrator.ts';
import { type LinkEmulator, startLinkEmulator } from '../../src/app/link-emulator.ts';
import type { LinkEntry } from '../../src/app/link-worker.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { type Answer, answerText, askOperator } from '../../src/desk/ask.ts';
import { temporaryFolder } from '../../src/files/temporary-folder.ts';
import type { SupervisorState } from '../../src/messages/robot-state.ts';
import { loadRig, type Rig } from '../../src/rig/rig.ts';
import { createKey, writeKeyFile } from '../../src/wire/secure/key-file.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { type SimulatedArm, startArmSim } from '../estop/arm-sims.ts';
import { type HowToRun, type Said, VerbProcess } from '../estop/verb-process.ts';
import { interruption } from '../interrupt.ts';
import type { Pose } from './driver-log.ts';
import { rigOf, sharedSettings, type TrialSettings } from './trial-settings.ts';

export interface Change {
  atNs: number;
  from: SupervisorState;
  to: SupervisorState;
  cause: string;
}

const LOOK_MS = 5;
/** Until the arm is in full motion. */
const FOLLOW_MS = 1200;
/** Time to start three processes on a busy machine. */
const START_MS = 60_000;
const CHANGE = /^(\w+) → (\w+): (.*)$/;
const KEYS = ['link.commandPort', 'link.statePort', 'link.syncPort'];

/** Robot, operator, an optional simulated arm and the emulated link, as processes started the way a user would. */
export class TrialRig {
  readonly folder = temporaryFolder('faults').path;
  readonly settings: TrialSettings;
  readonly changes: Change[] = [];
  /** Joints as the simulated arm reports them. */
  readonly arm: Pose[] = [];
  /** Datagrams from the operator to the robot, as they entered the link. */
  readonly sent: LinkEntry[] = [];
  /** Every process of this trial, running or ended. */
  readonly processes: VerbProcess[] = [];
  /** Problems that the fault's own checks found. */
  readonly complaints: string[] = [];
  /** Messages that a person sees elsewhere than in the processes' output. */
  readonly received: Said[] = [];
  faultNs = Number.NaN;
  /** When the trial was over and everything was asked to end. */
  endNs = Number.POSITIVE_INFINITY;
  rig!: Rig;
  link!: LinkEmulator;
  sim: VerbProcess | null = null;
  robot!: VerbProcess;
  operator!: VerbProcess;
  robotPorts: number[] = [];
  /** State changes of earlier robot processes. */
  #earlier = 0;
  #shared: string[] = [];
  #robotArgs: string[] = [];

  private constructor(settings: TrialSettings) {
    this.settings = settings;
  }

  /** Returns once the arm has followed the scripted hand (or been in the requested state) for a moment. */
  static async start(settings: TrialSettings, priority = 0): Promise<TrialRig> {
    const rig = new TrialRig(settings);
    try {
      await rig.#start(priority);
      return rig;
    } catch (error) {
      await rig.close();
      rig.remove();
      throw error;
    }
  }

  async #start(priority: number): Promise<void> {
    const { arm = 'sim', robot = [] } = this.settings;
    for (const name of ['state', 'flights', 'data/traces', 'data/recordings'])
      mkdirSync(path.join(this.folder, name), { recursive: true });
    const keyFile = path.join(this.folder, 'trial.key');
    writeKeyFile(keyFile, { name: 'trial', key: createKey(), createdAt: new Date().toISOString() });
    const [command, state, sync, ...others] = await freeUdpPorts(9);
    this.robotPorts = [command!, state!, sync!];
    this.#shared = [
      ...sharedSettings(this.settings, others, priority),
      `link.keyFile=${keyFile}`,
      `record.dir=${path.join(this.folder, 'data/recordings')}`,
    ];
    this.rig = loadRig(rigOf(arm), this.#shared.slice(1)).config;
    this.#robotArgs = [
      ...portKeys(this.robotPorts),
      `trace.dir=${path.join(this.folder, 'flights')}`,
      `robot.driverLog=${this.logFile}`,
      ...(arm === 'sim' ? [] : await this.#startSim(arm)),
      ...robot,
    ];
    this.link = await startLinkEmulator({
      mappings: this.robotPorts.map((port) => ({ listen: '0', target: `127.0.0.1:${port}` })),
      onEntry: (entry) => {
        if (entry.direction === 'forward') this.sent.push(entry);
      },
    });
    this.startRobot();
    this.startOperator();
    await this.ready(this.robot, /^robot ready/);
    await this.waitFor(this.settings.first ?? 'engaged', START_MS);
    await pause(FOLLOW_MS);
    await this.waitFor(this.settings.first ?? 'engaged', 0);
  }

  get logFile(): string {
    return path.join(this.folder, 'driver.log');
  }

  async #startSim(arm: SimulatedArm): Promise<string[]> {
    interruption.throwIfAborted();
    const sim = startArmSim(arm, this.folder, (line) => this.#onSim(line));
    this.sim = sim.process;
    this.processes.push(sim.process);
    return sim.settings(START_MS, interruption);
  }

  #onSim(line: string): void {
    if (!line.startsWith('{')) return;
    const reported = JSON.parse(line) as SimLine;
    if (reported.kind === 'arm')
      this.arm.push({ atNs: reported.atNs, jointsRad: Float64Array.from(reported.positionsRad) });
  }

  startRobot(how = this.settings.runRobot): void {
    this.#earlier = this.changes.length;
    this.robot = this.start(['robot', ...this.#shared, ...this.#robotArgs], how, (line) =>
      this.#onRobot(line),
    );
  }

  startOperator(): void {
    this.operator = this.startAnotherOperator([]);
  }

  /** Starts an operator on the same link; with other ports, a second one. */
  startAnotherOperator(more: readonly string[], traces = 'data/traces'): VerbProcess {
    const own = [
      ...portKeys(this.link.ports),
      `trace.dir=${path.join(this.folder, traces)}`,
      'record.start=engage',
      ...(this.settings.operator ?? []),
      ...more,
    ];
    return this.start(['operator', ...this.#shared, ...own], this.settings.runOperator);
  }

  startConsole(how?: (folder: string) => HowToRun): VerbProcess {
    return this.start(['console', ...this.#shared], how);
  }

  /** A verb that ends with the trial. */
  start(
    args: readonly string[],
    how: (folder: string) => HowToRun = () => ({}),
    onLine: (line: string) => void = () => {},
  ): VerbProcess {
    interruption.throwIfAborted();
    const { within, env } = how(this.folder);
    const state = { FARHAND_STATE: path.join(this.folder, 'state') };
    const started = new VerbProcess(args, onLine, { ...(within && { within }), env: { ...state, ...env } });
    this.processes.push(started);
    return started;
  }

  #onRobot(line: string): void {
    const [, from, to, cause = ''] = CHANGE.exec(line) ?? [];
    if (from === undefined) return;
    const states = { from: from as SupervisorState, to: to as SupervisorState };
    this.changes.push({ atNs: this.nowNs(), ...states, cause });
  }

  nowNs = (): number => monotonicClock.nowNs();

  /** The fault begins now. */
  mark(): void {
    this.faultNs = this.nowNs();
  }

  /** The ready line of a process. */
  ready(process: VerbProcess, pattern: RegExp): Promise<string> {
    return process.waitFor(pattern, START_MS, interruption);
  }

  get state(): SupervisorState | 'gone' {
    if (this.robot.hasEnded) return 'gone';
    return this.changes.slice(this.#earlier).at(-1)?.to ?? 'disconnected';
  }

  async waitFor(state: SupervisorState, timeoutMs = 10_000): Promise<void> {
    const seen = () => this.state === state;
    await this.until(seen, timeoutMs, () => `robot is ${this.state}, not ${state}`);
  }

  async until(holds: () => boolean, timeoutMs: number, complaint: () => string): Promise<void> {
    const untilMs = performance.now() + timeoutMs;
    while (!holds()) {
      if (performance.now() > untilMs || this.robot.hasEnded)
        throw new Error(`${complaint()}\n${this.#lastWords()}`);
      await pause(LOOK_MS);
    }
  }

  #lastWords(): string {
    return this.processes.flatMap(({ said }) => said.slice(-6).map(({ text }) => `  ${text}`)).join('\n');
  }

  /** Like `farhand ask`. */
  ask(kind: string, withinMs = 5000): Promise<Answer> {
    return askOperator(this.rig, kind, withinMs);
  }

  /** Records a problem unless the condition holds. */
  check(holds: boolean, complaint: string): void {
    if (!holds) this.complaints.push(complaint);
  }

  /** The line that `farhand ask hold` shows a person at the operator. */
  async look(): Promise<Answer> {
    const answer = await this.ask('hold');
    this.received.push({ atNs: this.nowNs(), text: `ask: ${answerText(answer)}` });
    return answer;
  }

  /** Ends everything in the order a person would; files stay until `remove`. */
  async close(): Promise<void> {
    this.endNs = Math.min(this.endNs, this.nowNs());
    const last = [this.robot, this.sim].filter((process) => process !== null && process !== undefined);
    const first = this.processes.filter((process) => !last.includes(process));
    await Promise.all(first.map((process) => process.end()));
    for (const process of last) await process.end();
    await this.link?.close();
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const portKeys = (ports: readonly number[]): string[] => KEYS.map((key, i) => `${key}=${ports[i]}`);

/** Ends early when the bench is interrupted. */
export const pause = (ms: number): Promise<void> => sleep(ms, undefined, { signal: interruption });
