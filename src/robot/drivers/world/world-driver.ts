import type { RobotModel } from '../../../geometry/robot-model.ts';
import type { TickStatus } from '../../../messages/robot-state.ts';
import type { WorldState } from '../../../messages/world-state.ts';
import { OPEN_M } from '../../../world/gripper-body.ts';
import type { Mujoco } from '../../../world/mujoco.ts';
import { STEP_S } from '../../../world/scene.ts';
import { fittingTask, TASKS, taskFits, taskNamed } from '../../../world/task-list.ts';
import { type SecondArm, WorkWorld } from '../../../world/work-world.ts';
import type { Driver, JointReading, WorldPort } from '../../driver.ts';
import type { WorldConfig } from './config.ts';
import { fillWorldState } from './fill-world-state.ts';

const STEP_NS = STEP_S * 1e9;
/** After a longer gap the world has stood still: it never runs to catch up. */
const MAX_CATCH_UP_NS = 100e6;

/** The robot of a `WorkWorld`. The world lives on while the joints are not powered: then the arm holds its pose. */
export class WorldDriver implements Driver {
  readonly fault = '';
  readonly world: WorldPort;
  readonly #config: WorldConfig;
  readonly #model: RobotModel;
  readonly #mujoco: Mujoco;
  readonly #request = { isOpen: false, task: '', seed: -1 };
  #work: WorkWorld;
  #round = 1;
  #enabled = false;
  #disposed = false;
  #atNs: number;

  constructor(config: WorldConfig, model: RobotModel, mujoco: Mujoco, nowNs: number) {
    this.#config = config;
    this.#model = model;
    this.#mujoco = mujoco;
    this.#atNs = nowNs;
    this.#work = new WorkWorld(
      mujoco,
      model,
      fittingTask(config.task, model, this.#isPair),
      config.lagMs / 1000,
    );
    this.#work.reset(config.seed, this.#work.reach.ready());
    this.#limitGrip();
    this.world = {
      read: (out) => this.report(out),
      request: (task, seed) => {
        if (task !== '' && !TASKS.some((each) => each.name === task && taskFits(each, model, this.#isPair)))
          return;
        Object.assign(this.#request, { isOpen: true, task, seed: seed ?? -1 });
      },
    };
  }

  get #isPair(): boolean {
    return this.#config.arm !== '';
  }

  /** The other arm in the same world. */
  get second(): SecondArm | null {
    return this.#work.second;
  }

  get isDisposed(): boolean {
    return this.#disposed;
  }

  enable(nowNs: number): TickStatus {
    if (this.#disposed) return 'fault';
    this.advance(nowNs);
    if (!this.#enabled) this.#hold();
    this.#enabled = true;
    return 'ok';
  }

  read(nowNs: number, out: JointReading): TickStatus {
    if (this.#disposed) return 'fault';
    this.advance(nowNs);
    const { physics } = this.#work;
    out.robotNs = nowNs;
    for (let i = 0; i < physics.joints; i++) {
      out.positionsRad[i] = physics.qpos[i]!;
      out.velocitiesRadS[i] = physics.qvel[i]!;
    }
    physics.servoEffort(out.effortsNm);
    physics.externalEffort(out.externalNm);
    out.gripperN = physics.gripForceN;
    out.gripper = physics.hasGripper ? Math.max(0, Math.min(1, 1 - physics.openingM / OPEN_M)) : 0;
    return 'ok';
  }

  write(nowNs: number, positionsRad: Float64Array, gripper: number): TickStatus {
    if (this.#disposed) return 'fault';
    this.advance(nowNs);
    if (this.#enabled) this.#work.servo.target(positionsRad, gripper);
    return 'ok';
  }

  /** The servos hold the pose of this instant; what the gripper holds stays held. */
  stop(nowNs: number): void {
    if (this.#disposed) return;
    this.advance(nowNs);
    if (this.#enabled) this.#hold();
    this.#enabled = false;
  }

  dispose(): void {
    if (!this.#disposed) this.#work.physics.dispose();
    this.#disposed = true;
  }

  #hold(): void {
    const { physics, servo } = this.#work;
    servo.hold(physics.qpos, physics.commandedOpenM);
  }

  /** Runs the world up to now. */
  advance(nowNs: number): void {
    if (this.#request.isOpen) this.#startOver();
    if (nowNs - this.#atNs > MAX_CATCH_UP_NS) this.#atNs = nowNs - MAX_CATCH_UP_NS;
    while (this.#atNs + STEP_NS <= nowNs) {
      this.#work.step();
      this.#atNs += STEP_NS;
    }
    const { nextAfterS } = this.#config;
    if (nextAfterS > 0 && this.#work.restedS >= nextAfterS) this.world.request('', null);
  }

  /** The things of a new round; the arm stays where it is, so that nobody commands an arm that jumped. */
  #startOver(): void {
    const { task, seed } = this.#request;
    this.#request.isOpen = false;
    this.#round++;
    const old = this.#work;
    // After the last whole number that a message carries exactly comes the first.
    const nextSeed = seed < 0 ? (old.seed + 1) % Number.MAX_SAFE_INTEGER : seed;
    if (task === '' || task === old.task.name) {
      old.resetThings(nextSeed);
      return;
    }
    // A new world may move MuJoCo's memory, and then the old one can no longer be read.
    const arm = old.physics.saveArm();
    old.physics.dispose();
    this.#work = new WorkWorld(this.#mujoco, this.#model, taskNamed(task), this.#config.lagMs / 1000);
    this.#work.continueFrom(arm, old.servo, nextSeed);
    this.#limitGrip();
  }

  /** As `WorldPort.read`, about one of the arms. */
  report(out: WorldState, arm: SecondArm | null = null): string {
    if (this.#disposed) return '';
    fillWorldState(this.#work, this.#round, out, arm);
    return this.#work.task.name;
  }

  #limitGrip(): void {
    this.#work.physics.limitGrip(this.#config.gripForceN);
    this.second?.port.limitGrip(this.#config.gripForceN);
  }
}
