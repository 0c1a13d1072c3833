import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { TeleopError } from '../../src/core/errors.ts';
import { createChain } from '../../src/geometry/chain.ts';
import { quatAngleRad } from '../../src/geometry/frames.ts';
import { LinkPoses, urdfOf } from '../../src/geometry/robot-urdf.ts';
import { createSolver, methodsOf } from '../../src/mapping/ik/solver.ts';
import { parseUrdf } from '../../src/mapping/urdf/urdf.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { armOf, farthest } from './poses.ts';

const FILE = 'test/data/openarm-right.urdf';
const text = readFileSync(FILE, 'utf8');

const JOINT = (name: string, parent: string, child: string, rest = '') =>
  `<joint name="${name}" type="revolute"><parent link="${parent}"/><child link="${child}"/>${
    rest || '<limit lower="-1" upper="1" velocity="2" effort="1"/>'
  }</joint>`;
const robot = (...parts: string[]) => `<robot name="r">\n${parts.join('\n')}\n</robot>`;
const links = (...names: string[]) => names.map((name) => `<link name="${name}"/>`).join('');

describe('a URDF file', () => {
  it('has the forward kinematics of the shipped model it describes, in every frame', () => {
    const [urdf, shipped] = [loadModel(FILE), loadModel('openarm')];
    const [a, b] = [createChain(urdf), createChain(shipped)];
    assert.equal(urdf.family, 'serial');
    const angle = fc.double({ min: -3, max: 3, noNaN: true });
    fc.assert(
      fc.property(fc.array(angle, { minLength: 7, maxLength: 7 }), (q) => {
        for (let link = 0; link <= 7; link++) {
          const [pa, pb] = [new Float64Array(3), new Float64Array(3)];
          const [qa, qb] = [new Float64Array(4), new Float64Array(4)];
          a.frame(q, link, pa, qa);
          b.frame(q, link, pb, qb);
          assert.ok(farthest(pa, pb) < 1e-12 && quatAngleRad(qa, qb) < 1e-12, `frame ${link}`);
        }
      }),
    );
  });

  it('provides limits, soft ones where they are tighter, and derives those that URDF lacks', () => {
    const { model, notes } = parseUrdf(text, FILE);
    const [first, last] = [model.joints[0]!, model.joints[6]!];
    assert.deepEqual([first.minRad, first.maxRad, first.maxVelocityRadS], [-1.396263, 3.490659, 16.754666]);
    assert.deepEqual([last.minRad, last.maxRad], [-1.5, 1.570796]);
    assert.equal(first.maxAccelerationRadS2, 4 * first.maxVelocityRadS);
    assert.equal(first.maxJerkRadS3, 20 * first.maxAccelerationRadS2);
    assert.equal(model.gripper, true);
    assert.ok(notes.some((note) => note.includes('chain to link "hand"')));
    assert.ok(notes.some((note) => /meshes.*link0/.test(note)));
    assert.ok(notes.some((note) => /excluded from collision checks.*finger/.test(note)));
  });

  it('provides capsules around its collision shapes, in the frames they move with', () => {
    const { capsules } = parseUrdf(text, FILE).model;
    const by = (name: string) => capsules.find((capsule) => capsule.name === name)!;
    assert.deepEqual(capsules.map(({ name, frame }) => [name, frame]).sort(), [
      ['body', 0],
      ['hand', 7],
      ['hand_2', 7],
      ['link3', 3],
      ['link5', 5],
    ]);
    const near = (actual: readonly number[], expected: readonly number[]) =>
      assert.ok(farthest(actual, expected) < 1e-12, `${actual}`);
    near([by('body').fromM[2]!, by('body').toM[2]!, by('body').radiusM], [0.06, 0.6, 0.048]);
    near([by('link3').fromM[2]!, by('link3').toM[2]!], [0.01, 0.17]);
    near([by('link3').radiusM], [Math.hypot(0.03, 0.03)]);
    near(by('hand').fromM, [0, 0, 0]);
    near(by('hand_2').fromM, [0, 0.05, 0.1]);
    near(by('hand_2').toM, [0, -0.05, 0.1]);
  });

  it('ends at the given tip', () => {
    const { model } = parseUrdf(text, FILE, 'link5');
    assert.equal(model.joints.length, 5);
    assert.deepEqual(loadModel(`${FILE}#link5`), model);
    assert.equal(loadModel(`${FILE}#link8`).joints.length, 7);
  });

  it('has no closed form', () => {
    const model = loadModel(FILE);
    assert.deepEqual(methodsOf(model), ['numeric', 'decoupled']);
    const { poseOf } = armOf(FILE, 'numeric');
    const wanted = Float64Array.of(0.3, 0.5, -0.2, 1.2, 0.1, -0.3, 0.4);
    const { positionM, quatXyzw } = poseOf(wanted);
    const outRad = new Float64Array(7);
    const seedRad = wanted.map((angle, i) => angle + 0.02 * (i - 3));
    assert.equal(createSolver(model, 'numeric').solve(positionM, quatXyzw, seedRad, outRad), 'ok');
  });

  it('limits continuous joints to one turn each way, and to a low speed if none is given', () => {
    const { model, notes } = parseUrdf(
      robot(
        links('a', 'b'),
        '<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 2"/></joint>',
      ),
      'c.urdf',
    );
    const [joint] = model.joints;
    assert.deepEqual([joint!.minRad, joint!.maxRad, joint!.maxVelocityRadS], [-2 * Math.PI, 2 * Math.PI, 1]);
    assert.ok(notes.some((note) => note.includes('"j" has no velocity limit')));
  });

  it('turns about x if no axis is given, as URDF specifies', () => {
    const { model } = parseUrdf(robot(links('a', 'b'), JOINT('j', 'a', 'b')), 'x.urdf');
    assert.deepEqual(model.joints[0]!.axis, [1, 0, 0]);
  });

  it('excludes a gripper with coupled turning fingers from the chain', () => {
    const { model } = parseUrdf(
      robot(
        links('a', 'b', 'l', 'r'),
        JOINT('arm', 'a', 'b'),
        JOINT('knuckle', 'b', 'l'),
        JOINT('other', 'b', 'r', '<limit lower="0" upper="1" velocity="1"/><mimic joint="knuckle"/>'),
      ),
      'g.urdf',
    );
    assert.deepEqual(
      model.joints.map(({ name }) => name),
      ['arm'],
    );
  });

  it('lets shapes touch that overlap at home, with a note', () => {
    const shape = '<collision><geometry><sphere radius="1"/></geometry></collision>';
    const link = (name: string) => `<link name="${name}">${shape}</link>`;
    const { model, notes } = parseUrdf(
      robot(link('a'), link('b'), link('c'), JOINT('j1', 'a', 'b'), JOINT('j2', 'b', 'c')),
      't.urdf',
    );
    assert.deepEqual(model.mayTouch, [['a', 'c']]);
    assert.ok(notes.some((note) => note.includes('overlap at home')));
  });
});

