import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { createChain } from '../geometry/chain.ts';
import { quatAngleRad, quatMultiply, type Transform } from '../geometry/frames.ts';
import { robotModelSchema } from '../geometry/robot-model.ts';
import { emptyHandSample, type HandSample } from '../messages/hand-sample.ts';
import { type ArmMapperConfig, armMapperConfig, createSolvedMapper } from './arm-mapper.ts';
import { createAbsolutePlacement, createClamp, createRelativePlacement } from './placement.ts';
import { quatFromRpyDeg, rigFrame } from './rig-frame.ts';

const model = robotModelSchema.parse(parse(readFileSync('robots/ur3.yaml', 'utf8')));
const chain = createChain(model);
const homeRad = Float64Array.from(model.homeRad);

function hand(positionM: number[], takenMs = 0, quatXyzw = [0, 0, 0, 1]): HandSample {
  const sample = emptyHandSample();
  sample.takenNs = takenMs * 1e6;
  sample.positionM.set(positionM);
  sample.quatXyzw.set(quatXyzw);
  return sample;
}

function near(actual: ArrayLike<number>, expected: number[], within = 1e-9): void {
  assert.equal(actual.length, expected.length);
  for (let i = 0; i < expected.length; i++)
    assert.ok(Math.abs(actual[i]! - expected[i]!) < within, `${Array.from(actual)} is not ${expected}`);
}

/** A mapper whose solver only records the requested pose. */
function spied(settings: Partial<ArmMapperConfig>) {
  const asked = { positionM: [] as number[], quatXyzw: new Float64Array(4) };
  const solver = {
    solve(positionM: Float64Array, quatXyzw: Float64Array, seedRad: Float64Array, outRad: Float64Array) {
      asked.positionM = [...positionM];
      asked.quatXyzw.set(quatXyzw);
      outRad.set(seedRad);
      return 'ok' as const;
    },
  };
  return {
    asked,
    mapper: createSolvedMapper(model, armMapperConfig.parse({ filter: 'none', ...settings }), solver),
  };
}

const targetM = new Float64Array(3);

test('frames: VR (x right, y up, −z forward) becomes base (x forward, y left, z up)', () => {
  const baseFromVr: Transform<'base', 'vr'> = rigFrame([0, 0, 0], [0, 0, 0]);
  const place = createAbsolutePlacement(1, baseFromVr);
  place.engage(hand([0.1, 1.2, -0.5]), Float64Array.of(0.5, -0.1, 1.2));
  place.target(hand([0.1, 1.2, -0.5]), targetM);
  near(targetM, [0.5, -0.1, 1.2]);
  // An orientation changes its axes likewise: (x, y, z, w) → (−z, −x, y, w) from R · q · R⁻¹.
  const turned = new Float64Array(4);
  quatMultiply(baseFromVr.quatXyzw, Float64Array.of(0.1, 0.2, 0.3, Math.sqrt(0.86)), turned);
  quatMultiply(
    turned,
    baseFromVr.quatXyzw.map((value, i) => (i < 3 ? -value : value)),
    turned,
  );
  near(turned, [-0.3, -0.1, 0.2, Math.sqrt(0.86)]);
});

test('rotation offset: roll, pitch, yaw about the fixed axes of the base, after the change of axes', () => {
  const moved = (rotationOffsetDeg: number[]) => {
    const place = createRelativePlacement(1, rigFrame(rotationOffsetDeg, [9, 9, 9]));
    place.engage(hand([0, 0, 0]), new Float64Array(3));
    place.target(hand([0.1, 1.2, -0.5]), targetM);
    return targetM;
  };
  near(moved([0, 0, 90]), [0.1, 0.5, 1.2]); // X → Y, Y → −X
  near(moved([0, 90, 0]), [1.2, -0.1, -0.5]); // Z → X, X → −Z
  near(moved([90, 0, 0]), [0.5, -1.2, -0.1]); // Y → Z, Z → −Y
  near(moved([90, 0, 90]), [1.2, 0.5, -0.1]); // roll first, then yaw
  near(quatFromRpyDeg([180, 0, 0]), [1, 0, 0, 0]);
});

test('scale and gain: both multiply the motion; absolute uses only the scale', () => {
  const { asked, mapper } = spied({ scale: 0.5, positionGain: 0.4 });
  mapper.engage(hand([0, 0, 0]), homeRad);
  mapper.map(hand([0.1, 0.2, -0.5]), new Float64Array(6));
  near(asked.positionM, [0.21325 + 0.1, -0.02, 0.39555 + 0.04], 1e-8);

  const absolute = spied({ scale: 0.5, positionGain: 0.4, position: 'absolute' });
  absolute.mapper.engage(hand([0, 0, 0]), homeRad);
  for (let tick = 1; tick <= 1000; tick++)
    absolute.mapper.map(hand([0.1, 0.2, -0.5], tick * 10), new Float64Array(6));
  near(absolute.asked.positionM, [0.25, -0.05, 0.1]);
});

