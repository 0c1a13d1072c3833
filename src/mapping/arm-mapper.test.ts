import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { parse } from 'yaml';
import { createChain } from '../geometry/chain.ts';
import { baseFromVr, quatAngleRad, quatMultiply, quatNormalise, quatRotate } from '../geometry/frames.ts';
import { robotModelSchema } from '../geometry/robot-model.ts';
import { emptyHandSample, type HandSample } from '../messages/hand-sample.ts';
import { armMapperConfig, createArmMapper } from './arm-mapper.ts';

const model = robotModelSchema.parse(parse(readFileSync('robots/ur3.yaml', 'utf8')));
const chain = createChain(model);
const homeRad = Float64Array.from(model.homeRad);
/** Home turned to −X: the workspace and reach below use those coordinates. */
const backRad = Float64Array.of(0, ...homeRad.slice(1));

function handAt(positionM: number[], quatXyzw: number[] = [0, 0, 0, 1], takenNs = 0): HandSample {
  const unit = Float64Array.from(quatXyzw);
  quatNormalise(unit, unit);
  return {
    ...emptyHandSample(),
    takenNs,
    positionM: Float64Array.from(positionM),
    quatXyzw: unit,
    tracking: true,
  };
}

/** A closed form without a filter: what it answers depends on the last hand only. */
const closed = (settings: object = {}) =>
  createArmMapper(model, armMapperConfig.parse({ ik: 'decoupled', filter: 'none', ...settings }));

function poseOf(qRad: ArrayLike<number>) {
  const link3M = new Float64Array(3);
  const toolQuat = new Float64Array(4);
  chain.frame(qRad, 6, link3M, toolQuat);
  chain.frame(qRad, 3, link3M, new Float64Array(4));
  return { link3M, toolQuat };
}

const farthest = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  Math.max(...Array.from(a, (value, i) => Math.abs(value - b[i]!)));

const metre = fc.integer({ min: -1500, max: 1500 }).map((mm) => mm / 1000);
const component = fc.integer({ min: -1000, max: 1000 }).map((n) => n / 1000);
const hands = fc
  .tuple(fc.tuple(metre, metre, metre), fc.tuple(component, component, component, component))
  .filter(([, q]) => Math.hypot(...q) > 0.01)
  .map(([p, q]) => handAt(p, q));
const special = fc.constantFrom(
  0,
  1e-12,
  1e-9,
  -1e-8,
  1e-7,
  -1e-6,
  1e-5,
  -1e-4,
  Math.PI,
  -Math.PI,
  Math.PI / 2,
);
const joints = fc
  .tuple(
    ...model.joints.map(({ minRad, maxRad }) =>
      fc.oneof(
        fc.noBias(fc.integer({ min: 0, max: 1e9 })).map((n) => minRad + (n / 1e9) * (maxRad - minRad)),
        special,
      ),
    ),
  )
  .map((q) => Float64Array.from(q));

for (const [orientation, ik] of [
  ['relative', 'decoupled'],
  ['absolute', 'decoupled'],
  ['relative', 'guide'],
  ['absolute', 'guide'],
] as const)
  test(`engaging never moves the robot, even in singular poses or when repeated: ${orientation}, ${ik}`, () => {
    const mapper = closed({ orientation, ik });
    const out = new Float64Array(6);
    fc.assert(
      fc.property(hands, hands, joints, (hand, elsewhere, measured) => {
        assert.equal(mapper.engage(hand, measured), 'ok');
        for (let repeat = 0; repeat < 3; repeat++) {
          assert.equal(mapper.map(hand, out), 'ok');
          assert.ok(farthest(out, measured) < 1e-9, `${out} is not ${measured}`);
        }
        mapper.map(elsewhere, out);
        const reached = out.slice();
        mapper.release();
        assert.equal(mapper.map(hand, out), 'disengaged');
        assert.deepEqual(out, reached);
        assert.equal(mapper.engage(hand, reached), 'ok');
        assert.equal(mapper.map(hand, out), 'ok');
        assert.ok(farthest(out, reached) < 1e-9, `${out} is not ${reached}`);
      }),
      { numRuns: ik === 'guide' ? 1000 : 5000 },
    );
  });

test('hand motion becomes scaled motion of link 3 in the base frame; rotations are applied unscaled', () => {
  const small = fc.tuple(component, component, component);
  const mapper = closed({ scale: 0.5, positionGain: 0.8 });
  fc.assert(
    fc.property(hands, small, small, (hand, moveCm, turn) => {
      const turnQuat = Float64Array.of(turn[0] * 0.2, turn[1] * 0.2, turn[2] * 0.2, 1);
      quatNormalise(turnQuat, turnQuat);
      const moved = handAt(Array.from(hand.positionM, (value, i) => value + moveCm[i]! * 0.1));
      quatMultiply(turnQuat, hand.quatXyzw, moved.quatXyzw);
      const out = new Float64Array(6);
      mapper.engage(hand, homeRad);
      assert.equal(mapper.map(moved, out), 'ok');
      const before = poseOf(homeRad);
      const after = poseOf(out);
      const expectM = [-moveCm[2], -moveCm[0], moveCm[1]].map((cm, i) => before.link3M[i]! + cm! * 0.1 * 0.4);
      assert.ok(farthest(after.link3M, expectM) < 1e-6);
      const expectQuat = Float64Array.of(-turnQuat[2]!, -turnQuat[0]!, turnQuat[1]!, turnQuat[3]!);
      quatMultiply(expectQuat, before.toolQuat, expectQuat);
      assert.ok(quatAngleRad(after.toolQuat, expectQuat) < 1e-6);
    }),
    { numRuns: 1000 },
  );
});