describe('a URDF file that cannot be used', () => {
  const wrong: [string, string, string | undefined, RegExp][] = [
    ['is not XML', '<robot>\n<link name="a">\n</robot>', undefined, /^bad\.urdf:3: /],
    ['is empty', '', undefined, /^bad\.urdf:1: /],
    ['is another format', '<sdf/>', undefined, /bad\.urdf:1: the root is <sdf>/],
    ['is xacro', robot('<xacro:include filename="x"/>'), undefined, /bad\.urdf:2: .*xacro/],
    ['has no joints', robot(links('a')), undefined, /no revolute or continuous joint/],
    ['has a link twice', robot(links('a'), links('a')), undefined, /bad\.urdf:3: duplicate link "a"/],
    [
      'names a missing link',
      robot(links('a'), JOINT('j', 'a', 'zz')),
      undefined,
      /bad\.urdf:3: .*no link "zz"/,
    ],
    [
      'has a joint without child',
      robot(links('a'), '<joint name="j" type="fixed"><parent link="a"/></joint>'),
      undefined,
      /bad\.urdf:3: joint "j" has no <child>/,
    ],
    [
      'has a link on two joints',
      robot(links('a', 'b', 'c'), JOINT('j', 'a', 'c'), JOINT('k', 'b', 'c')),
      undefined,
      /bad\.urdf:4: link "c" has two parent joints, "k" and "j"/,
    ],
    [
      'has a loop of links',
      robot(links('a', 'b'), JOINT('j', 'a', 'b'), JOINT('k', 'b', 'a')),
      undefined,
      /loop of links/,
    ],
    [
      'has no limit',
      robot(links('a', 'b'), JOINT('j', 'a', 'b', '<axis xyz="1 0 0"/>')),
      undefined,
      /bad\.urdf:3: joint "j" is revolute and has no <limit>/,
    ],
    [
      'has swapped limits',
      robot(links('a', 'b'), JOINT('j', 'a', 'b', '<limit lower="1" upper="0" velocity="1"/>')),
      undefined,
      /bad\.urdf:3: <limit> of joint "j": lower is not below upper/,
    ],
    [
      'has no velocity',
      robot(links('a', 'b'), JOINT('j', 'a', 'b', '<limit lower="0" upper="1"/>')),
      undefined,
      /bad\.urdf:3: <limit> has no velocity/,
    ],
    [
      'has zero velocity',
      robot(links('a', 'b'), JOINT('j', 'a', 'b', '<limit lower="0" upper="1" velocity="0"/>')),
      undefined,
      /velocity is not positive/,
    ],
    [
      'has a malformed number',
      robot(links('a', 'b'), JOINT('j', 'a', 'b', '<limit lower="0" upper="one" velocity="1"/>')),
      undefined,
      /bad\.urdf:3: <limit> upper "one" is not a number/,
    ],
    [
      'has a malformed vector',
      robot(
        links('a', 'b'),
        JOINT('j', 'a', 'b', '<origin xyz="1 2"/><limit lower="0" upper="1" velocity="1"/>'),
      ),
      undefined,
      /bad\.urdf:3: <origin> xyz "1 2" is not three numbers/,
    ],
    [
      'has a zero axis',
      robot(
        links('a', 'b'),
        JOINT('j', 'a', 'b', '<axis xyz="0 0 0"/><limit lower="0" upper="1" velocity="1"/>'),
      ),
      undefined,
      /<axis> of joint "j" is zero/,
    ],
    [
      'begins with a sliding joint',
      robot(
        links('a', 'b', 'c'),
        '<joint name="lift" type="prismatic"><parent link="a"/><child link="b"/></joint>',
        JOINT('j', 'b', 'c'),
      ),
      undefined,
      /bad\.urdf:3: joint "lift" is prismatic/,
    ],
    [
      'has a sliding joint in the middle',
      robot(
        links('a', 'b', 'c', 'd'),
        JOINT('j', 'a', 'b'),
        '<joint name="slide" type="prismatic"><parent link="b"/><child link="c"/></joint>',
        JOINT('k', 'c', 'd'),
      ),
      undefined,
      /bad\.urdf:4: joint "slide" is prismatic/,
    ],
    [
      'branches',
      robot(links('a', 'b', 'c'), JOINT('left', 'a', 'b'), JOINT('right', 'a', 'c')),
      undefined,
      /bad\.urdf:4: the robot branches: joint "right"/,
    ],
    ['lacks the requested tip', robot(links('base', 'b'), JOINT('j', 'base', 'b')), 'bse', /no link "bse"/],
    [
      'has a sliding joint on the path to the tip',
      text,
      'right_finger',
      /joint "finger_joint1" is prismatic/,
    ],
    [
      'has a mimic joint on the path to the tip',
      robot(
        links('a', 'b', 'c'),
        JOINT('j', 'a', 'b'),
        JOINT('k', 'b', 'c', '<limit lower="0" upper="1" velocity="1"/><mimic joint="j"/>'),
      ),
      'c',
      /joint "k" follows another joint/,
    ],
  ];
  for (const [what, source, tip, message] of wrong)
    it(`is rejected with file, line and a hint if it ${what}`, () => {
      assert.throws(
        () => parseUrdf(source, 'bad.urdf', tip),
        (error) => {
          assert.ok(error instanceof TeleopError, String(error));
          assert.equal(error.code, 'bad-model');
          assert.match(error.message, message);
          return error.hint.length > 0;
        },
      );
    });

  it('never throws another exception, whatever is cut out of it', () => {
    fc.assert(
      fc.property(fc.nat(text.length), fc.nat(200), (from, length) => {
        try {
          parseUrdf(text.slice(0, from) + text.slice(from + length), 'cut.urdf');
        } catch (error) {
          if (!(error instanceof TeleopError)) throw error;
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('a model written as URDF', () => {
  for (const name of ['ur3', 'piper', 'openarm', 'xarm6', 'dk1'])
    it(`has the kinematics and limits of ${name} when it is read again`, () => {
      const model = loadModel(name);
      const { model: again } = parseUrdf(urdfOf(model)!, name, 'flange');
      assert.deepEqual(
        again.joints.map(({ name: joint, minRad, maxRad }) => [joint, minRad, maxRad]),
        model.joints.map(({ name: joint, minRad, maxRad }) => [joint, minRad, maxRad]),
      );
      const [own, other] = [createChain(model), createChain(again)];
      const poses = new LinkPoses(model);
      const [a, b] = [new Float64Array(3), new Float64Array(3)];
      const [p, q] = [new Float64Array(4), new Float64Array(4)];
      const joints = model.joints.length;
      for (let n = 0; n < 20; n++) {
        const at = model.joints.map(
          ({ minRad, maxRad }, i) => minRad + ((n * 0.37 + i * 0.21) % 1) * (maxRad - minRad),
        );
        own.frame(at, joints, a, p);
        other.frame(at, joints, b, q);
        poses.update(at);
        for (let i = 0; i < 3; i++) {
          assert.ok(Math.abs(a[i]! - b[i]!) < 1e-9, `${name}: position`);
          assert.ok(Math.abs(a[i]! - poses.tool[i]!) < 1e-9, `${name}: tool`);
        }
        assert.ok(
          quatAngleRad(p, q) < 1e-6 && quatAngleRad(p, poses.tool.subarray(3)) < 1e-6,
          `${name}: turn`,
        );
      }
    });
});
