import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { Random } from '../../src/core/random.ts';
import { createChain, placementMatrix } from '../../src/geometry/chain.ts';
import { quatFromMatrix, quatMultiply } from '../../src/geometry/frames.ts';
import { loadModel, modelNames } from '../../src/rig/robot-models.ts';
import { armFacts } from '../../src/world/arm-facts.ts';
import { GRIPPER } from '../../src/world/gripper-body.ts';
import { loadMujoco, type Mujoco } from '../../src/world/mujoco.ts';
import { Physics, STEP_S } from '../../src/world/physics.ts';
import { createReach } from '../../src/world/reach.ts';
import { Servo } from '../../src/world/servo.ts';
import { POSE_SIZE } from '../../src/world/shape.ts';
import { cube, tray } from '../../src/world/things.ts';
import { needsPackage } from '../needs.ts';

const missing = await needsPackage('@mujoco/mujoco');
const ARMS = modelNames().filter((name) => loadModel(name).family !== 'hand');
const GRAVITY = 9.81;

/** An arm that holds a cube of this mass at its ready pose. */
function holding(mujoco: Mujoco, massKg: number) {
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
  for (let i = 0; i < 0.5 / STEP_S; i++) physics.step();
  physics.gravity[2] = -GRAVITY;
  for (let i = 0; i < 0.3 / STEP_S; i++) physics.step();
  return { physics, model, facts, readyRad, inHand: () => inHand(physics) };
}

