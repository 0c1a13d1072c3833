import { Random } from '../../src/core/random.ts';
import type { RobotModel } from '../../src/geometry/robot-model.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { type ArmFacts, armFacts } from '../../src/world/arm-facts.ts';
import type { Mujoco } from '../../src/world/mujoco.ts';
import { Physics, STEP_S } from '../../src/world/physics.ts';
import { createReach } from '../../src/world/reach.ts';
import { Servo } from '../../src/world/servo.ts';
import { POSE_SIZE } from '../../src/world/shape.ts';
import { CUBES, cube, tray } from '../../src/world/things.ts';

export const GRAVITY = 9.81;

export interface Holding {
  physics: Physics;
  model: RobotModel;
  facts: ArmFacts;
  readyRad: Float64Array;
}

/** A UR3 that holds a cube of this mass at its ready pose. */
export function holding(mujoco: Mujoco, massKg: number): Holding {
  const model = loadModel('ur3');
  const facts = armFacts(model);
  const physics = new Physics(mujoco, model, facts, [{ ...cube('red'), massKg }]);
  const readyRad = createReach(model, facts).ready();
  const pose = new Float64Array(POSE_SIZE);
  physics.reset(readyRad, Float64Array.of(0, 0, 1, 1, 0, 0, 0));
  physics.handPose(pose);
  physics.gripPoint(pose);
  physics.reset(readyRad, pose);
  physics.gravity[2] = 0;
  physics.ctrl[physics.joints] = 0;
  run(physics, 0.5);
  physics.gravity[2] = -GRAVITY;
  run(physics, 0.3);
  return { physics, model, facts, readyRad };
}

function run(physics: Physics, seconds: number): void {
  for (let i = 0; i < seconds / STEP_S; i++) physics.step();
}

/** The cube's place in the hand's frame, millimetres. */
function inHandMm(physics: Physics): number[] {
  const [hand, thing] = [new Float64Array(POSE_SIZE), new Float64Array(POSE_SIZE)];
  physics.handPose(hand);
  physics.poses(thing);
  const [w, x, y, z] = hand.subarray(3) as unknown as [number, number, number, number];
  const d = [0, 1, 2].map((k) => 1000 * (thing[k]! - hand[k]!)) as [number, number, number];
  const columns = [
    [1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)],
    [2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w)],
    [2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)],
  ];
  return columns.map((column) => column[0]! * d[0] + column[1]! * d[1] + column[2]! * d[2]);
}

const apart = (a: readonly number[], b: readonly number[]): number =>
  Math.hypot(...a.map((value, i) => value - b[i]!));

/** Most that a held cube moves while gravity shakes by 1 g along x, y and z at 2, 5 and 10 Hz, `seconds` each. */
export function shakenMm(mujoco: Mujoco, massKg: number, seconds: number): number {
  const { physics } = holding(mujoco, massKg);
  const start = inHandMm(physics);
  let mostMm = 0;
  for (const axis of [0, 1, 2])
    for (const hz of [2, 5, 10])
      for (let i = 0; i < seconds / STEP_S; i++) {
        physics.gravity.set([0, 0, -GRAVITY]);
        physics.gravity[axis]! += GRAVITY * Math.sin(2 * Math.PI * hz * i * STEP_S);
        physics.step();
        if (i % 20 === 0) mostMm = Math.max(mostMm, apart(inHandMm(physics), start));
      }
  physics.dispose();
  return mostMm;
}

/** How far a held cube of 80 g has moved after the arm swung it through 160 mm at about 1 Hz for 6 s. */
export function swungMm(mujoco: Mujoco): number {
  const { physics, model, facts, readyRad } = holding(mujoco, 0.08);
  const reach = createReach(model, facts);
  const servo = new Servo(model, 0.04);
  servo.hold(physics.qpos, 0);
  const target = Float64Array.from(readyRad);
  const middle = new Float64Array(3);
  physics.gripPoint(middle);
  const start = inHandMm(physics);
  for (let i = 0; i < 6 / STEP_S; i++) {
    const a = 2 * Math.PI * i * STEP_S;
    const soft = 0.08 * Math.min(1, i * STEP_S);
    const point = [1, 0.9, 0.8].map((share, k) => middle[k]! + soft * Math.sin(a * share));
    if (i % 5 === 0) {
      if (!reach.follow(point, 0, target, target)) return Number.POSITIVE_INFINITY;
      servo.target(target, 1);
    }
    servo.step(physics.ctrl);
    physics.step();
  }
  const movedMm = apart(inHandMm(physics), start);
  physics.dispose();
  return movedMm;
}

export interface Drops {
  dropped: number;
  /** At rest after the time given. */
  rested: number;
  /** Below the table or the tray's floor. */
  sunk: number;
}

/** Cubes dropped at random places, turns and speeds onto a table with a tray, three at a time. */
export function dropCubes(mujoco: Mujoco, episodes: number, seconds: number): Drops {
  const model = loadModel('ur3');
  const physics = new Physics(mujoco, model, armFacts(model), [tray('tray', 0.07), ...CUBES.map(cube)]);
  const random = new Random(5, 'drops');
  const poses = new Float64Array((1 + CUBES.length) * POSE_SIZE);
  const result: Drops = { dropped: 0, rested: 0, sunk: 0 };
  for (let episode = 0; episode < episodes; episode++) {
    physics.reset([3.14, -1.57, 0.5, -1.57, -1.57, 0], scattered(random, poses));
    const dof = physics.joints + 2;
    for (let i = 0; i < 6 * CUBES.length; i++)
      physics.qvel[dof + i] =
        i % 6 < 3 ? -random.uniform() * (i % 6 === 2 ? 3 : 1) : 20 * (random.uniform() - 0.5);
    run(physics, seconds);
    physics.poses(poses);
    CUBES.forEach((_, i) => {
      result.dropped++;
      if (physics.speed(i + 1) < 0.05) result.rested++;
      if (!(poses[(i + 1) * POSE_SIZE + 2]! > 0.0185)) result.sunk++;
    });
  }
  physics.dispose();
  return result;
}

function scattered(random: Random, poses: Float64Array): Float64Array {
  poses.set([0.35, 0.15, 0, 1, 0, 0, 0]);
  CUBES.forEach((_, i) => {
    const q = [0, 0, 0, 0].map(() => random.uniform() - 0.5);
    const length = Math.hypot(...q);
    const at = [0.22 + 0.2 * random.uniform(), 0.25 * random.uniform(), 0.1 + 0.1 * i];
    poses.set([...at, ...q.map((value) => value / length)], (i + 1) * POSE_SIZE);
  });
  return poses;
}

/** The largest torque from outside while every joint swings freely and fast. */
export function freeMotionNm(mujoco: Mujoco, name: string, seconds: number): number {
  const model = loadModel(name);
  const facts = armFacts(model);
  const physics = new Physics(mujoco, model, facts, []);
  const readyRad = createReach(model, facts).ready();
  const joints = readyRad.length;
  const effortNm = new Float64Array(joints);
  let mostNm = 0;
  physics.reset(readyRad, []);
  for (let i = 0; i < seconds / STEP_S; i++) {
    for (let j = 0; j < joints; j++) {
      const swing = 0.3 * Math.sin((9 + j) * i * STEP_S);
      physics.ctrl[j] = readyRad[j]! + (j === 1 ? -0.3 * Math.abs(swing) : swing);
    }
    physics.step();
    physics.externalEffort(effortNm);
    for (const nm of effortNm) mostNm = Math.max(mostNm, Math.abs(nm));
  }
  physics.dispose();
  return mostNm;
}
