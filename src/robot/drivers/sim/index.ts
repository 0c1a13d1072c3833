import { z } from 'zod';
import type { Clock } from '../../../core/time/clock.ts';
import type { RobotModel } from '../../../geometry/robot-model.ts';
import type { TickStatus } from '../../../messages/robot-state.ts';
import type { Driver, DriverPlugin, JointReading } from '../../driver.ts';

const config = z.strictObject({
  encoderNoiseRad: z.number().min(0).max(0.01).default(0).describe('standard deviation of the encoder noise'),
  gripperSpeedPerS: z.number().min(0.1).max(20).default(4).describe('gripper strokes per second'),
  seed: z.int().min(1).default(1).describe('seed of the encoder noise'),
  feedbackFault: z
    .enum(['none', 'nan', 'frozen', 'stuck'])
    .default('none')
    .describe('feedback fault: nan; frozen: the last reading with its stamp; stuck: with fresh stamps'),
  feedbackFaultAfterS: z
    .number()
    .min(0)
    .max(3600)
    .default(0)
    .describe('seconds from the first enable to that fault'),
  writeMs: z
    .number()
    .min(0)
    .max(200)
    .default(0)
    .describe('how long a write blocks, as on a slow bus; the driver then has its own thread'),
});
type Config = z.infer<typeof config>;

/** Never notified: a thread that waits here only times out. */
const NEVER = new Int32Array(new SharedArrayBuffer(4));
const STEP_NS = 1e6;
const STEP_S = STEP_NS / 1e9;
/** Longer gaps are not simulated step by step: the arm has long come to rest. */
const MAX_CATCH_UP_NS = 1e9;

/** Joint-level arm: each joint runs to its target with limited velocity and acceleration. */
class SimDriver implements Driver {
  readonly fault = '';
  readonly #model: RobotModel;
  readonly #config: Config;
  readonly #positions: Float64Array;
  readonly #velocities: Float64Array;
  readonly #targets: Float64Array;
  readonly #lastRead: Float64Array;
  #gripper = 0;
  #gripperTarget = 0;
  #enabled = false;
  /** When feedback fails; set at the first enable. */
  #faultNs = Number.POSITIVE_INFINITY;
  #disposed = false;
  #atNs = 0;
  #noise = 0;

  constructor(config: Config, model: RobotModel, nowNs: number) {
    this.#config = config;
    this.#model = model;
    this.#atNs = nowNs;
    this.#positions = Float64Array.from(model.homeRad);
    this.#targets = this.#positions.slice();
    this.#lastRead = this.#positions.slice();
    this.#velocities = new Float64Array(model.joints.length);
    this.#noise = config.seed;
  }

  enable(nowNs: number): TickStatus {
    if (this.#disposed) return 'fault';
    this.#advance(nowNs);
    if (!this.#enabled) this.#targets.set(this.#positions);
    this.#enabled = true;
    if (this.#config.feedbackFault !== 'none')
      this.#faultNs = Math.min(this.#faultNs, nowNs + this.#config.feedbackFaultAfterS * 1e9);
    return 'ok';
  }

  read(nowNs: number, out: JointReading): TickStatus {
    if (this.#disposed) return 'fault';
    this.#advance(nowNs);
    if (nowNs >= this.#faultNs) return this.#readWrong(nowNs, out);
    out.robotNs = nowNs;
    out.velocitiesRadS.set(this.#velocities);
    out.gripper = this.#gripper;
    for (let i = 0; i < this.#positions.length; i++)
      out.positionsRad[i] = this.#positions[i]! + this.#encoderNoise();
    this.#lastRead.set(out.positionsRad);
    return 'ok';
  }

  #readWrong(nowNs: number, out: JointReading): TickStatus {
    const { feedbackFault } = this.#config;
    out.robotNs = feedbackFault === 'frozen' ? this.#faultNs : nowNs;
    out.velocitiesRadS.fill(0);
    out.gripper = this.#gripper;
    if (feedbackFault === 'nan') out.positionsRad.fill(Number.NaN);
    else out.positionsRad.set(this.#lastRead);
    return 'ok';
  }

  write(nowNs: number, positionsRad: Float64Array, gripper: number): TickStatus {
    if (this.#disposed) return 'fault';
    this.#advance(nowNs);
    if (!this.#enabled) return 'ok';
    this.#targets.set(positionsRad);
    this.#gripperTarget = gripper;
    if (this.#config.writeMs > 0) Atomics.wait(NEVER, 0, 0, this.#config.writeMs);
    return 'ok';
  }

  stop(nowNs: number): void {
    if (this.#disposed) return;
    this.#advance(nowNs);
    this.#enabled = false;
    this.#gripperTarget = this.#gripper;
  }

  dispose(): void {
    this.#disposed = true;
  }

  #advance(nowNs: number): void {
    if (nowNs - this.#atNs > MAX_CATCH_UP_NS) this.#atNs = nowNs - MAX_CATCH_UP_NS;
    while (this.#atNs + STEP_NS <= nowNs) {
      this.#step();
      this.#atNs += STEP_NS;
    }
  }

  #step(): void {
    for (let i = 0; i < this.#positions.length; i++) {
      const { maxVelocityRadS, maxAccelerationRadS2 } = this.#model.joints[i]!;
      const error = this.#targets[i]! - this.#positions[i]!;
      const braking = Math.sqrt(2 * maxAccelerationRadS2 * Math.abs(error));
      const speed = this.#enabled ? Math.min(maxVelocityRadS, braking, Math.abs(error) / STEP_S) : 0;
      const change = Math.sign(error) * speed - this.#velocities[i]!;
      const maxChange = maxAccelerationRadS2 * STEP_S;
      this.#velocities[i] = this.#velocities[i]! + Math.max(-maxChange, Math.min(maxChange, change));
      this.#positions[i] = this.#positions[i]! + this.#velocities[i]! * STEP_S;
    }
    const stroke = this.#config.gripperSpeedPerS * STEP_S;
    const left = this.#gripperTarget - this.#gripper;
    if (this.#enabled) this.#gripper += Math.max(-stroke, Math.min(stroke, left));
  }

  /** Sum of four uniform variates from a xorshift: close to normal, and repeatable. */
  #encoderNoise(): number {
    if (this.#config.encoderNoiseRad === 0) return 0;
    let sum = 0;
    for (let i = 0; i < 4; i++) {
      this.#noise ^= this.#noise << 13;
      this.#noise ^= this.#noise >>> 17;
      this.#noise ^= this.#noise << 5;
      sum += (this.#noise >>> 0) / 2 ** 32 - 0.5;
    }
    return sum * Math.sqrt(3) * this.#config.encoderNoiseRad;
  }
}

const plugin: DriverPlugin<Config> = {
  about: 'simulated joints with velocity and acceleration limits',
  config,
  inline: ({ writeMs }) => writeMs === 0,
  open: async (options, model, clock: Clock) => new SimDriver(options, model, clock.nowNs()),
};

export default plugin;
