// UNVERIFIED ON HARDWARE
import { z } from 'zod';
import { TeleopError } from '../../../core/errors.ts';
import type { Clock } from '../../../core/time/clock.ts';
import type { TickStatus } from '../../../messages/robot-state.ts';
import { Refused, until, within } from '../../buses/wait.ts';
import { XARM_FLAG } from '../../buses/xarm-frame.ts';
import type { Driver, DriverPlugin, JointReading } from '../../driver.ts';
import { isServoing, XARM, XARM_ALL_AXES, XARM_MODE, XARM_STATE } from './codec.ts';
import { xarmError, xarmWarning } from './errors.ts';
import { XarmTcp } from './tcp.ts';

const port = z.int().min(1).max(65535);
const config = z.strictObject({
  host: z.string().min(1).default('192.168.1.100').describe('address of the control box'),
  commandPort: port.default(502).describe('TCP: commands'),
  reportPort: port.default(30003).describe('TCP: real-time reports, 100 Hz'),
  watchdogMs: z
    .int()
    .min(50)
    .max(1000)
    .default(200)
    .describe('the driver stops the arm if the control loop is silent for this long'),
});
type Config = z.infer<typeof config>;

const JOINTS = 6;
/** Twice a joint's speed limit: the arm would rush to such a target at full speed. */
const MAX_STEP_RAD_S = 2 * Math.PI;
/** The shortest and longest time over which a step is checked. */
const MIN_STEP_NS = 4e6;
const MAX_STEP_NS = 40e6;
/** The first target after enabling must be near the arm; the arm would lurch to a distant one. */
const FIRST_STEP_RAD = 0.1;
const OPEN_TIMEOUT_MS = 3000;
const ENABLE_TIMEOUT_MS = 3000;
/** Powering the motors may take this long, according to the vendor's client. */
const REPLY_TIMEOUT_MS = 5000;
/** A report of state 4 or more, or of another mode, right after enabling may be an old one. */
const MAX_NOT_SERVOING = 5;

type Phase = 'off' | 'enabling' | 'enabled';

/**
 * A UFACTORY xArm6 in servo mode. The control box has no documented watchdog there: without us it goes to the
 * last target, at most one step away, and rests. While this process lives, it stops the arm if the control
 * loop stalls.
 */
class Xarm6Driver implements Driver {
  readonly #config: Config;
  readonly #clock: Clock;
  readonly #tcp: XarmTcp;
  readonly #target = new Float64Array(JOINTS);
  #phase: Phase = 'off';
  #abort = new AbortController();
  #fault = '';
  /** A fault not yet answered with `stop` or `enable`. */
  #alarm = false;
  /** Enabling failed, and `enable` has not reported it yet. */
  #failed = false;
  #servoing = false;
  #writtenNs = 0;
  #calledNs = 0;
  #notServoing = 0;
  #disposed = false;

