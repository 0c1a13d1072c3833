// UNVERIFIED ON HARDWARE

import { TeleopError } from '../../../core/errors.ts';
import type { Clock } from '../../../core/time/clock.ts';
import type { RobotModel } from '../../../geometry/robot-model.ts';
import type { TickStatus } from '../../../messages/robot-state.ts';
import { Refused, until } from '../../buses/wait.ts';
import type { Driver, DriverPlugin, JointReading } from '../../driver.ts';
import { MAX_STEP_RAD_S, RTDE_HZ, STEP_S, type UrConfig, urConfig } from './config.ts';
import { startControl } from './control.ts';
import { makeReady } from './enabling.ts';
import { ROBOT_MODE, RUNTIME_PLAYING, robotModeName, SAFETY_MODE, safetyCause } from './modes.ts';
import { ReverseServer, type ReverseSession } from './reverse.ts';
import { REVERSE_MODE } from './reverse-frame.ts';
import { RtdeClient, type RtdeState } from './rtde.ts';
import { ToolForce } from './tool-force.ts';

const JOINTS = 6;
/** Longest time over which a step is checked, however old the last write. */
const MAX_STEP_NS = 20e6;
/** The first target after enabling must be near the arm; servoj would lurch to a distant one. */
const FIRST_STEP_RAD = 0.1;
const OPEN_TIMEOUT_MS = 3000;
/** The runtime state may lag by a state message or two. */
const MAX_NOT_PLAYING = 3;
const CLOSE_AT = 0.6;
const OPEN_AT = 0.4;

type Phase = 'off' | 'enabling' | 'enabled';

/**
 * A Universal Robots controller: state over RTDE, setpoints to our program on the controller. `read` and
 * `write` feed its watchdog, so it also detects a stalled control loop.
 */
class UrDriver implements Driver {
  readonly #config: UrConfig;
  readonly #toolForce: ToolForce;
  readonly #clock: Clock;
  readonly #rtde: RtdeClient;
  readonly #stepNs: number;
  readonly #keepAliveNs: number;
  readonly #target = new Float64Array(JOINTS);
  #server: ReverseServer | null = null;
  #session: ReverseSession | null = null;
  #abort = new AbortController();
  #phase: Phase = 'off';
  #fault = '';
  /** A fault not yet answered with `stop` or `enable`. */
  #alarm = false;
  /** Enabling failed, and `enable` has not reported it yet. */
  #failed = false;
  #servoing = false;
  #sentNs = 0;
  #writtenNs = 0;
  #notPlaying = 0;
  /** The control program closed its connection. */
  #hungUp = false;
  #protectiveStopNs = Number.NaN;
  #closed = false;
  #disposed = false;

  constructor(config: UrConfig, model: RobotModel, clock: Clock) {
    this.#toolForce = new ToolForce(model, config.minToolForceN);
    this.#config = config;
    this.#clock = clock;
    this.#stepNs = STEP_S[config.series] * 1e9;
    this.#keepAliveNs = (config.watchdogMs * 1e6) / 4;
    this.#rtde = new RtdeClient(
      {
        host: config.host,
        port: config.rtdePort,
        hz: RTDE_HZ[config.series],
        toolOutput: config.gripper === 'tool-output',
      },
      clock,
      { state: (state) => this.#watch(state), down: (why) => this.#lost(why) },
    );
  }

  get fault(): string {
    return this.#fault;
  }

  get busErrors(): number {
    return this.#rtde.malformed;
  }

