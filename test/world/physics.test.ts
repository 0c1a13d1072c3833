import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { dropCubes, freeMotionNm, GRAVITY, holding, shakenMm, swungMm } from '../../bench/world/trials.ts';
import { Random } from '../../src/core/random.ts';
import { createChain, placementMatrix } from '../../src/geometry/chain.ts';
import { quatFromMatrix, quatMultiply } from '../../src/geometry/frames.ts';
import { loadModel, modelNames } from '../../src/rig/robot-models.ts';
import { armFacts } from '../../src/world/arm-facts.ts';
import { GRIPPER } from '../../src/world/gripper-body.ts';
import { loadMujoco, type Mujoco } from '../../src/world/mujoco.ts';
import { Physics, STEP_S } from '../../src/world/physics.ts';
import { POSE_SIZE } from '../../src/world/shape.ts';
import { taskNamed } from '../../src/world/task-list.ts';
import { WorkWorld } from '../../src/world/work-world.ts';
import { needsPackage } from '../needs.ts';

const missing = await needsPackage('@mujoco/mujoco');
const ARMS = modelNames().filter((name) => loadModel(name).family !== 'hand');

describe('physics', { skip: missing, timeout: 120_000 }, () => {
  let mujoco: Mujoco;
  before(async () => {
    mujoco = await loadMujoco();
  });

  for (const name of ARMS)
    it(`${name}: starts free and at rest`, () => {
      const world = new WorkWorld(mujoco, loadModel(name), taskNamed('sort'));
      const readyRad = world.reach.ready();
      const effortNm = new Float64Array(readyRad.length);
      world.reset(1, readyRad);
      for (let i = 0; i < 200; i++) world.step();
      world.physics.externalEffort(effortNm);
      assert.ok(
        effortNm.every((nm) => nm === 0),
        `something presses on it: ${effortNm}`,
      );
      readyRad.forEach((rad, i) => {
        assert.ok(Math.abs(rad - world.physics.qpos[i]!) < 1e-6, `joint ${i} has moved`);
      });
      world.physics.dispose();
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
      const movedMm = shakenMm(mujoco, massKg, 1);
      assert.ok(movedMm < 0.1, `${massKg} kg moved by ${movedMm} mm`);
    }
  });

  it('holds a cube within 1 mm while the arm swings it through 160 mm at 1 Hz', () => {
    const movedMm = swungMm(mujoco);
    assert.ok(movedMm < 1, `moved by ${movedMm} mm`);
  });

  it('things dropped at random come to rest, on the table or in the tray, never through them', () => {
    assert.deepEqual(dropCubes(mujoco, 8, 2.5), { dropped: 24, rested: 24, sunk: 0 });
  });

  it('feels nothing in free motion, however fast', () => {
    for (const name of ['ur3', 'xarm6']) assert.equal(freeMotionNm(mujoco, name, 1), 0, name);
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