for (const ik of ['decoupled', 'guide'])
  test(`a gentle figure eight with wrist roll from home has no joint step above 0.05 rad at 100 Hz: ${ik}`, () => {
    const mapper = closed({ ik });
    const out = homeRad.slice();
    mapper.engage(handAt([0.1, 1.2, -0.3]), homeRad);
    for (let tick = 0; tick <= 1200; tick++) {
      const phase = (tick / 600) * 2 * Math.PI;
      const roll = 0.8 * Math.sin(phase);
      const tilt = 0.3 * Math.sin(2 * phase);
      const at = [
        0.1 + 0.1 * Math.sin(phase),
        1.2 + 0.05 * Math.sin(2 * phase),
        -0.3 + 0.04 * Math.sin(phase),
      ];
      const before = out.slice();
      assert.equal(mapper.map(handAt(at, [tilt / 2, 0, roll / 2, 1], tick * 1e7), out), 'ok');
      assert.ok(farthest(out, before) < 0.05, `tick ${tick}: ${farthest(out, before)}`);
    }
    assert.ok(farthest(out, homeRad) < 1e-6);
  });

test('from any regular pose, a gentle motion is continuous and returns to its start', () => {
  const regular = joints.filter((q) => {
    const [x, y] = poseOf(q).link3M;
    return Math.abs(Math.sin(q[4]!)) > 0.4 && Math.abs(Math.sin(q[2]!)) > 0.9 && Math.hypot(x!, y!) > 0.1;
  });
  fc.assert(
    fc.property(regular, hands, fc.tuple(component, component, component), (measured, hand, heading) => {
      const mapper = closed();
      mapper.engage(hand, measured);
      const out = measured.slice();
      for (let tick = 0; tick <= 100; tick++) {
        const away = 0.02 * Math.sin((tick / 100) * Math.PI);
        const moved = handAt(Array.from(hand.positionM, (value, i) => value + heading[i]! * away));
        quatMultiply(
          Float64Array.of(heading[1] * away, heading[2] * away, 0, 1),
          hand.quatXyzw,
          moved.quatXyzw,
        );
        const before = out.slice();
        assert.notEqual(mapper.map(moved, out), 'bad-input');
        assert.ok(farthest(out, before) < 0.05, `${before} -> ${out}`);
      }
      assert.ok(farthest(out, measured) < 1e-6);
    }),
    { numRuns: 300 },
  );
});

test('joints 1 and 4 have bounded steps when leaving the upright pose, a triple singularity', () => {
  const upright = Float64Array.of(0, -Math.PI / 2, 0, -Math.PI / 2, 0, 0);
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 62 }), (tenths) => {
      const mapper = closed();
      mapper.engage(handAt([0, 1, 0]), upright);
      const out = upright.slice();
      for (let tick = 0; tick < 300; tick++) {
        const awayM = 0.0003 * tick;
        const at = [awayM * Math.cos(tenths / 10), 1 - awayM, awayM * Math.sin(tenths / 10)];
        const before = out.slice();
        mapper.map(handAt(at), out);
        assert.ok(Math.abs(out[0]! - before[0]!) < 0.15 && Math.abs(out[3]! - before[3]!) < 0.2);
      }
    }),
  );
});

test('the workspace bounds the target, and a robot found outside may only move in', () => {
  const workspace = { minM: [-0.3, -0.1, 0.2], maxM: [0, 0.1, 0.42] };
  const mapper = closed({ workspace });
  const out = new Float64Array(6);
  mapper.engage(handAt([0, 1, 0]), backRad);
  assert.equal(mapper.map(handAt([0, 1, 0.3]), out), 'clamped');
  assert.ok(Math.abs(poseOf(out).link3M[0]! + 0.3) < 1e-9);
  mapper.engage(handAt([0, 1, 0]), out);
  assert.equal(mapper.map(handAt([0.3, 1, 0]), out), 'clamped');
  assert.ok(Math.abs(poseOf(out).link3M[1]! + 0.1) < 1e-9);

  const outside = Float64Array.of(0, -1.6, 0.8, -1.5, -1.5, 0);
  const foundM = poseOf(outside).link3M[2]!;
  assert.ok(foundM > 0.45);
  mapper.engage(handAt([0, 1, 0]), outside);
  assert.equal(mapper.map(handAt([0, 1.05, 0]), out), 'clamped');
  assert.ok(Math.abs(poseOf(out).link3M[2]! - foundM) < 1e-9);
  assert.equal(mapper.map(handAt([0, 0.98, 0]), out), 'ok');
  assert.ok(Math.abs(poseOf(out).link3M[2]! - (foundM - 0.02)) < 1e-9);
});

