// UNVERIFIED ON HARDWARE

import { TeleopError } from '../../../core/errors.ts';
import type { Clock } from '../../../core/time/clock.ts';
import type { RobotModel } from '../../../geometry/robot-model.ts';
import type { TickStatus } from '../../../messages/robot-state.ts';
import type { Driver, DriverPlugin, JointReading } from '../../driver.ts';
import { DEFAULT_LIMITS, HAND, JOINT_NAMES, nearestCounts, radOfCounts, radSPerUnit } from './arm-facts.ts';
import { emptyBrachioplexus, MOTOR, PACKET } from './brachioplexus-codec.ts';
import { BrachioplexusLink, type BrachioplexusWire } from './brachioplexus-link.ts';
import { brachioplexusUdp } from './brachioplexus-udp.ts';
import { type BentoConfig, bentoConfig } from './config.ts';
import { VelocityLaw } from './velocity-law.ts';

const JOINTS = JOINT_NAMES.length;
/** Unity takes a moment to load a scene; feedback from the previous one may still arrive. */
const SCENE_SETTLE_MS = 250;
const SCENE_REPEAT_MS = 2000;

/**
 * brachIOplexus' side of the Virtual Bento: position targets become speeds and directions, sent every 15 ms
 * in any state. A model of four joints drives the hand by the gripper, one of five as its last joint.
 */
export class BentoDriver implements Driver {
  readonly #config: BentoConfig;
  readonly #clock: Clock;
  readonly #link: BrachioplexusLink;
  readonly #law: VelocityLaw;
  readonly #scene = emptyBrachioplexus(PACKET.scene);
  readonly #control = emptyBrachioplexus(PACKET.control);
  readonly #joints: number;
  readonly #radSPerUnit: number;
  readonly #measured = new Float64Array(JOINTS);
  readonly #target = new Float64Array(JOINTS);
  #enabled = false;
  #alarm = false;
  #fault = '';
  #calledNs = 0;
  #disposed = false;

