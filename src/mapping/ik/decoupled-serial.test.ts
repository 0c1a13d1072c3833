import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parse } from 'yaml';
import { createChain } from '../../geometry/chain.ts';
import { quatAngleRad, quatNormalise } from '../../geometry/frames.ts';
import { type RobotModel, robotModelSchema } from '../../geometry/robot-model.ts';
import { emptyHandSample } from '../../messages/hand-sample.ts';
import { armMapperConfig, createArmMapper } from '../arm-mapper.ts';
import { decoupledLead } from './decoupled-serial.ts';
import { createSolver, methodsOf } from './solver.ts';

const load = (file: string): RobotModel => robotModelSchema.parse(parse(readFileSync(file, 'utf8')));
const ARMS = [
  'robots/openarm.yaml',
  'robots/openarm-left.yaml',
  'test/data/seven-joint.yaml',
  'robots/dk1.yaml',
];

interface Place {
  positionM: Float64Array;
  quatXyzw: Float64Array;
}

/** What the method controls: the origin of the lead frame, and how the flange is turned. */
function placed(model: RobotModel): (qRad: ArrayLike<number>) => Place {
  const chain = createChain(model);
  const lead = decoupledLead(model);
  return (qRad) => {
    const [positionM, quatXyzw, spare] = [new Float64Array(3), new Float64Array(4), new Float64Array(4)];
    chain.frame(qRad, chain.joints, new Float64Array(3), quatXyzw);
    chain.frame(qRad, lead, positionM, spare);
    return { positionM, quatXyzw };
  };
}

const apartM = (a: Float64Array, b: Float64Array): number =>
  Math.hypot(a[0]! - b[0]!, a[1]! - b[1]!, a[2]! - b[2]!);

/** Joint angles 0.15 rad or more inside the limits. */
const pose = ({ joints }: RobotModel): fc.Arbitrary<Float64Array> =>
  fc.tuple(...joints.map(() => fc.integer({ min: 0, max: 1000 }))).map((shares) =>
    Float64Array.from(joints, ({ minRad, maxRad }, i) => {
      const [low, high] = [Math.max(-3, minRad) + 0.15, Math.min(3, maxRad) - 0.15];
      return low + (shares[i]! / 1000) * (high - low);
    }),
  );

describe('decoupled mapping of serial arms', () => {
  it('controls the near side of the wrist', () => {
    assert.equal(decoupledLead(load('robots/openarm.yaml')), 5);
    const openarm = load('robots/openarm.yaml');
    assert.deepEqual(methodsOf(openarm), ['numeric', 'decoupled']);
    assert.deepEqual(methodsOf(load('robots/so101.yaml')), ['numeric'], 'five joints have no wrist to spare');
  });

  for (const file of ARMS) {
    const model = load(file);
    const at = placed(model);
    const first = model.joints.length - 3;

    it(`${file}: reaches what a pose nearby reaches, and only the last three joints turn the tool`, () => {
      const solver = createSolver(model, 'decoupled');
      let missed = 0;
      let runs = 0;
      fc.assert(
        fc.property(
          pose(model),
          fc.array(fc.integer({ min: -100, max: 100 }), { minLength: 7, maxLength: 7 }),
          (q, by) => {
            const seed = q.map((rad, i) => rad + by[i]! / 1000);
            const goal = at(q);
            const out = new Float64Array(q.length);
            runs++;
            if (solver.solve(goal.positionM, goal.quatXyzw, seed, out) === 'ok') {
              const found = at(out);
              assert.ok(apartM(found.positionM, goal.positionM) < 1e-5);
              assert.ok(quatAngleRad(found.quatXyzw, goal.quatXyzw) < 2e-5);
            } else missed++;
            const turnedOnly = { positionM: at(seed).positionM, quatXyzw: goal.quatXyzw };
            solver.solve(turnedOnly.positionM, turnedOnly.quatXyzw, seed, out);
            for (let i = 0; i < first; i++)
              assert.ok(Math.abs(out[i]! - seed[i]!) < 1e-6, `joint ${i} moved`);
            for (let i = 0; i < out.length; i++) {
              const { minRad, maxRad } = model.joints[i]!;
              assert.ok(out[i]! >= Math.min(minRad, seed[i]!) && out[i]! <= Math.max(maxRad, seed[i]!));
            }
          },
        ),
      );
      // The wrist may need an angle beyond its range from the seed's side of a singularity.
      assert.ok(missed < 0.1 * runs, `${missed} of ${runs} not reached`);
    });
  }

  it('rejects what is not finite and leaves the result alone', () => {
    const model = load('robots/openarm.yaml');
    const solver = createSolver(model, 'decoupled');
    const { positionM, quatXyzw } = placed(model)(model.homeRad);
    const home = Float64Array.from(model.homeRad);
    const out = new Float64Array(7).fill(9);
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY]) {
      assert.equal(solver.solve(Float64Array.of(bad, 0, 0), quatXyzw, home, out), 'bad-input');
      assert.equal(solver.solve(positionM, Float64Array.of(bad, 0, 0, 1), home, out), 'bad-input');
      assert.equal(
        solver.solve(positionM, quatXyzw, Float64Array.of(bad, 0, 0, 0, 0, 0, 0), out),
        'bad-input',
      );
    }
    assert.deepEqual([...out], Array(7).fill(9));
  });

  it('a hand that moves places the wrist, and a hand that turns only turns it', () => {
    const model = load('robots/openarm.yaml');
    const at = placed(model);
    const mapper = createArmMapper(model, armMapperConfig.parse({ ik: 'decoupled', filter: 'none' }));
    const hand = emptyHandSample();
    hand.tracking = true;
    hand.quatXyzw.set([0, 0, 0, 1]);
    const q = Float64Array.from(model.homeRad);
    assert.equal(mapper.engage(hand, q), 'ok');
    const start = at(q);
    for (let i = 1; i <= 50; i++) {
      hand.takenNs += 10e6;
      // Right and up in the room: −y and z in the base frame.
      hand.positionM.set([0.001 * i, 0.0016 * i, 0]);
      assert.equal(mapper.map(hand, q), 'ok');
    }
    const moved = at(q);
    const wantedM = Float64Array.of(
      start.positionM[0]!,
      start.positionM[1]! - 0.05,
      start.positionM[2]! + 0.08,
    );
    assert.ok(apartM(moved.positionM, wantedM) < 1e-5, `${moved.positionM} is not ${wantedM}`);
    assert.ok(quatAngleRad(moved.quatXyzw, start.quatXyzw) < 2e-5);
    const before = Float64Array.from(q);
    for (let i = 0; i < 20; i++) {
      hand.takenNs += 10e6;
      hand.quatXyzw.set([0, 0, 0.01 * i, 1]);
      quatNormalise(hand.quatXyzw, hand.quatXyzw);
      assert.equal(mapper.map(hand, q), 'ok');
    }
    for (let i = 0; i < 4; i++) assert.ok(Math.abs(q[i]! - before[i]!) < 1e-6, `joint ${i} moved`);
    const turned = at(q);
    assert.ok(quatAngleRad(turned.quatXyzw, moved.quatXyzw) > 0.3);
  });
});
