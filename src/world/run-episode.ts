import { ExpertHand } from './expert-hand.ts';
import { FingerHand } from './finger-hand.ts';
import { OPEN_M } from './gripper-body.ts';
import { STEP_S } from './physics.ts';
import type { Reach } from './reach.ts';
import type { Servo } from './servo.ts';
import type { Move, WorldView } from './task.ts';
import type { WorkWorld } from './work-world.ts';

const CYCLE_S = 0.005;
const STEPS = Math.round(CYCLE_S / STEP_S);
/** After the expert's last move, time for things to come to rest. */
const SETTLE_S = 3;

export interface Episode {
  seed: number;
  success: boolean;
  score: number;
  /** Simulated time until success, or until the end. */
  timeS: number;
  /** Expert: cycles in which the arm did not reach the hand. */
  outOfReach?: number;
  /** Of the final state. */
  hash?: string;
}

/** Sets the servos' targets for the next cycle; false if the arm does not reach. */
interface Doer {
  readonly isDone: boolean;
  tick(): boolean;
}

/** Lets the task's expert do a seed at 200 Hz, without a clock: as fast as the machine computes. */
export function runExpert(world: WorkWorld, seed: number, readyRad: Float64Array): Episode {
  world.reset(seed, readyRad);
  const doer = world.physics.hasGripper ? armsDoer(world, readyRad) : fingerDoer(world);
  const { progress } = world;
  let outOfReach = 0;
  let settledS = 0;
  while (Number.isNaN(progress.doneS) && !progress.isLate && settledS < SETTLE_S) {
    if (!doer.tick()) outOfReach++;
    if (doer.isDone) settledS += CYCLE_S;
    for (let i = 0; i < STEPS; i++) world.step();
  }
  const success = !Number.isNaN(progress.doneS);
  const timeS = success ? progress.doneS : progress.elapsedS;
  return { seed, success, score: progress.score, timeS, outOfReach };
}

function armsDoer(world: WorkWorld, readyRad: Float64Array): Doer {
  const { task, second } = world;
  if (second === null) return armDoer(world, readyRad, task.expert(world), world);
  const left = armDoer(world, readyRad, task.expert(world, 'left'), world);
  const right = armDoer(second, second.readyRad, task.expert(second.view, 'right'), second.view);
  return {
    get isDone() {
      return left.isDone && right.isDone;
    },
    tick() {
      const isReached = left.tick();
      return right.tick() && isReached;
    },
  };
}

function armDoer(
  arm: { reach: Reach; servo: Servo },
  readyRad: Float64Array,
  moves: Iterator<Move, void, void>,
  view: WorldView,
): Doer {
  const hand = new ExpertHand(moves, view.gripM);
  const targetRad = Float64Array.from(readyRad);
  return {
    get isDone() {
      return hand.isDone;
    },
    tick() {
      hand.tick(CYCLE_S);
      const reaches = arm.reach.follow(hand.pointM, hand.yawRad, targetRad, targetRad, hand.tiltRad);
      arm.servo.target(targetRad, 1 - hand.openM / OPEN_M);
      return reaches;
    },
  };
}

function fingerDoer(world: WorkWorld): Doer {
  const hand = new FingerHand(world.task.expert(world));
  return {
    get isDone() {
      return hand.isDone;
    },
    tick() {
      hand.tick(CYCLE_S);
      world.servo.target(hand.jointsRad, 0);
      return true;
    },
  };
}