  constructor(config: BentoConfig, model: RobotModel, clock: Clock, wire: BrachioplexusWire) {
    this.#config = config;
    this.#clock = clock;
    this.#joints = model.joints.length;
    this.#link = new BrachioplexusLink(wire, clock);
    this.#radSPerUnit = radSPerUnit(config.frameRate);
    const { shoulder, elbow, wristRotate, wristFlex, hand } = config.maxSpeeds;
    this.#law = new VelocityLaw({
      gainPerS: config.gainPerS,
      deadBandRad: config.deadBandRad,
      radSPerUnit: this.#radSPerUnit,
      maxSpeeds: [shoulder, elbow, wristRotate, wristFlex, hand].map((most, i) =>
        Math.max(1, Math.min(most, Math.floor((model.joints[i]?.maxVelocityRadS ?? 9) / this.#radSPerUnit))),
      ),
      sequential: config.control === 'sequential',
    });
    this.#scene.sceneIndex = config.scene;
    this.#scene.frameRate = config.frameRate;
    this.#scene.camera.set(config.camera);
    this.#scene.limits.set(DEFAULT_LIMITS);
    model.joints.forEach(({ minRad, maxRad }, i) => {
      this.#scene.limits.set([nearestCounts(minRad), nearestCounts(maxRad)], 2 * i);
    });
  }

  get fault(): string {
    return this.#fault;
  }

  get busErrors(): number {
    return this.#link.rejected;
  }

  async open(): Promise<void> {
    const { scene, host, openTimeoutMs } = this.#config;
    await this.#link.open(() => this.#beat());
    const endNs = this.#clock.nowNs() + openTimeoutMs * 1e6;
    while (this.#clock.nowNs() < endNs) {
      if (scene > 0) this.#link.send(this.#scene);
      await this.#link.until(() => false, SCENE_SETTLE_MS);
      this.#link.feedbackNs = Number.NaN;
      const leftMs = (endNs - this.#clock.nowNs()) / 1e6;
      if (await this.#link.until(() => this.#hasFeedback(), Math.min(SCENE_REPEAT_MS, leftMs))) {
        this.#link.send({ ...this.#scene, type: PACKET.update });
        return;
      }
    }
    const noise = this.#link.rejected > 0 ? `; ${this.#rejections()}` : '';
    throw new TeleopError('robot-unreachable', `no feedback from the Bento arm at ${host}${noise}`, {
      hint: `Start the Virtual Bento or \`farhand sim bento\`; it must send to port ${this.#config.feedbackPort}.`,
    });
  }

  enable(_nowNs: number): TickStatus {
    if (this.#disposed) return 'fault';
    this.#alarm = false;
    this.#calledNs = this.#clock.nowNs();
    if (this.#enabled) return 'ok';
    if (!this.#isFresh()) {
      this.#fault = this.#silence();
      return 'fault';
    }
    this.#measure();
    this.#target.set(this.#measured);
    this.#law.rest(this.#control);
    this.#fault = '';
    this.#enabled = true;
    return 'ok';
  }

  read(nowNs: number, out: JointReading): TickStatus {
    if (this.#disposed) return 'fault';
    this.#calledNs = this.#clock.nowNs();
    if (!this.#hasFeedback()) return 'stale';
    this.#measure();
    out.robotNs = Math.min(this.#link.feedbackNs, nowNs);
    const { speeds } = this.#link.feedback;
    for (let i = 0; i < this.#joints; i++) {
      const state = this.#control.states[i];
      const direction = state === MOTOR.up ? 1 : state === MOTOR.down ? -1 : 0;
      out.positionsRad[i] = this.#measured[i]!;
      out.velocitiesRadS[i] = direction * speeds[i]! * this.#radSPerUnit;
    }
    out.gripper = Math.max(0, Math.min(1, (OPEN_RAD - this.#measured[HAND]!) / (OPEN_RAD - CLOSED_RAD)));
    return this.#alarm ? 'fault' : 'ok';
  }

  write(_nowNs: number, positionsRad: Float64Array, gripper: number): TickStatus {
    if (this.#disposed || this.#alarm) return 'fault';
    this.#calledNs = this.#clock.nowNs();
    if (!this.#enabled) return 'ok';
    for (let i = 0; i < this.#joints; i++)
      if (!Number.isFinite(positionsRad[i])) {
        this.#fail(`the target of joint ${i + 1} was not a number`);
        return 'fault';
      }
    for (let i = 0; i < this.#joints; i++) this.#target[i] = positionsRad[i]!;
    if (this.#joints <= HAND) {
      const closed = gripper > 0 ? Math.min(gripper, 1) : 0;
      this.#target[HAND] = OPEN_RAD + closed * (CLOSED_RAD - OPEN_RAD);
    }
    return 'ok';
  }

  stop(_nowNs: number): void {
    if (this.#disposed) return;
    this.#alarm = false;
    this.#halt();
  }

  dispose(): void {
    if (this.#disposed) return;
    this.#halt();
    this.#disposed = true;
    this.#link.close();
  }

  /** Every 15 ms, enabled or not: a lost stop is sent again. */
  #beat(): void {
    const nowNs = this.#clock.nowNs();
    const { watchdogMs } = this.#config;
    if (this.#hasFeedback() && !this.#isFresh()) this.#fail(this.#silence());
    else if (this.#enabled && nowNs - this.#calledNs > watchdogMs * 1e6)
      this.#fail(`control loop silent for ${watchdogMs} ms`);
    if (this.#enabled) {
      this.#measure();
      this.#law.apply(this.#target, this.#measured, this.#control);
    }
    this.#link.send(this.#control);
  }

  #fail(why: string): void {
    this.#fault = why;
    if (this.#enabled) this.#alarm = true;
    this.#halt();
  }

  #halt(): void {
    this.#enabled = false;
    this.#law.rest(this.#control);
    this.#link.send(this.#control);
  }

  #measure(): void {
    const { positions } = this.#link.feedback;
    for (let i = 0; i < JOINTS; i++) this.#measured[i] = radOfCounts(positions[i]!);
  }

  #hasFeedback(): boolean {
    return !Number.isNaN(this.#link.feedbackNs);
  }

  #isFresh(): boolean {
    return this.#clock.nowNs() - this.#link.feedbackNs <= this.#config.feedbackTimeoutMs * 1e6;
  }

  #silence(): string {
    const noise = this.#link.rejected > 0 ? ` (${this.#rejections()})` : '';
    return `no feedback from the arm for ${this.#config.feedbackTimeoutMs} ms${noise}`;
  }

  #rejections(): string {
    return `${this.#link.rejected} datagrams rejected, the last: ${this.#link.lastRejection}`;
  }
}

const CLOSED_RAD = radOfCounts(DEFAULT_LIMITS[2 * HAND]!);
const OPEN_RAD = radOfCounts(DEFAULT_LIMITS[2 * HAND + 1]!);

const plugin: DriverPlugin<BentoConfig> = {
  about: 'Virtual Bento arm (Unity) over UDP, replacing brachIOplexus',
  config: bentoConfig,
  open: async (options, model, clock) => {
    const { length } = model.joints;
    if (length !== JOINTS && !(length === HAND && model.gripper))
      throw new TeleopError('bad-model', `model "${model.name}" has ${length} joints, not a Bento arm's`, {
        hint: 'Use model bento (five joints) or bento-arm (four joints, with the hand as gripper).',
      });
    const driver = new BentoDriver(options, model, clock, brachioplexusUdp(options));
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