/** The cube's place in the hand's frame, millimetres. */
function inHand(physics: Physics): number[] {
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

describe('physics', { skip: missing, timeout: 120_000 }, () => {
  let mujoco: Mujoco;
  before(async () => {
    mujoco = await loadMujoco();
  });

  for (const name of ARMS)
    it(`${name}: MuJoCo puts the flange where the chain does, in any pose`, () => {
      const model = loadModel(name);
      const facts = armFacts(model);
      const physics = new Physics(mujoco, model, facts, []);
      const chain = createChain(model);
      const mount = mountQuat(facts.mountRpyRad);
      const random = new Random(1, name);
      const [positionM, quat, pose] = [new Float64Array(3), new Float64Array(4), new Float64Array(POSE_SIZE)];
      for (let i = 0; i < 20; i++) {
        const qRad = model.joints.map(({ minRad, maxRad }) => random.between([minRad, maxRad]));
        physics.reset(qRad, []);
        physics.handPose(pose);
        chain.frame(qRad, chain.joints, positionM, quat);
        quatMultiply(quat, mount, quat);
        for (let k = 0; k < 3; k++)
          assert.ok(Math.abs(pose[k]! - facts.layout.baseM[k]! - positionM[k]!) < 1e-6);
        const cosine = quat[3]! * pose[3]! + quat[0]! * pose[4]! + quat[1]! * pose[5]! + quat[2]! * pose[6]!;
        assert.ok(Math.abs(Math.abs(cosine) - 1) < 1e-9);
      }
      physics.dispose();
    });

  it('holds a cube within 0.1 mm while gravity shakes by 1 g in any direction', () => {
    for (const massKg of [0.05, 0.1]) {
      const { physics, inHand: place } = holding(mujoco, massKg);
      const start = place();
      let mostMm = 0;
      for (const axis of [0, 1, 2])
        for (const hz of [2, 5, 10])
          for (let i = 0; i < 1 / STEP_S; i++) {
            physics.gravity.set([0, 0, -GRAVITY]);
            physics.gravity[axis]! += GRAVITY * Math.sin(2 * Math.PI * hz * i * STEP_S);
            physics.step();
            if (i % 20 === 0) mostMm = Math.max(mostMm, apart(place(), start));
          }
      assert.ok(mostMm < 0.1, `${massKg} kg moved by ${mostMm} mm`);
      physics.dispose();
    }
  });

  it('holds a cube within 1 mm while the arm swings it through 160 mm at 1 Hz', () => {
    const { physics, model, facts, readyRad, inHand: place } = holding(mujoco, 0.08);
    const reach = createReach(model, facts);
    const servo = new Servo(model, 0.04);
    servo.hold(physics.qpos, 0);
    const target = Float64Array.from(readyRad);
    const middle = new Float64Array(3);
    physics.gripPoint(middle);
    const start = place();
    for (let i = 0; i < 6 / STEP_S; i++) {
      const a = 2 * Math.PI * i * STEP_S;
      const soft = Math.min(1, i * STEP_S);
      const point = [0, 1, 2].map((k) => middle[k]! + soft * 0.08 * Math.sin(a * [1, 0.9, 0.8][k]!));
      if (i % 5 === 0) {
        assert.ok(reach.follow(point, 0, target, target));
        servo.target(target, 1);
      }
      servo.step(physics.ctrl);
      physics.step();
    }
    assert.ok(apart(place(), start) < 1, `moved by ${apart(place(), start)} mm`);
    physics.dispose();
  });

  it('things dropped at random come to rest, on the table or in the tray, never through them', () => {
    const model = loadModel('ur3');
    const names = ['red', 'green', 'blue'] as const;
    const physics = new Physics(mujoco, model, armFacts(model), [tray('tray', 0.07), ...names.map(cube)]);
    const random = new Random(5, 'drops');
    const poses = new Float64Array(4 * POSE_SIZE);
    for (let episode = 0; episode < 8; episode++) {
      poses.set([0.35, 0.15, 0, 1, 0, 0, 0]);
      names.forEach((_, i) => {
        const q = [0, 0, 0, 0].map(() => random.uniform() - 0.5);
        const length = Math.hypot(...q);
        const at = [0.22 + 0.2 * random.uniform(), 0.25 * random.uniform(), 0.1 + 0.1 * i];
        poses.set([...at, ...q.map((value) => value / length)], (i + 1) * POSE_SIZE);
      });
      physics.reset([3.14, -1.57, 0.5, -1.57, -1.57, 0], poses);
      const dof = physics.joints + 2;
      for (let i = 0; i < 18; i++)
        physics.qvel[dof + i] = i % 6 < 3 ? -random.uniform() : 20 * (random.uniform() - 0.5);
      for (let i = 0; i < 2.5 / STEP_S; i++) physics.step();
      physics.poses(poses);
      names.forEach((name, i) => {
        assert.ok(physics.speed(i + 1) < 0.05, `${name} still moves in episode ${episode}`);
        assert.ok(poses[(i + 1) * POSE_SIZE + 2]! > 0.0185, `${name} sank in episode ${episode}`);
      });
    }
    physics.dispose();
  });

  it('feels nothing in free motion, however fast', () => {
    const model = loadModel('ur3');
    const facts = armFacts(model);
    const physics = new Physics(mujoco, model, facts, []);
    const readyRad = createReach(model, facts).ready();
    const effortNm = new Float64Array(6);
    physics.reset(readyRad, []);
    for (let i = 0; i < 1 / STEP_S; i++) {
      for (let j = 0; j < 6; j++)
        physics.ctrl[j] = readyRad[j]! + 0.3 * Math.sin((9 + j) * i * STEP_S) * (j === 1 ? -0.3 : 1);
      physics.step();
      physics.externalEffort(effortNm);
      assert.ok(
        effortNm.every((nm) => nm === 0),
        `${[...effortNm]}`,
      );
    }
    physics.dispose();
  });

  it('feels the weight that it holds: the torques are those of the Jacobian', () => {
    const { physics, model } = holding(mujoco, 0.08);
    const effortNm = new Float64Array(6);
    const meanNm = new Float64Array(6);
    const samples = 200;
    for (let i = 0; i < samples; i++) {
      physics.step();
      physics.externalEffort(effortNm);
      for (let j = 0; j < 6; j++) meanNm[j]! += effortNm[j]! / samples;
    }
    const jacobian = new Float64Array(36);
    const flange = new Float64Array(12);
    createChain(model).jacobian(physics.qpos.subarray(0, 6), jacobian, flange);
    const weightN = -0.08 * GRAVITY;
    // The weight acts below the flange, and straight down: only its vertical row counts, moved to the grip point.
    const offset = [flange[2]! * GRIPPER.padM, flange[6]! * GRIPPER.padM];
    for (let j = 0; j < 6; j++) {
      const [wx, wy] = [jacobian[18 + j]!, jacobian[24 + j]!];
      const vertical = jacobian[12 + j]! + wx * offset[1]! - wy * offset[0]!;
      assert.ok(
        Math.abs(meanNm[j]! - vertical * weightN) < 2e-3,
        `joint ${j}: ${meanNm[j]} is not ${vertical * weightN}`,
      );
    }
    physics.dispose();
  });

  it('squeezes no harder than it may', () => {
    const { physics } = holding(mujoco, 0.05);
    physics.limitGrip(5);
    for (let i = 0; i < 0.5 / STEP_S; i++) physics.step();
    assert.ok(Math.abs(physics.gripForceN - 5) < 0.1, `${physics.gripForceN} N`);
    assert.equal(physics.heldBody(), 0);
    physics.dispose();
  });
});

function mountQuat(rpyRad: readonly [number, number, number]): Float64Array {
  const t = placementMatrix({ xyzM: [0, 0, 0], rpyRad: [...rpyRad] });
  const out = new Float64Array(4);
  quatFromMatrix(Float64Array.of(t[0]!, t[1]!, t[2]!, t[4]!, t[5]!, t[6]!, t[8]!, t[9]!, t[10]!), out);
  return out;
}