test('clamp: per axis, and not past the robot’s starting position', () => {
  const clamp = createClamp({ minM: [-0.4, -0.4, 0.05], maxM: [0.4, 0.4, 0.7] });
  clamp.engage(Float64Array.of(0, -0.5, 0.3));
  const target = Float64Array.of(0.6, -0.45, 0.01);
  assert.equal(clamp.apply(target), true);
  near(target, [0.4, -0.45, 0.05]);
  target.set([0.1, -0.6, 0.3]);
  assert.equal(clamp.apply(target), true);
  near(target, [0.1, -0.5, 0.3]);
  assert.equal(clamp.apply(target), false);
});

test('order of steps, relative: scale, turn, add to the reference, clamp', () => {
  const workspace = { minM: [-1, -1, 0], maxM: [1, 0.25, 1] };
  const settings = { scale: 0.75, positionGain: 0.8, rotationOffsetDeg: [0, 0, 90], workspace };
  const { asked, mapper } = spied(settings as Partial<ArmMapperConfig>);
  mapper.engage(hand([0, 1, 0]), homeRad);
  // Δ (0.1, 0.2, −0.5) · 0.6 = (0.06, 0.12, −0.3); axes (0.3, −0.06, 0.12); yaw 90° (0.06, 0.3, 0.12);
  // link 3 at home (0.21325, 0, 0.39555) → (0.27325, 0.3, 0.51555); y clamped.
  assert.equal(mapper.map(hand([0.1, 1.2, -0.5]), new Float64Array(6)), 'clamped');
  near(asked.positionM, [0.27325, 0.25, 0.51555], 1e-8);
});

test('order of steps, absolute: scale, turn, offset, approach, clamp', () => {
  const { asked, mapper } = spied({
    position: 'absolute',
    scale: 0.75,
    rotationOffsetDeg: [0, 0, 90],
    positionOffsetM: [0, 0, 0.3],
    workspace: { minM: [-0.4, -0.4, 0.05], maxM: [0.4, 0.4, 0.7] },
  });
  // 0.75 · p = (0.075, 0.9, −0.375); axes (0.375, −0.075, 0.9); yaw 90° (0.075, 0.375, 0.9); offset
  // (0.075, 0.375, 1.2); z clamped.
  const out = new Float64Array(6);
  mapper.engage(hand([0.1, 1.2, -0.5]), homeRad);
  let before = [0.21325, 0, 0.39555];
  for (let tick = 1; tick <= 1500; tick++) {
    mapper.map(hand([0.1, 1.2, -0.5], tick * 10), out);
    const stepM = Math.hypot(...asked.positionM.map((m, i) => m - before[i]!));
    assert.ok(stepM <= 0.001 + 1e-9, `0.1 m/s at 100 Hz, not ${stepM}`);
    before = asked.positionM;
  }
  near(asked.positionM, [0.075, 0.375, 0.7]);
  // Once there, it follows the hand immediately.
  mapper.map(hand([0.2, 0.2, -0.5], 15_010), out);
  near(asked.positionM, [0.15, 0.375, 0.45]);
});

test('absolute position and orientation: engaging does not move the robot, for any gap', () => {
  const { asked, mapper } = spied({ position: 'absolute', orientation: 'absolute' });
  const at = hand([0.7, 0.3, 0.2], 50, [0.5, 0.5, 0.5, 0.5]);
  mapper.engage(at, homeRad);
  mapper.map(at, new Float64Array(6));
  const [linkM, toolQuat] = [new Float64Array(3), new Float64Array(4)];
  chain.frame(homeRad, 6, linkM, toolQuat);
  chain.frame(homeRad, 3, linkM, new Float64Array(4));
  near(asked.positionM, [...linkM]);
  assert.ok(quatAngleRad(asked.quatXyzw, toolQuat) < 1e-9);
});

test('rotation offset turns the tool about the robot’s axes', () => {
  const { asked, mapper } = spied({ rotationOffsetDeg: [0, 0, 90] });
  mapper.engage(hand([0, 0, 0]), homeRad);
  // The hand rolls about its forward axis, which is base Y in this rig.
  mapper.map(hand([0, 0, 0], 0, [0, 0, -Math.SQRT1_2, Math.SQRT1_2]), new Float64Array(6));
  const toolQuat = new Float64Array(4);
  chain.frame(homeRad, 6, new Float64Array(3), toolQuat);
  quatMultiply(Float64Array.of(0, Math.SQRT1_2, 0, Math.SQRT1_2), toolQuat, toolQuat);
  assert.ok(quatAngleRad(asked.quatXyzw, toolQuat) < 1e-9);
});
