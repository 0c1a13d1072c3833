import { z } from 'zod';
import { Random } from '../../core/random.ts';
import { baseFromVr, quatConjugate, quatMultiply, quatRotate } from '../../geometry/frames.ts';
import type { HandSample, SampleStatus } from '../../messages/hand-sample.ts';
import { WORLD_STATE, type WorldState } from '../../messages/world-state.ts';
import { disturbed, undisturbed } from '../../world/disturbed-moves.ts';
import { EagerHand } from '../../world/eager-hand.ts';
import { ExpertHand, FOLLOWING_S } from '../../world/expert-hand.ts';
import { FingerHand } from '../../world/finger-hand.ts';
import { OPEN_M } from '../../world/gripper-body.ts';
import { HandVariation } from '../../world/hand-variation.ts';
import { ReportedWorld } from '../../world/reported-world.ts';
import { TASKS } from '../../world/task-list.ts';
import type { InputDevice, InputPlugin } from '../device.ts';

const config = z.strictObject({
  speed: z.number().min(0.1).max(1.5).default(0.8).describe('share of the expert’s full speed'),
  followingS: z
    .number()
    .min(0.05)
    .max(2)
    .default(FOLLOWING_S)
    .describe('how long each move waits for the arm to follow'),
  eager: z
    .boolean()
    .default(false)
    .describe('each move goes on as soon as the gripper has arrived, not by time: for demonstrations'),
  mistakes: z
    .boolean()
    .default(false)
    .describe('with `eager`: now and then makes a mistake and recovers; recorded as `disturbance`'),
  variation: z
    .number()
    .min(0)
    .max(2)
    .default(0)
    .describe(
      'how much a hand differs from an exact one: 1 is like a person demonstrating, different by seed',
    ),
});
type Config = z.infer<typeof config>;

/** A longer gap between samples counts as this much: the hand never leaps. */
const MAX_TICK_S = 0.05;
/** Without a report of the world for this long, the hand stays where it is. */
const UNSEEN_S = 1;
/** Waits this long after its last move before it looks what is left to do. */
const PAUSE_S = 1;
const AT_REST = { pointM: [0, 0, 0], yawRad: 0, openM: OPEN_M };

/** A hand that does the task of the robot's simulated world, from what the robot reports of it. */
class ExpertInput implements InputDevice {
  readonly #config: Config;
  readonly #seen = WORLD_STATE.create();
  readonly #vrFromBase = new Float64Array(4);
  readonly #turn = Float64Array.of(0, 0, 0, 1);
  readonly #tilt = Float64Array.of(0, 0, 0, 1);
  #task = '';
  #round = -1;
  #hand: ExpertHand | EagerHand | FingerHand | null = null;
  #view: ReportedWorld | null = null;
  #tickNs: number;
  #pausedS = 0;
  #unseenS = 0;
  #begun = 0;
  #isMistake = false;
  #variation: HandVariation;

