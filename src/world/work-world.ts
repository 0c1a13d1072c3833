import { Random } from '../core/random.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import { type ArmFacts, armFacts } from './arm-facts.ts';
import { OPEN_M } from './gripper-body.ts';
import type { Mujoco } from './mujoco.ts';
import { PartnerHand } from './partner-hand.ts';
import type { PartnerPort } from './physics.ts';
import { type ArmState, Physics, STEP_S } from './physics.ts';
import { createReach, type Reach } from './reach.ts';
import { Servo } from './servo.ts';
import { hasPlace, POSE_SIZE } from './shape.ts';
import { type Place, type Score, type Seen, seenAt, type Task, type WorldView } from './task.ts';

/** How often progress is judged. */
const JUDGE_STEPS = 20;
/** Success counts once it has lasted this long. */
const LASTING_S = 1;

export interface Progress {
  elapsedS: number;
  score: Score;
  /** When the score became 1, for good; NaN before. */
  doneS: number;
  /** The time limit has passed without success. */
  isLate: boolean;
}

/** The right arm of two that people drive. */
export interface SecondArm {
  facts: ArmFacts;
  port: PartnerPort;
  servo: Servo;
  reach: Reach;
  readyRad: Float64Array;
  /** What its own expert sees. */
  view: WorldView;
}

/** One arm, or two of the same model, with one task: physics in steps of a millisecond, and the task's progress. */
export class WorkWorld implements WorldView {
  readonly model: RobotModel;
  readonly facts: ArmFacts;
  readonly task: Task;
  readonly physics: Physics;
  readonly reach: Reach;
  readonly servo: Servo;
  /** Null: the task has one arm, or the second moves by itself. */
  readonly second: SecondArm | null;
  readonly gripM = new Float64Array(3);
  readonly progress: Progress = { elapsedS: 0, score: 0, doneS: Number.NaN, isLate: false };
  seed = 0;
  readonly #partner: PartnerHand | null;
  readonly #poses: Float64Array;
  readonly #index: ReadonlyMap<string, number>;
  #steps = 0;
  #scoredS = Number.NaN;
  #overStep = Number.NaN;

  constructor(mujoco: Mujoco, model: RobotModel, task: Task, lagS = 0.04) {
    this.model = model;
    const [facts, rightFacts = null] = task.twoArms?.(armFacts(model)) ?? [armFacts(model)];
    this.facts = facts;
    this.task = task;
    const bodies = task.bodies();
    const { partner } = task;
    const scripted = partner && { model: partner.model, facts: partner.facts(this.layout) };
    const driven = rightFacts && { model, facts: rightFacts };
    this.physics = new Physics(mujoco, model, this.facts, bodies, driven ?? scripted);
    this.#partner = partner && scripted ? new PartnerHand(this, partner, scripted.facts) : null;
    this.reach = createReach(model, this.facts);
    this.servo = new Servo(model, lagS);
    this.second = rightFacts && this.#secondArm(rightFacts, lagS);
    this.#poses = new Float64Array(bodies.length * POSE_SIZE);
    this.#index = new Map(bodies.map(({ name }, i) => [name, i]));
  }

