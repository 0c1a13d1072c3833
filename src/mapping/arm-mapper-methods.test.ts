import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { parse } from 'yaml';
import { createChain } from '../geometry/chain.ts';
import { quatConjugate, quatMultiply, quatNormalise, rotvecFromQuat } from '../geometry/frames.ts';
import { type RobotModel, robotModelSchema } from '../geometry/robot-model.ts';
import { emptyHandSample, type HandSample } from '../messages/hand-sample.ts';
import {
  type ArmMapper,
  type ArmMapperConfig,
  armMapperConfig,
  createArmMapper,
  createSolvedMapper,
} from './arm-mapper.ts';
import type { Solver, SolveStatus } from './ik/contract.ts';
import { createSolver, METHODS, type Method } from './ik/solver.ts';

const load = (file: string): RobotModel => robotModelSchema.parse(parse(readFileSync(file, 'utf8')));
const ur3 = load('robots/ur3.yaml');
const seven = load('test/data/seven-joint.yaml');
const FILTERS = ['none', 'steady', 'moving-average:7', 'ema:0.2', 'one-euro:1,0.5'];

function handAt(positionM: readonly number[], quatXyzw: readonly number[], takenNs: number): HandSample {
  const sample = emptyHandSample();
  sample.takenNs = takenNs;
  sample.positionM.set(positionM);
  sample.quatXyzw.set(quatXyzw);
  quatNormalise(sample.quatXyzw, sample.quatXyzw);
  return sample;
}

const farthest = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  Math.max(...Array.from(a, (value, i) => Math.abs(value - b[i]!)));

/** A minimal solver for any number of joints: a few steps of Jᵀ. */
function transposeSolver(model: RobotModel): Solver {
  const chain = createChain(model);
  const n = chain.joints;
  const jacobian = new Float64Array(6 * n);
  const [flange, atM, at, error] = [12, 3, 4, 6].map((size) => new Float64Array(size)) as Float64Array[];
  const turn = new Float64Array(3);
  return {
    solve(positionM, quatXyzw, seedRad, outRad) {
      outRad.set(seedRad);
      for (let round = 0; round < 60; round++) {
        chain.frame(outRad, n, atM!, at!);
        quatConjugate(at!, at!);
        quatMultiply(quatXyzw, at!, at!);
        rotvecFromQuat(at!, turn);
        for (let i = 0; i < 3; i++) [error![i], error![3 + i]] = [positionM[i]! - atM![i]!, turn[i]! * 0.2];
        chain.jacobian(outRad, jacobian, flange!);
        for (let j = 0; j < n; j++)
          for (let i = 0; i < 6; i++) outRad[j]! += 0.5 * jacobian[i * n + j]! * error![i]!;
      }
      return 'ok';
    },
  };
}

const metre = fc.integer({ min: -1500, max: 1500 }).map((mm) => mm / 1000);
const component = fc.integer({ min: -1000, max: 1000 }).map((n) => n / 1000);
const handPose = fc
  .tuple(fc.tuple(metre, metre, metre), fc.tuple(component, component, component, component))
  .filter(([, q]) => Math.hypot(...q) > 0.01);
const measured = (model: RobotModel) =>
  fc
    .tuple(
      ...model.joints.map(({ minRad, maxRad }) =>
        fc.noBias(fc.integer({ min: 0, max: 1e6 })).map((n) => minRad + (n / 1e6) * (maxRad - minRad)),
      ),
    )
    .map((q) => Float64Array.from(q));

/** With the elbow stretched or folded, angles vary with the square root of the rounding; the tool does not move. */
const stillRad = (anglesRad: Float64Array): number =>
  Math.abs(Math.sin(anglesRad[2]!)) < 1e-3 ? 1e-3 : 1e-5;

/** Moves under the clutch, then releases and engages elsewhere, which must not move the robot. */
function clutchLaw(model: RobotModel, mapper: ArmMapper): void {
  const out = new Float64Array(model.joints.length);
  fc.assert(
    fc.property(handPose, handPose, measured(model), (first, second, startRad) => {
      const engageAt = handAt(...first, 1e9);
      assert.equal(mapper.engage(engageAt, startRad), 'ok');
      assert.equal(mapper.map(engageAt, out), 'ok');
      assert.ok(farthest(out, startRad) < stillRad(startRad), `${out} is not ${startRad}`);
      for (let tick = 1; tick <= 5; tick++) {
        const moved = first[0].map((m, i) => m + 0.002 * tick * (second[0][i]! > 0 ? 1 : -1));
        mapper.map(handAt(moved, first[1], 1e9 + tick * 1e7), out);
      }
      mapper.release();
      const reached = out.slice();
      assert.equal(mapper.map(handAt(...second, 2e9), out), 'disengaged');
      assert.deepEqual(out, reached);
      const again = handAt(...second, 3e9);
      assert.equal(mapper.engage(again, reached), 'ok');
      for (let tick = 0; tick < 5; tick++) {
        again.takenNs = 3e9 + tick * 1e7;
        assert.notEqual(mapper.map(again, out), 'bad-input');
        assert.ok(farthest(out, reached) < stillRad(reached), `${out} is not ${reached}`);
      }
    }),
    { numRuns: 300 },
  );
}

for (const model of [ur3, seven])
  for (const ik of ['guide', ...METHODS] as const)
    test(`${model.name}, ${ik}: releasing and engaging again never moves`, {
      skip: whyMissing(model, ik),
    }, () => {
      for (const filter of FILTERS)
        clutchLaw(model, createArmMapper(model, armMapperConfig.parse({ ik, filter })));
    });

