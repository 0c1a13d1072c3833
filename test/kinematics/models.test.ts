import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { TeleopError } from '../../src/core/errors.ts';
import { createChain } from '../../src/geometry/chain.ts';
import { segmentDistance } from '../../src/geometry/distance.ts';
import { placed, touchingPairs } from '../../src/geometry/touching.ts';
import { loadModel, modelNames } from '../../src/rig/robot-models.ts';
import { createClearanceField } from '../../src/robot/supervisor/collision.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { ROBOTS } from './poses.ts';

const dir = temporaryFolder('models');
const written = (name: string, text: string): string => {
  const file = path.join(dir, name);
  writeFileSync(file, text);
  return file;
};

const badModel = (pattern: RegExp) => (error: unknown) =>
  error instanceof TeleopError && error.code === 'bad-model' && pattern.test(error.message);

/** A hand is not a chain. */
const arms = modelNames().filter((name) => loadModel(name).family !== 'hand');

describe('shipped models', () => {
  it('are all tested here', () => {
    for (const name of ROBOTS) assert.ok(modelNames().includes(name));
  });

  for (const name of arms)
    it(`${name}: at home, capsules are clear of each other and above the floor, inside the workspace`, () => {
      const model = loadModel(name);
      assert.equal(model.name, name);
      assert.deepEqual(touchingPairs(model, model.homeRad), []);
      const around = { groundZM: null, obstacles: [], workspace: model.workspace ?? null };
      const field = createClearanceField(model, around);
      const clearancesM = new Float64Array(field.size);
      field.measure(model.homeRad, clearancesM);
      clearancesM.forEach((clearanceM, k) => {
        assert.ok(clearanceM > 0.002, `${field.names[k]}: ${clearanceM} m`);
      });
      assert.ok(model.capsules.length >= model.joints.length, 'every link has a capsule');
      assert.equal(new Set(model.capsules.map((capsule) => capsule.name)).size, model.capsules.length);
      const frames = new Set(model.capsules.map(({ frame }) => frame));
      for (let frame = 0; frame <= model.joints.length; frame++)
        assert.ok(frames.has(frame), `frame ${frame}`);
      const positionM = new Float64Array(3);
      createChain(model).frame(model.homeRad, model.joints.length, positionM, new Float64Array(4));
      positionM.forEach((value, i) => {
        assert.ok(value > model.workspace!.minM[i]! && value < model.workspace!.maxM[i]!, `${positionM}`);
      });
      model.joints.forEach(({ minRad, maxRad }, i) => {
        const spareRad = Math.min(model.homeRad[i]! - minRad, maxRad - model.homeRad[i]!);
        assert.ok(spareRad > 0.25, `joint ${i + 1} rests ${spareRad} rad from a limit`);
      });
    });

  for (const name of arms)
    it(`${name}: capsules of a link reach from its joint to the next`, () => {
      const model = loadModel(name);
      const chain = createChain(model);
      const origins = new Float64Array(3 * (chain.joints + 1));
      chain.linkOrigins(model.homeRad, origins);
      const frames = new Float64Array(12 * (chain.joints + 1));
      chain.frames(model.homeRad, frames);
      const point = (link: number): [number, number, number] => [
        origins[3 * link]!,
        origins[3 * link + 1]!,
        origins[3 * link + 2]!,
      ];
      // A capsule of the link before or after a joint contains the joint's origin, unless it lies beside it.
      const bare = [];
      for (let link = 1; link <= chain.joints; link++) {
        const covered = model.capsules.some(({ frame, fromM, toM, radiusM }) => {
          if (Math.abs(frame - link) > 1) return false;
          const ends = [
            ...placed(frames, frame, fromM),
            ...placed(frames, frame, toM),
            ...point(link),
            ...point(link),
          ];
          return segmentDistance(Float64Array.from(ends), 0, 6) <= radiusM;
        });
        if (!covered) bare.push(link);
      }
      // On a UR the frames of links 2 and 3 lie in the middle plane, beside the tubes; a tool may be hollow.
      const hasTool = model.tool.xyzM.some((value) => value !== 0);
      assert.deepEqual(
        bare
          .filter((link) => !(model.family === 'ur' && (link === 2 || link === 3)))
          .filter((link) => !(hasTool && link === chain.joints)),
        [],
      );
    });

  it('report contact in a pose that folds the arm into itself', () => {
    const ur3 = loadModel('ur3');
    assert.notDeepEqual(touchingPairs(ur3, [0, -1.57, 2.9, -1.57, -1.57, 0]), []);
    const openarm = loadModel('openarm');
    assert.notDeepEqual(touchingPairs(openarm, [0, -0.17, -1.57, 2.4, 0, 0, 0]), []);
  });
});

describe('models from files', () => {
  it('extend another, key by key', () => {
    const file = written(
      'mine.yaml',
      'extends: ur3\nname: mine\njoints:\n  elbow: { maxVelocityRadS: 1, dh: { aM: -0.3 } }\n',
    );
    const [mine, ur3] = [loadModel(file), loadModel('ur3')];
    assert.equal(mine.joints[2]!.maxVelocityRadS, 1);
    assert.equal(mine.joints[2]!.dh!.aM, -0.3);
    assert.equal(mine.joints[2]!.dh!.alphaRad, ur3.joints[2]!.dh!.alphaRad);
    assert.deepEqual(mine.joints[1], ur3.joints[1]);
    assert.deepEqual(mine.capsules, ur3.capsules);
  });

  const wrong: [string, string, RegExp][] = [
    ['an unknown joint', 'extends: ur3\njoints: { elbw: { maxRad: 1 } }\n', /joints\.elbw: .*no such joint/],
    ['itself', 'extends: own\nname: x\n', /circular/],
    ['a number', 'extends: 3\n', /extends: expected the name/],
    ['a home of the wrong length', 'extends: ur3\nhomeRad: [0]\n', /homeRad: must have 6 angles/],
    ['a home outside the limits', 'extends: piper\nhomeRad: [0, -1, 0, 0, 0, 0]\n', /homeRad\.1: .*limits/],
    [
      'a capsule on no frame',
      'extends: ur3\ncapsules: [{ name: a, frame: 7, fromM: [0,0,0], toM: [0,0,0], radiusM: 1 }]\n',
      /capsules\.0\.frame: must be a frame from 0 to 6/,
    ],
    [
      'an unknown capsule',
      'extends: ur3\nmayTouch: [[base, hat]]\n',
      /mayTouch\.0: there is no capsule "hat"/,
    ],
  ];
  for (const [what, text, message] of wrong)
    it(`reject ${what}`, () => {
      const file = written('own.yaml', text);
      assert.throws(() => loadModel(file), badModel(message));
    });

  it('that do not exist give a hint how to find one', () => {
    const missing = (error: unknown) =>
      error instanceof TeleopError && error.code === 'file-missing' && error.hint !== '';
    for (const name of ['ur33', './none.yaml', 'none.urdf', 'none.urdf#tip'])
      assert.throws(() => loadModel(name), missing, name);
  });
});