  constructor(config: Config, nowNs: number) {
    this.#config = config;
    this.#tickNs = nowNs;
    this.#variation = new HandVariation(0, config.variation);
    quatConjugate(baseFromVr.quatXyzw, this.#vrFromBase);
  }

  ingest(): 'unknown-source' {
    return 'unknown-source';
  }

  see(world: WorldState, task: string): void {
    this.#seen.packed.set(world.packed);
    this.#unseenS = 0;
    if (task === this.#task && this.#seen.round === this.#round) return;
    this.#task = task;
    this.#round = this.#seen.round;
    this.#begun = 0;
    this.#variation = new HandVariation(this.#seen.seed, this.#config.variation);
    this.#begin();
  }

  /** Begins from where the gripper is: what follows is relative to it. */
  restart(): void {
    this.#hand = null;
    this.#begin();
  }

  #begin(): void {
    const task = TASKS.find(({ name }) => name === this.#task);
    if (task === undefined) return;
    this.#pausedS = 0;
    this.#view = new ReportedWorld(this.#seen, task);
    if (task.robot === 'hand') {
      this.#hand = new FingerHand(task.expert(this.#view));
      return;
    }
    const at = this.#hand instanceof FingerHand || this.#hand === null ? this.#seenHand() : this.#hand;
    const { eager, mistakes, followingS } = this.#config;
    // Of two arms, the one that stands further to the left is the left one.
    const arm = this.#seen.baseM[1]! > 0 ? 'left' : 'right';
    const moves = task.expert(this.#view, task.robot === 'two-arms' ? arm : undefined);
    const random = new Random(this.#seen.seed, `mistakes-${++this.#begun}`);
    this.#hand = eager
      ? new EagerHand(
          mistakes ? disturbed(moves, this.#view, random) : undisturbed(moves),
          at.pointM,
          at.yawRad,
          this.#view,
        )
      : new ExpertHand(moves, at.pointM, at.yawRad, this.#view, followingS);
  }

  #seenHand() {
    return { pointM: this.#seen.gripM, yawRad: this.#seen.gripYawRad };
  }

  sample(nowNs: number, out: HandSample): SampleStatus {
    const dtS = Math.min(MAX_TICK_S, Math.max(0, (nowNs - this.#tickNs) / 1e9));
    this.#tickNs = nowNs;
    const hand = this.#hand;
    this.#unseenS += dtS;
    if (hand !== null && this.#seen.outcome === 'running' && this.#unseenS < UNSEEN_S) {
      hand.tick(dtS * this.#config.speed * this.#variation.speed);
      if (!(hand instanceof FingerHand)) this.#variation.tick(dtS, hand.pointM[2]!);
      this.#isMistake = hand instanceof EagerHand && hand.isMistake;
    }
    if (hand?.isDone === true) this.#pausedS += dtS;
    if (this.#pausedS > PAUSE_S) this.#begin();
    this.#fill(hand instanceof FingerHand ? null : hand, nowNs, out);
    if (hand instanceof FingerHand) fillJoints(hand, out);
    return 'ok';
  }

  /** Without a world it lets go of the robot. */
  #fill(hand: ExpertHand | EagerHand | null, nowNs: number, out: HandSample): void {
    const { pointM, yawRad: exactRad, openM } = hand ?? AT_REST;
    const { offsetM, turnRad } = this.#variation;
    const yawRad = exactRad + turnRad;
    out.takenNs = nowNs;
    for (let k = 0; k < 3; k++) out.positionM[k] = pointM[k]! + offsetM[k]!;
    quatRotate(this.#vrFromBase, out.positionM, out.positionM);
    this.#turn[0] = this.#turn[1] = 0;
    this.#turn[2] = Math.sin(yawRad / 2);
    this.#turn[3] = Math.cos(yawRad / 2);
    const tiltRad = hand instanceof ExpertHand ? hand.tiltRad : 0;
    if (tiltRad !== 0) {
      this.#tilt[1] = Math.sin(-tiltRad / 2);
      this.#tilt[3] = Math.cos(tiltRad / 2);
      quatMultiply(this.#turn, this.#tilt, this.#turn);
    }
    quatMultiply(this.#vrFromBase, this.#turn, out.quatXyzw);
    out.gripper = 1 - openM / OPEN_M;
    out.clutch = hand !== null;
    out.tracking = true;
    out.estop = false;
    out.source = this.#isMistake ? 'disturbance' : 'expert';
    out.points = 0;
    out.isLeft = false;
  }
}

/** A hand's joints are told directly. */
function fillJoints({ jointsRad }: FingerHand, out: HandSample): void {
  out.clutch = true;
  out.joints = jointsRad.length;
  out.jointsRad.set(jointsRad);
}

const plugin: InputPlugin<Config> = {
  about: 'does the task of a simulated world, no person needed',
  automatic: true,
  config,
  open: (options, nowNs) => new ExpertInput(options, nowNs),
};

export default plugin;