function whyMissing(model: RobotModel, ik: 'guide' | Method): string | false {
  if (ik === 'guide') return false;
  try {
    createSolver(model, ik);
    return false;
  } catch (error) {
    return (error as Error).message;
  }
}

for (const filter of FILTERS)
  test(`seven joints, ${filter}: releasing and engaging again never moves`, () => {
    const settings = armMapperConfig.parse({ ik: 'numeric', filter });
    clutchLaw(seven, createSolvedMapper(seven, settings, transposeSolver(seven)));
  });

test('seven joints: the flange follows the hand', () => {
  const chain = createChain(seven);
  const mapper = createSolvedMapper(
    seven,
    armMapperConfig.parse({ ik: 'numeric', filter: 'none' }),
    transposeSolver(seven),
  );
  const homeRad = Float64Array.from(seven.homeRad);
  const [fromM, toM, quat] = [new Float64Array(3), new Float64Array(3), new Float64Array(4)];
  const out = new Float64Array(7);
  chain.frame(homeRad, 7, fromM, quat);
  mapper.engage(handAt([0, 1, 0], [0, 0, 0, 1], 0), homeRad);
  for (let tick = 1; tick <= 200; tick++)
    mapper.map(handAt([0, 1 + 0.0002 * tick, -0.0001 * tick], [0, 0, 0, 1], tick * 1e7), out);
  chain.frame(out, 7, toM, quat);
  assert.ok(farthest(toM, [fromM[0]! + 0.02, fromM[1]!, fromM[2]! + 0.04]) < 2e-3, `${fromM} → ${toM}`);
});

test('the guided frame depends on the family unless the rig sets a method', () => {
  const leadOf = (model: RobotModel, settings: Partial<ArmMapperConfig> = {}) =>
    createArmMapper(model, armMapperConfig.parse(settings)).guidance!.lead;
  assert.equal(leadOf(ur3), 3);
  assert.equal(leadOf(seven), 7);
  assert.equal(leadOf(ur3, { ik: 'decoupled' }), 3);
  assert.equal(leadOf(ur3, { ik: 'analytic' }), 6);
  assert.equal(leadOf(ur3, { ik: 'numeric' }), 6);
});

test('an unreachable target holds the arm, and returning causes no jump', () => {
  let answer: SolveStatus = 'ok';
  const wanted = Float64Array.from(ur3.homeRad);
  const solver: Solver = {
    solve(_positionM, _quatXyzw, _seedRad, outRad) {
      outRad.set(answer === 'ok' ? wanted : wanted.map(() => 42));
      return answer;
    },
  };
  const mapper = createSolvedMapper(ur3, armMapperConfig.parse({}), solver);
  const out = new Float64Array(6);
  const at = (ms: number) => handAt([0, 1, 0], [0, 0, 0, 1], ms * 1e6);
  mapper.engage(at(0), wanted);
  assert.equal(mapper.map(at(10), out), 'ok');
  const held = out.slice();
  answer = 'unreachable';
  for (let ms = 20; ms <= 500; ms += 10) {
    assert.equal(mapper.map(at(ms), out), 'unreachable');
    assert.deepEqual(out, held);
  }
  answer = 'ok';
  wanted[0]! += 1;
  wanted[5]! -= 0.2;
  let ticks = 0;
  for (let ms = 510; farthest(out, wanted) > 0 && ticks < 1000; ms += 10, ticks++) {
    const before = out.slice();
    const status = mapper.map(at(ms), out);
    assert.ok(farthest(out, before) <= 0.005 + 1e-12, 'half a radian per second');
    assert.equal(status, farthest(out, wanted) > 0 ? 'clamped' : 'ok');
  }
  assert.ok(Math.abs(ticks - 200) <= 1, `${ticks} ticks for one radian`);
  wanted[0]! += 0.3;
  mapper.map(at(9999), out);
  assert.deepEqual(out, wanted, 'follows as before once it has arrived');
});

test('if the flange is the lead frame, the model’s workspace bounds the rig’s', () => {
  const workspace = { minM: [-0.2, -0.2, 0], maxM: [0.2, 0.2, 0.5] } as const;
  const bounded = {
    ...seven,
    workspace: { minM: [...workspace.minM], maxM: [...workspace.maxM] },
  } as RobotModel;
  const asked: number[][] = [];
  const solver: Solver = {
    solve: (positionM, _quat, seedRad, outRad) => {
      asked.push([...positionM]);
      outRad.set(seedRad);
      return 'ok';
    },
  };
  const far = handAt([0, 3, 0], [0, 0, 0, 1], 1e7);
  const topOf = (settings: Partial<ArmMapperConfig>) => {
    const mapper = createSolvedMapper(
      bounded,
      armMapperConfig.parse({ ik: 'numeric', filter: 'none', ...settings }),
      solver,
    );
    mapper.engage(handAt([0, 0, 0], [0, 0, 0, 1], 0), Float64Array.of(0, 1.5, 0, 1.5, 0, 0, 0));
    mapper.map(far, new Float64Array(7));
    return asked.at(-1)![2];
  };
  assert.equal(topOf({}), 0.5);
  assert.equal(topOf({ workspace: { minM: [-1, -1, 0], maxM: [1, 1, 0.4] } }), 0.4);
  assert.equal(topOf({ workspace: { minM: [-1, -1, 0], maxM: [1, 1, 0.9] } }), 0.5);
  assert.throws(() => topOf({ workspace: { minM: [-1, -1, 0.6], maxM: [1, 1, 0.9] } }), /workspace/);
});