test('out of reach is clamped, and the way back mirrors the way out', () => {
  const mapper = closed();
  const out = new Float64Array(6);
  mapper.engage(handAt([0, 1, 0]), backRad);
  for (let tick = 0; tick <= 200; tick++) {
    const awayM = 0.005 * Math.min(tick, 200 - tick);
    const status = mapper.map(handAt([0, 1, awayM]), out);
    assert.equal(status, awayM > 0.1733 ? 'clamped' : 'ok', `${awayM}`);
  }
  assert.ok(farthest(out, backRad) < 1e-9);
});

test('an invalid hand is rejected, leaving the output and the next valid hand unaffected', () => {
  const poison = fc.constantFrom(Number.NaN, Infinity, -Infinity);
  const workspace = { minM: [-1, -1, -1], maxM: [1, 1, 1] };
  for (const orientation of ['relative', 'absolute']) {
    const mapper = closed({ orientation, workspace });
    fc.assert(
      fc.property(hands, fc.integer({ min: 0, max: 6 }), poison, (hand, at, bad) => {
        const broken = handAt(Array.from(hand.positionM), Array.from(hand.quatXyzw));
        if (at < 3) broken.positionM[at] = bad;
        else broken.quatXyzw[at - 3] = bad;
        const out = new Float64Array(6).fill(42);
        assert.equal(mapper.engage(broken, homeRad), 'bad-input');
        assert.equal(mapper.map(hand, out), 'disengaged');
        assert.equal(
          mapper.engage(
            hand,
            homeRad.map((angle, i) => (i === at ? bad : angle)),
          ),
          at < 6 ? 'bad-input' : 'ok',
        );
        assert.equal(mapper.engage(hand, homeRad), 'ok');
        assert.equal(mapper.map(broken, out), 'bad-input');
        assert.deepEqual(out, new Float64Array(6).fill(42));
        assert.equal(mapper.map(hand, out), 'ok');
        assert.ok(farthest(out, homeRad) < 1e-9);
      }),
    );
  }
});

test('absolute orientation approaches the hand at half a radian per second, then follows it', () => {
  const mapper = closed({ orientation: 'absolute' });
  const out = homeRad.slice();
  const hand = handAt([0, 1, 0], [0.2, 0.3, -0.1, 1]);
  mapper.engage(hand, homeRad);
  for (let tick = 1; tick <= 700; tick++) {
    const before = poseOf(out).toolQuat;
    hand.takenNs = tick * 1e7;
    mapper.map(hand, out);
    assert.ok(quatAngleRad(poseOf(out).toolQuat, before) < 0.0051);
  }
  const wanted = new Float64Array(4);
  quatMultiply(baseFromVr.quatXyzw, hand.quatXyzw, wanted);
  quatMultiply(wanted, Float64Array.of(1, 0, 0, 0), wanted);
  const { toolQuat } = poseOf(out);
  assert.ok(quatAngleRad(toolQuat, wanted) < 1e-6);
  const toolZ = new Float64Array(3);
  const pointing = new Float64Array(3);
  quatRotate(toolQuat, Float64Array.of(0, 0, 1), toolZ);
  quatRotate(hand.quatXyzw, Float64Array.of(0, 0, -1), pointing);
  quatRotate(baseFromVr.quatXyzw, pointing, pointing);
  assert.ok(farthest(toolZ, pointing) < 1e-6);
});

test('a quaternion and its negative are the same hand pose', () => {
  fc.assert(
    fc.property(hands, (hand) => {
      const mapper = closed();
      mapper.engage(hand, homeRad);
      const negated = { ...hand, quatXyzw: hand.quatXyzw.map((value) => -value) };
      const out = new Float64Array(6);
      mapper.map(negated, out);
      assert.ok(farthest(out, homeRad) < 1e-9);
    }),
  );
});

test('configuration: defaults, ranges, no unknown keys', () => {
  assert.deepEqual(armMapperConfig.parse({}), {
    position: 'relative',
    orientation: 'relative',
    scale: 1,
    positionGain: 1,
    rotationOffsetDeg: [0, 0, 0],
    positionOffsetM: [0, 0, 0],
    toolRotationDeg: [180, 0, 0],
    ik: 'guide',
    filter: 'steady',
  });
  for (const bad of [
    { scale: 0.01 },
    { scale: 4 },
    { orientation: 'both' },
    { speed: 1 },
    { filter: 'ema:0' },
  ])
    assert.equal(armMapperConfig.safeParse(bad).success, false);
  const upsideDown = { minM: [0, 0, 1], maxM: [1, 1, 0] };
  assert.equal(armMapperConfig.safeParse({ workspace: upsideDown }).success, false);
});
