import type { Random } from '../../core/random.ts';
import type { Layout } from '../arm-facts.ts';
import {
  BALL_IN_CUP_M,
  BALL_ON_CUP_M,
  BALL_RADIUS_M,
  ball,
  CUP_HEIGHT_M,
  cup,
  DOWN_M,
  mat,
  UP_M,
} from '../bento-things.ts';
import { COLOURS } from '../shape.ts';
import { go, type Hand, pick, place } from '../skills.ts';
import { AT_REST, type Place, type Seen, scatter, type Task } from '../task.ts';

/** Above a cup with a ball on it. */
const HIGH_M = CUP_HEIGHT_M + 2 * BALL_RADIUS_M + 0.05;
const HOVER_M = 0.1;
const NEAR_M = 0.015;
/** So far apart that a gripper at one cup does not touch the other. */
const APART_M = 0.13;

/** Two places on the table, anywhere from where things start to where the tray would be. */
function twoPlaces({ xM, yM, trayM }: Layout, random: Random): [Place, Place] {
  const across = [Math.min(yM[0], trayM[1]), Math.max(yM[1], trayM[1])] as const;
  const [a, b] = scatter(random, 2, { xM, yM: across }, APART_M);
  return [
    { ...a!, zM: 0, yawRad: 0 },
    { ...b!, zM: 0, yawRad: 0 },
  ];
}

const asideM = (a: Seen, b: Seen): number => Math.hypot(a.xM - b.xM, a.yM - b.yM);

/** Scene 1. */
export const bentoMove: Task = {
  name: 'bento-move',
  title: 'Basic Movement',
  instruction: 'Bring the fingertips 10 cm above the mat, and keep them there.',
  limitS: 30,
  bodies: () => [mat('mat')],
  start: (layout, random) => [twoPlaces(layout, random)[0]],
  score(view) {
    const { xM, yM } = view.see('mat');
    const [x, y, z] = view.gripM as unknown as [number, number, number];
    const offM = Math.hypot(x - xM, y - yM, z - HOVER_M);
    return offM < NEAR_M ? 1 : 0.9 * Math.max(0, 1 - offM / 0.3);
  },
  *expert(view) {
    const { xM, yM } = view.see('mat');
    yield go([xM, yM, HOVER_M], 0, 0.4, 2);
  },
};

/** Scene 2. */
export const bentoDunk: Task = {
  name: 'bento-dunk',
  title: 'Slam Dunk',
  instruction: 'Take the ball from the red cup and drop it into the blue one.',
  limitS: 60,
  bodies: () => [cup('red', COLOURS.red, 'down'), ball, cup('blue', COLOURS.blue, 'up')],
  start(layout, random) {
    const [a, b] = twoPlaces(layout, random);
    return [
      { ...a, zM: DOWN_M },
      { ...a, zM: BALL_ON_CUP_M },
      { ...b, zM: UP_M },
    ];
  },
  score(view) {
    const [thing, goal] = [view.see('ball'), view.see('blue')];
    if (asideM(thing, goal) < 0.02 && thing.zM < BALL_IN_CUP_M + 0.01 && goal.upright > 0.9)
      return thing.speed < 0.5 ? 1 : 0.9;
    return thing.zM > BALL_ON_CUP_M + 0.03 ? 0.5 : 0;
  },
  *expert(view) {
    const hand: Hand = { yawRad: view.gripYawRad };
    yield* pick(view, hand, 'ball', view.see('ball').zM, HIGH_M);
    const { xM, yM } = view.see('blue');
    yield* place(view, hand, 'ball', { xM, yM, zM: HIGH_M - 0.02, yawRad: hand.yawRad, highM: HIGH_M });
  },
};

/** Pads on a cup, above its middle: near its rim, because the ball passes between rim and palm. */
const RIM_M = 0.024;
/** Pads while they pour, and the middle of the cup below from there, against the heading of the gripper. */
const POURING_M = 0.13;
const AHEAD_M = 0.02;
const POUR_RAD = 1.95;
/** Pours to its side: there a UR's wrist does not pass through its singularity. */
const POUR_YAW_RAD = 1.4;
const ROLLING_S = 6;

/** Scene 3. */
export const bentoPour: Task = {
  name: 'bento-pour',
  title: 'Don’t Spill',
  instruction: 'Take the red cup by its rim and pour its ball into the blue one.',
  limitS: 90,
  bodies: () => [cup('red', COLOURS.red, 'up'), ball, cup('blue', COLOURS.blue, 'up')],
  start(layout, random) {
    const [a, b] = twoPlaces(layout, random);
    return [
      { ...a, zM: UP_M },
      { ...a, zM: BALL_IN_CUP_M + 0.0005 },
      { ...b, zM: UP_M },
    ];
  },
  score: bentoDunk.score,
  *expert(view) {
    const hand: Hand = { yawRad: view.gripYawRad };
    yield* pick(view, hand, 'red', UP_M + RIM_M, HIGH_M);
    const goal = view.see('blue');
    const yaw = POUR_YAW_RAD;
    const [x, y] = [goal.xM + AHEAD_M * Math.cos(yaw), goal.yM + AHEAD_M * Math.sin(yaw)];
    yield go([x, y, HIGH_M], yaw, 0.3, 0.3);
    yield go([x, y, POURING_M], yaw, 0.2, 0.2);
    const pour = go([x, y, POURING_M], yaw, 0.2, 1);
    yield { ...pour, tiltRad: POUR_RAD };
    yield { kind: 'wait', waitS: 1.5 };
    yield pour;
    // The ball rolls about in the cup for a while.
    yield { kind: 'wait', waitS: ROLLING_S };
  },
};

/** Scene 4. */
export const bentoUp: Task = {
  name: 'bento-up',
  title: '1up Ball Cup',
  instruction: 'Put the ball from the red cup onto the blue one, and let go.',
  limitS: 60,
  bodies: () => [cup('red', COLOURS.red, 'down'), ball, cup('blue', COLOURS.blue, 'down')],
  start(layout, random) {
    const [a, b] = twoPlaces(layout, random);
    return [
      { ...a, zM: DOWN_M },
      { ...a, zM: BALL_ON_CUP_M },
      { ...b, zM: DOWN_M },
    ];
  },
  score(view) {
    const [thing, goal] = [view.see('ball'), view.see('blue')];
    const isOn = asideM(thing, goal) < 0.01 && Math.abs(thing.zM - BALL_ON_CUP_M) < 0.004;
    if (isOn) return view.openingM > 2 * BALL_RADIUS_M + 0.01 && thing.speed < 10 * AT_REST ? 1 : 0.8;
    return thing.zM > BALL_ON_CUP_M + 0.03 ? 0.4 : 0;
  },
  *expert(view) {
    const hand: Hand = { yawRad: view.gripYawRad };
    yield* pick(view, hand, 'ball', view.see('ball').zM, HIGH_M);
    const { xM, yM } = view.see('blue');
    const zM = BALL_ON_CUP_M + 0.0005;
    yield* place(view, hand, 'ball', { xM, yM, zM, yawRad: hand.yawRad, highM: HIGH_M, toleranceM: 0.003 });
  },
};