  #secondArm(facts: ArmFacts, lagS: number): SecondArm {
    const port = this.physics.partner!;
    const reach = createReach(this.model, facts);
    const gripM = new Float64Array(3);
    const view: WorldView = {
      see: (body) => this.see(body),
      get gripM() {
        port.gripPoint(gripM);
        return gripM;
      },
      get gripYawRad() {
        return port.yawRad(facts.layout.yawRad);
      },
      get openingM() {
        return port.openingM;
      },
    };
    const readyRad = reach.ready();
    return { facts, port, servo: new Servo(this.model, lagS), reach, readyRad, view };
  }

  get layout() {
    return this.facts.layout;
  }

  get gripYawRad(): number {
    return this.physics.gripYawRad(this.layout.yawRad);
  }

  get openingM(): number {
    return this.physics.openingM;
  }

  get secondOpeningM(): number {
    return this.second?.port.openingM ?? Number.NaN;
  }

  /** Everything to the start of a seed; the arm to these angles, with its gripper open. */
  reset(seed: number, jointsRad: ArrayLike<number>): void {
    this.seed = seed;
    this.physics.reset(jointsRad, startPoses(this.task, this.layout, this.physics.bodies, seed));
    this.servo.hold(this.physics.qpos, this.physics.commandedOpenM);
    this.second?.port.reset(this.second.readyRad);
    this.second?.servo.hold(this.second.readyRad, OPEN_M);
    this.#begin();
  }

  /** The things to the start of a seed; the arm and its servos go on. */
  resetThings(seed: number): void {
    this.seed = seed;
    this.physics.placeBodies(startPoses(this.task, this.layout, this.physics.bodies, seed));
    this.#begin();
  }

  /** The start of a seed, with the arm and the servos of another world of the same model. */
  continueFrom(arm: ArmState, servo: Servo, seed: number): void {
    this.physics.takeArm(arm);
    this.servo.copy(servo);
    this.resetThings(seed);
  }

  #begin(): void {
    this.#steps = 0;
    this.#scoredS = Number.NaN;
    this.#overStep = Number.NaN;
    this.#partner?.restart();
    Object.assign(this.progress, { elapsedS: 0, score: 0, doneS: Number.NaN, isLate: false });
    this.#look();
  }

  /** Time since success or the time limit; 0 before. */
  get restedS(): number {
    return Number.isNaN(this.#overStep) ? 0 : (this.#steps - this.#overStep) * STEP_S;
  }

  /** One millisecond. */
  step(): void {
    this.servo.step(this.physics.ctrl);
    if (this.second !== null) this.second.servo.step(this.second.port.ctrl);
    this.#partner?.step();
    this.physics.step();
    this.#steps++;
    if (this.#steps % JUDGE_STEPS === 0) this.#judge();
  }

  see(body: string): Seen {
    const index = this.#index.get(body);
    if (index === undefined) throw new Error(`there is no body ${body}`);
    this.#look();
    return seenAt(this.#poses, index * POSE_SIZE, this.physics.speed(index));
  }

  #look(): void {
    this.physics.poses(this.#poses);
    this.physics.gripPoint(this.gripM);
  }

  #judge(): void {
    const { progress } = this;
    if (!Number.isNaN(progress.doneS) || progress.isLate) return;
    progress.elapsedS = this.#steps * STEP_S;
    progress.score = this.task.score(this);
    if (progress.score < 1) this.#scoredS = Number.NaN;
    else if (Number.isNaN(this.#scoredS)) this.#scoredS = progress.elapsedS;
    if (progress.elapsedS - this.#scoredS >= LASTING_S) progress.doneS = this.#scoredS;
    else progress.isLate = progress.elapsedS >= this.task.limitS;
    if (!Number.isNaN(progress.doneS) || progress.isLate) this.#overStep = this.#steps;
  }
}

/** Poses of all bodies at the start of a seed. A body that slides in another follows from its joint. */
function startPoses(
  task: Task,
  layout: ArmFacts['layout'],
  bodies: Physics['bodies'],
  seed: number,
): Float64Array {
  const places = task.start(layout, new Random(seed, task.name));
  const poses = new Float64Array(bodies.length * POSE_SIZE);
  let next = 0;
  bodies.forEach((body, i) => {
    if (hasPlace(body)) poses.set(poseOf(places[next++]!), i * POSE_SIZE);
  });
  return poses;
}

function poseOf({ xM, yM, zM, yawRad }: Place): number[] {
  const half = yawRad / 2;
  return [xM, yM, zM, Math.cos(half), 0, 0, Math.sin(half)].map((value) => Number(value.toFixed(9)));
}