  async open(): Promise<void> {
    const { host, rtdePort, reverseHost, reversePort } = this.#config;
    try {
      const why = () => this.#fault || 'no reply';
      await until(() => this.#rtde.streaming, OPEN_TIMEOUT_MS, why, this.#abort.signal);
    } catch (cause) {
      throw new TeleopError(
        'robot-unreachable',
        `no state from ${host}:${rtdePort}: ${(cause as Error).message}`,
        {
          hint: 'Check that the controller is on, its address (robot.options.host) and that RTDE is enabled there.',
          cause,
        },
      );
    }
    const address = reverseHost || this.#rtde.localAddress;
    try {
      this.#server = await ReverseServer.open(address, reversePort);
    } catch (cause) {
      throw new TeleopError('port-in-use', `cannot listen on ${address}:${reversePort} for the robot`, {
        hint:
          (cause as NodeJS.ErrnoException).code === 'EADDRNOTAVAIL'
            ? 'Set robot.options.reverseHost to an address of this computer.'
            : 'Free the port, or choose another with robot.options.reversePort.',
        cause,
      });
    }
    this.#fault = '';
  }

  enable(nowNs: number): TickStatus {
    if (this.#disposed) return 'fault';
    this.#alarm = false;
    if (this.#phase === 'enabled') return 'ok';
    if (this.#phase === 'enabling') return 'stale';
    if (this.#failed) {
      this.#failed = false;
      return 'fault';
    }
    this.#phase = 'enabling';
    this.#hungUp = false;
    this.#abort = new AbortController();
    void this.#enable(nowNs, this.#abort.signal);
    return 'stale';
  }

  read(nowNs: number, out: JointReading): TickStatus {
    if (this.#disposed) return 'fault';
    if (this.#phase === 'enabled') this.#keepAlive(nowNs);
    const { state } = this.#rtde;
    out.robotNs = Math.min(state.atNs, nowNs);
    out.positionsRad.set(state.actualQ);
    out.velocitiesRadS.set(state.actualQd);
    const { torquePerCurrentNmA } = this.#config;
    for (let i = 0; torquePerCurrentNmA !== null && i < JOINTS; i++)
      out.effortsNm[i] = state.actualCurrentA[i]! * torquePerCurrentNmA[i]!;
    this.#toolForce.jointTorques(state.actualQ, state.tcpForce, out.externalNm);
    out.gripper = this.#closed ? 1 : 0;
    if (this.#alarm) return 'fault';
    return this.#rtde.streaming ? 'ok' : 'stale';
  }

  write(nowNs: number, positionsRad: Float64Array, gripper: number): TickStatus {
    if (this.#disposed || this.#alarm) return 'fault';
    if (this.#phase !== 'enabled') return this.#fault === '' ? 'ok' : 'fault';
    const from = this.#servoing ? this.#target : this.#rtde.state.actualQ;
    const sinceNs = Math.max(this.#stepNs, Math.min(nowNs - this.#writtenNs, MAX_STEP_NS));
    const roomRad = this.#servoing ? MAX_STEP_RAD_S * (sinceNs / 1e9) : FIRST_STEP_RAD;
    for (let i = 0; i < JOINTS; i++)
      if (!(Math.abs(positionsRad[i]! - from[i]!) <= roomRad)) {
        this.#fail(`step of joint ${i + 1} rejected: more than ${roomRad.toFixed(3)} rad at once`);
        return 'fault';
      }
    this.#target.set(positionsRad);
    this.#servoing = true;
    this.#writtenNs = nowNs;
    this.#grip(gripper);
    return this.#send(nowNs) ? 'ok' : 'stale';
  }

  stop(_nowNs: number): void {
    this.#alarm = false;
    this.#failed = false;
    this.#release();
  }

  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#release();
    this.#server?.dispose();
    this.#rtde.dispose();
  }

  /** Stops the robot: by our last frame or, if that is lost, by its program's watchdog. */
  #release(): void {
    this.#abort.abort();
    this.#phase = 'off';
    this.#session?.stop();
    this.#session = null;
    this.#servoing = false;
  }

  #fail(why: string): void {
    this.#fault = why;
    if (this.#phase !== 'off') this.#alarm = true;
    this.#release();
  }

  async #enable(nowNs: number, signal: AbortSignal): Promise<void> {
    try {
      await makeReady({
        config: this.#config,
        rtde: this.#rtde,
        clock: this.#clock,
        protectiveStopNs: () => this.#protectiveStopNs,
        signal,
      });
      const session = await startControl({
        config: this.#config,
        rtde: this.#rtde,
        server: this.#server!,
        host: this.#config.reverseHost || this.#rtde.localAddress,
        closed: () => this.#programEnded(),
        signal,
      });
      if (signal.aborted) return session.stop();
      if (!session.open) throw new Refused('the control program ended at once');
      this.#session = session;
      this.#writtenNs = nowNs;
      this.#notPlaying = 0;
      this.#fault = '';
      this.#phase = 'enabled';
      this.#send(this.#clock.nowNs());
    } catch (error) {
      if (signal.aborted) return;
      this.#failed = true;
      this.#fail((error as Error).message);
    }
  }

  #keepAlive(nowNs: number): void {
    if (nowNs - this.#sentNs >= this.#keepAliveNs) this.#send(nowNs);
  }

  /** Until the first write the program gets idle frames: the robot holds by itself. */
  #send(nowNs: number): boolean {
    const session = this.#session;
    if (session === null) return false;
    const mode = this.#servoing ? REVERSE_MODE.servoj : REVERSE_MODE.idle;
    if (!session.send(this.#config.watchdogMs, this.#servoing ? this.#target : null, mode)) return false;
    this.#sentNs = nowNs;
    return true;
  }

  #grip(gripper: number): void {
    if (this.#config.gripper === 'none') return;
    const close = this.#closed ? gripper > OPEN_AT : gripper >= CLOSE_AT;
    if (close !== this.#closed && this.#rtde.setToolOutput(this.#config.toolOutput, close))
      this.#closed = close;
  }

  /** Called for every state message. */
  #watch(state: RtdeState): void {
    const cause = safetyCause(state.safetyMode);
    if (state.safetyMode !== SAFETY_MODE.protectiveStop) this.#protectiveStopNs = Number.NaN;
    else if (Number.isNaN(this.#protectiveStopNs)) this.#protectiveStopNs = this.#clock.nowNs();
    if (cause !== '') {
      // Unlocking a protective stop is part of enabling; otherwise the cause outranks its consequences.
      if (this.#phase === 'enabled') this.#fail(cause);
      else if (this.#phase === 'off' && !this.#fault.startsWith(cause)) this.#fault = cause;
    } else if (this.#phase === 'enabled') this.#watchProgram(state);
  }

  #watchProgram(state: RtdeState): void {
    const playing = state.runtimeState === RUNTIME_PLAYING && !this.#hungUp;
    this.#notPlaying = playing ? 0 : this.#notPlaying + 1;
    if (state.robotMode !== ROBOT_MODE.running)
      this.#fail(`robot is in mode "${robotModeName(state.robotMode)}"`);
    else if (this.#notPlaying > MAX_NOT_PLAYING)
      this.#fail(this.#hungUp ? 'the control program disconnected' : 'the control program was stopped');
  }

  /** If the safety system did it, the next state messages say why. */
  #programEnded(): void {
    this.#hungUp = true;
  }

  #lost(why: string): void {
    if (this.#disposed) return;
    const lost = `connection to the robot lost: ${why}`;
    if (this.#phase === 'enabled') this.#fail(lost);
    else if (this.#phase === 'off') this.#fault = lost;
  }
}

const plugin: DriverPlugin<UrConfig> = {
  about: 'Universal Robots, CB3 and e-Series: RTDE, and servoj from our program on the controller',
  config: urConfig,
  open: async (config: UrConfig, model: RobotModel, clock: Clock) => {
    if (model.joints.length !== JOINTS)
      throw new TeleopError(
        'bad-model',
        `model "${model.name}" has ${model.joints.length} joints, not ${JOINTS}`,
        {
          hint: 'Choose the model of the robot that is connected.',
        },
      );
    const driver = new UrDriver(config, model, clock);
    try {
      await driver.open();
    } catch (error) {
      driver.dispose();
      throw error;
    }
    return driver;
  },
};

export default plugin;