  constructor(config: Config, clock: Clock) {
    this.#config = config;
    this.#clock = clock;
    this.#tcp = new XarmTcp(config.host, config.commandPort, config.reportPort, clock, {
      event: () => this.#watch(),
      down: (why) => this.#lost(why),
      beat: () => this.#watchLoop(),
    });
  }

  get fault(): string {
    return this.#fault;
  }

  get busErrors(): number {
    return this.#tcp.malformed;
  }

  async open(): Promise<void> {
    const { host, commandPort, reportPort } = this.#config;
    try {
      const why = () => this.#fault || 'no reply';
      await until(() => this.#tcp.ready, OPEN_TIMEOUT_MS, why, this.#abort.signal);
    } catch (cause) {
      const ports = `${host}, ports ${commandPort} and ${reportPort}`;
      throw new TeleopError('robot-unreachable', `no reply from ${ports}: ${(cause as Error).message}`, {
        hint: 'Check that the control box is on and its address (robot.options.host).',
        cause,
      });
    }
    const axes = /^(\d+),/.exec(this.#tcp.version)?.[1];
    if (axes !== undefined && Number(axes) !== JOINTS)
      throw new TeleopError('bad-model', `the arm at ${host} has ${axes} joints, not ${JOINTS}`, {
        hint: 'This driver supports only the xArm6; choose another driver for this arm.',
      });
    this.#fault = '';
  }

  enable(nowNs: number): TickStatus {
    if (this.#disposed) return 'fault';
    this.#alarm = false;
    this.#calledNs = this.#clock.nowNs();
    if (this.#phase === 'enabled') return 'ok';
    if (this.#phase === 'enabling') return 'stale';
    if (this.#failed) {
      this.#failed = false;
      return 'fault';
    }
    this.#phase = 'enabling';
    this.#abort = new AbortController();
    void this.#enable(nowNs, this.#abort.signal);
    return 'stale';
  }

  read(nowNs: number, out: JointReading): TickStatus {
    if (this.#disposed) return 'fault';
    this.#calledNs = this.#clock.nowNs();
    const tcp = this.#tcp;
    out.robotNs = Math.min(tcp.reportNs, nowNs);
    out.positionsRad.set(tcp.report.positionsRad);
    out.velocitiesRadS.set(tcp.velocitiesRadS);
    out.effortsNm.set(tcp.report.effortsNm);
    out.gripper = 0;
    if (this.#alarm) return 'fault';
    return tcp.ready ? 'ok' : 'stale';
  }

  write(nowNs: number, positionsRad: Float64Array, _gripper: number): TickStatus {
    if (this.#disposed || this.#alarm) return 'fault';
    if (this.#phase !== 'enabled') return this.#fault === '' ? 'ok' : 'fault';
    const from = this.#servoing ? this.#target : this.#tcp.report.positionsRad;
    const sinceNs = Math.max(MIN_STEP_NS, Math.min(nowNs - this.#writtenNs, MAX_STEP_NS));
    const roomRad = this.#servoing ? (MAX_STEP_RAD_S * sinceNs) / 1e9 : FIRST_STEP_RAD;
    for (let i = 0; i < JOINTS; i++)
      if (!(Math.abs(positionsRad[i]! - from[i]!) <= roomRad)) {
        this.#fail(`step of joint ${i + 1} rejected: more than ${roomRad.toFixed(3)} rad at once`);
        return 'fault';
      }
    this.#target.set(positionsRad);
    this.#servoing = true;
    this.#writtenNs = nowNs;
    return this.#tcp.servo(this.#target) ? 'ok' : 'stale';
  }

  stop(_nowNs: number): void {
    if (this.#disposed) return;
    this.#alarm = false;
    this.#failed = false;
    this.#release();
    this.#tcp.send(XARM.setState, [XARM_STATE.stop]);
  }

  dispose(): void {
    if (this.#disposed) return;
    if (this.#phase !== 'off') this.#tcp.send(XARM.setState, [XARM_STATE.stop]);
    this.#disposed = true;
    this.#release();
    this.#tcp.dispose();
  }

  #release(): void {
    this.#abort.abort();
    this.#phase = 'off';
    this.#servoing = false;
  }

  #fail(why: string): void {
    this.#fault = why;
    if (this.#phase === 'off') return;
    this.#alarm = true;
    this.#release();
    this.#tcp.send(XARM.setState, [XARM_STATE.stop]);
  }

  async #enable(nowNs: number, signal: AbortSignal): Promise<void> {
    try {
      await this.#prepare(signal);
      if (signal.aborted) return;
      this.#writtenNs = nowNs;
      this.#notServoing = 0;
      this.#fault = '';
      this.#phase = 'enabled';
    } catch (error) {
      if (signal.aborted) return;
      this.#failed = true;
      this.#fail((error as Error).message);
    }
  }

  /** Clears errors, powers the motors, chooses servo mode. The arm holds its pose: no target was given. */
  async #prepare(signal: AbortSignal): Promise<void> {
    const tcp = this.#tcp;
    await until(
      () => tcp.ready,
      ENABLE_TIMEOUT_MS,
      () => 'no connection to the control box',
      signal,
    );
    const steps = [
      [XARM.clearError],
      [XARM.clearWarning],
      [XARM.motionEnable, XARM_ALL_AXES, 1],
      [XARM.setMode, XARM_MODE.servo],
      [XARM.setState, XARM_STATE.motion],
      [XARM.getError],
    ] as const;
    for (const [func, ...parameters] of steps) {
      const state = await within(tcp.ask(func, parameters), REPLY_TIMEOUT_MS, `no reply to command ${func}`);
      if (signal.aborted) return;
      if (state < 0) throw new Refused('connection to the control box lost');
      if ((state & XARM_FLAG.invalid) !== 0) throw new Refused(`the control box rejected command ${func}`);
    }
    if (tcp.errorCode !== 0) throw new Refused(`${xarmError(tcp.errorCode)}: clear it at the robot`);
    const why = () => `the arm does not enter servo mode: mode ${tcp.report.mode}, state ${tcp.report.state}`;
    await until(() => isServoing(tcp.report), ENABLE_TIMEOUT_MS, why, signal);
  }

  #watch(): void {
    const { errorCode, warningCode, report } = this.#tcp;
    if (this.#phase === 'off' && errorCode !== 0) this.#fault = xarmError(errorCode);
    if (this.#phase !== 'enabled') return;
    this.#notServoing = isServoing(report) ? 0 : this.#notServoing + 1;
    if (this.#notServoing === 1) this.#tcp.send(XARM.getError);
    if (errorCode !== 0) this.#fail(xarmError(errorCode));
    else if (warningCode !== 0) this.#fail(xarmWarning(warningCode));
    else if (this.#notServoing > MAX_NOT_SERVOING)
      this.#fail(`the arm left servo mode: mode ${report.mode}, state ${report.state}`);
  }

  #watchLoop(): void {
    const silentNs = this.#clock.nowNs() - this.#calledNs;
    if (this.#phase === 'enabled' && silentNs > this.#config.watchdogMs * 1e6)
      this.#fail(`control loop silent for ${this.#config.watchdogMs} ms`);
  }

  #lost(why: string): void {
    if (this.#disposed) return;
    const lost = `connection to the control box lost: ${why}`;
    if (this.#phase === 'enabled') this.#fail(lost);
    else if (this.#phase === 'off') this.#fault = lost;
  }
}

const plugin: DriverPlugin<Config> = {
  about: 'UFACTORY xArm6 in servo mode over TCP',
  config,
  open: async (options, model, clock) => {
    if (model.joints.length !== JOINTS)
      throw new TeleopError(
        'bad-model',
        `model "${model.name}" has ${model.joints.length} joints, not ${JOINTS}`,
        {
          hint: 'Choose the model of the robot that is connected.',
        },
      );
    const driver = new Xarm6Driver(options, clock);
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
