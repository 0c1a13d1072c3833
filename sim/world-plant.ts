import { type Given, type OptionSpec, seedOption } from '../src/cli/arguments.ts';
import type { RobotModel } from '../src/geometry/robot-model.ts';
import { OPEN_M } from '../src/world/gripper-body.ts';
import { loadMujoco, type Mujoco } from '../src/world/mujoco.ts';
import { STEP_S } from '../src/world/physics.ts';
import { fittingTask, taskNamed } from '../src/world/task-list.ts';
import { WorkWorld } from '../src/world/work-world.ts';
import type { Plant } from './plant.ts';

export const WORLD_OPTIONS: Record<string, OptionSpec> = {
  world: {
    type: 'string',
    value: 'TASK',
    about: 'move an arm with physics at the table of this task (`farhand world list`)',
  },
  seed: { type: 'string', value: 'N', about: 'with --world: where things start (default: 1)' },
};

/** An arm with a gripper, or a hand, in a `WorkWorld`. Its servos follow the set-points of a simulated controller. */
export class WorldPlant implements Plant {
  readonly positionsRad: Float64Array;
  readonly velocitiesRadS: Float64Array;
  readonly effortsNm: Float64Array;
  readonly wrench = new Float64Array(6);
  readonly work: WorkWorld;
  gripper = 0;
  gripperN = 0;
  /** Called when the task's progress changes. */
  onProgress: (what: string) => void = () => {};
  readonly #wantedRad: Float64Array;
  readonly #handM = new Float64Array(7);
  #behindS = 0;
  #reported = '';

  constructor(mujoco: Mujoco, model: RobotModel, task: string, seed: number) {
    this.work = new WorkWorld(mujoco, model, fittingTask(task, model));
    const joints = model.joints.length;
    this.positionsRad = new Float64Array(joints);
    this.velocitiesRadS = new Float64Array(joints);
    this.effortsNm = new Float64Array(joints);
    this.#wantedRad = new Float64Array(joints);
    this.reset(seed);
  }

  /** By `--world` and `--seed`; null without. */
  static async chosen(given: Given, model: RobotModel): Promise<WorldPlant | null> {
    const task = given.values['world'];
    if (typeof task !== 'string') return null;
    const seed = seedOption(given) ?? 1;
    return new WorldPlant(await loadMujoco(), model, taskNamed(task).name, seed);
  }

  reset(seed: number): void {
    this.work.reset(seed, this.work.reach.ready());
    this.#read();
  }

  limitEffort(joint: number, nm: number): void {
    this.work.physics.limitServo(joint, Math.min(nm, this.work.facts.torqueNm[joint]!));
  }

  step(dtS: number, wantedRad: ArrayLike<number>, gripper: number): void {
    for (let i = 0; i < this.#wantedRad.length; i++) this.#wantedRad[i] = wantedRad[i]!;
    this.#behindS += dtS;
    const steps = Math.round(this.#behindS / STEP_S);
    if (steps === 0) return;
    this.#behindS -= steps * STEP_S;
    this.work.servo.target(this.#wantedRad, gripper, steps);
    for (let i = 0; i < steps; i++) this.work.step();
    this.#read();
    this.#report();
  }

  #read(): void {
    const { physics } = this.work;
    for (let i = 0; i < this.positionsRad.length; i++) {
      this.positionsRad[i] = physics.qpos[i]!;
      this.velocitiesRadS[i] = physics.qvel[i]!;
    }
    physics.servoEffort(this.effortsNm);
    this.gripper = Math.max(0, Math.min(1, 1 - physics.openingM / OPEN_M));
    this.gripperN = physics.gripForceN;
    this.wrench.fill(0);
    if (!physics.readContact()) return;
    physics.handPose(this.#handM);
    const { forceN, torqueNm, atM } = physics.contact;
    for (let k = 0; k < 3; k++) {
      const [a, b] = [(k + 1) % 3, (k + 2) % 3] as [number, number];
      const lever = (atM[a]! - this.#handM[a]!) * forceN[b]! - (atM[b]! - this.#handM[b]!) * forceN[a]!;
      // The sensor reports what the arm does to the others.
      this.wrench[k] = -forceN[k]!;
      this.wrench[3 + k] = -torqueNm[k]! - lever;
    }
  }

  #report(): void {
    const { task, seed, progress } = this.work;
    const state = progress.isLate ? 'late' : Number.isNaN(progress.doneS) ? 'running' : 'done';
    const now = `task ${task.name}, seed ${seed}: ${state}, ${Math.round(100 * progress.score)} %`;
    if (now === this.#reported) return;
    this.#reported = now;
    this.onProgress(now);
  }
}
