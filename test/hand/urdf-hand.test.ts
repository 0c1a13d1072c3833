import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { packageRoot } from '../../src/files/package-root.ts';
import { HandChains } from '../../src/geometry/hand-chains.ts';
import type { RobotModel } from '../../src/geometry/robot-model.ts';
import { createRetargeter, retargetConfig } from '../../src/mapping/retarget/retargeter.ts';
import { handUrdfSchema, parseHandUrdf } from '../../src/mapping/urdf/hand-urdf.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { body, gapM, type Proportions, pinch, points, SHAPES } from './people.ts';

const FILE = path.join(packageRoot, 'test', 'data', 'hand', 'four-finger-hand.urdf');
const TEXT = readFileSync(FILE, 'utf8');
const FINGERS = ['index', 'middle', 'ring'] as const;

type Matrix = readonly (readonly number[])[];
const product = (a: Matrix, b: Matrix): Matrix =>
  a.map((row) => b[0]!.map((_, j) => row.reduce((sum, value, k) => sum + value * b[k]![j]!, 0)));
const about = ([x, y, z]: readonly number[], q: number): Matrix => {
  const [c, s] = [Math.cos(q), Math.sin(q)];
  const v = 1 - c;
  return [
    [x! * x! * v + c, x! * y! * v - z! * s, x! * z! * v + y! * s, 0],
    [x! * y! * v + z! * s, y! * y! * v + c, y! * z! * v - x! * s, 0],
    [x! * z! * v - y! * s, y! * z! * v + x! * s, z! * z! * v + c, 0],
    [0, 0, 0, 1],
  ];
};
const shifted = ([x, y, z]: readonly number[]): Matrix => [
  [1, 0, 0, x!],
  [0, 1, 0, y!],
  [0, 0, 1, z!],
  [0, 0, 0, 1],
];

/** The judge's own reading of the file: tip of a finger in the frame of the palm, from the text by pattern. */
function tipOf(text: string, tip: string, angle: (joint: string) => number): number[] {
  const numbers = (list: string | undefined) => (list ?? '0 0 0').trim().split(/\s+/).map(Number);
  let [link, found]: [string, Matrix] = [tip, shifted([0, 0, 0])];
  while (link !== 'palm') {
    const block = [...text.matchAll(/<joint [\s\S]*?<\/joint>/g)]
      .map(([joint]) => joint)
      .find((joint) => joint.includes(`<child link="${link}"/>`))!;
    const attribute = (pattern: RegExp) => pattern.exec(block)?.[1];
    const [roll, pitch, yaw] = numbers(attribute(/rpy="([^"]*)"/));
    const turned = product(
      product(about([0, 0, 1], yaw!), about([0, 1, 0], pitch!)),
      about([1, 0, 0], roll!),
    );
    const axis = attribute(/<axis xyz="([^"]*)"/);
    const own =
      axis === undefined ? shifted([0, 0, 0]) : about(numbers(axis), angle(attribute(/name="([^"]*)"/)!));
    found = product(
      product(shifted(numbers(attribute(/xyz="([^"]*)" ?(?:rpy|\/>)/))), product(turned, own)),
      found,
    );
    link = attribute(/<parent link="([^"]*)"/)!;
  }
  return found.slice(0, 3).map((row) => row[3]!);
}

const angleIn = (model: RobotModel, q: ArrayLike<number>) => (joint: string) =>
  q[model.joints.findIndex(({ name }) => name === joint)]!;

describe('a hand from a URDF file', () => {
  const model = loadModel(`${FILE}#hand`);

  it('has a chain for each finger, found by the names of its links', () => {
    assert.equal(model.family, 'hand');
    assert.deepEqual(
      model.hand!.fingers.map(({ name, joints }) => [name, joints.length]),
      [
        ['thumb', 4],
        ['index', 4],
        ['middle', 4],
        ['ring', 4],
      ],
    );
    const chains = new HandChains(model);
    for (let i = 0; i < 20; i++) {
      const q = model.joints.map(
        ({ minRad, maxRad }, j) => minRad + (((i * (3 + j)) % 20) / 20) * (maxRad - minRad),
      );
      chains.place(q);
      model.hand!.fingers.forEach(({ name }, f) => {
        const expected = tipOf(TEXT, `${name}_tip`, angleIn(model, q));
        expected.forEach((value, k) => {
          assert.ok(
            Math.abs(value - chains.tipsM[3 * f + k]!) < 1e-9,
            `${name}: ${chains.tipsM[3 * f + k]} is not ${value}`,
          );
        });
      });
    }
  });

  it('pinches as the person does', () => {
    let [worst, count] = [0, 0];
    const hands = createRetargeter(model, retargetConfig.parse({ filter: false }));
    for (const kind of ['mean', 'longFingers', 'shortThumb', 'widePalm'] as Proportions[])
      for (const scale of [0.8, 1, 1.2])
        FINGERS.forEach((finger, f) => {
          const who = body(kind, scale);
          const hand = points(who, pinch(who, f, 0.012 * scale));
          const q = new Float64Array(model.joints.length);
          hands.reset();
          for (let i = 0; i < 30; i++) hands.retarget(hand, 21, q);
          const [thumb, tip] = ['thumb', finger].map((name) => tipOf(TEXT, `${name}_tip`, angleIn(model, q)));
          const robotM = Math.hypot(...thumb!.map((value, k) => value - tip![k]!));
          worst = Math.max(worst, Math.abs(robotM - gapM(hand, 4, 8 + 4 * f)));
          count++;
        });
    console.log(`${count} pinches of a four-finger hand, worst ${(worst * 1000).toFixed(2)} mm`);
    assert.ok(worst < 0.003, `${worst} m`);
  });

  it('closes and opens', () => {
    const hands = createRetargeter(model, retargetConfig.parse({ filter: false }));
    const reach = (shape: 'open' | 'fist') => {
      const q = new Float64Array(model.joints.length);
      for (let i = 0; i < 30; i++) hands.retarget(points(body('mean', 1), SHAPES[shape]), 21, q);
      return FINGERS.map((finger) => Math.hypot(...tipOf(TEXT, `${finger}_tip`, angleIn(model, q))));
    };
    const [open, fist] = [reach('open'), reach('fist')];
    open.forEach((value, f) => {
      assert.ok(value > 0.22 && fist[f]! < 0.15, `${FINGERS[f]}: ${value} m open, ${fist[f]} m closed`);
    });
  });

  it('that is a left one takes the same angles from the person’s left hand', () => {
    const left = mirroredText(TEXT);
    const mirror = parseHandUrdf(left, 'left.urdf', handUrdfSchema.parse({ mirrored: true })).model;
    const [a, b] = [model, mirror].map((each) => {
      const q = new Float64Array(each.joints.length);
      const isLeft = each.mirrored === true;
      const hand = points(body('mean', 1), SHAPES.cup).map((value, i) =>
        isLeft && i % 3 === 0 ? -value : value,
      );
      const hands = createRetargeter(each, retargetConfig.parse({ filter: false }));
      for (let i = 0; i < 10; i++) hands.retarget(hand, 21, q, isLeft);
      return q;
    });
    a!.forEach((value, i) => {
      assert.ok(Math.abs(value - b![i]!) < 1e-6, model.joints[i]!.name);
    });
  });

  it('can be described by a model file beside it', () => {
    const folder = temporaryFolder();
    writeFileSync(
      path.join(folder, 'x.urdf'),
      TEXT.replaceAll('_tip"', '_end"').replaceAll('ring', 'annular'),
    );
    const file = path.join(folder, 'mine.yaml');
    const tips = '{ thumb: thumb_end, index: index_end, middle: middle_end, ring: annular_end }';
    writeFileSync(file, `urdf: x.urdf\nname: mine\ntips: ${tips}\nwristM: [0, 0, -0.01]\n`);
    const mine = loadModel(file);
    assert.equal(mine.name, 'mine');
    assert.deepEqual(mine.hand!.wristM, [0, 0, -0.01]);
    assert.equal(mine.hand!.fingers.length, 4);
  });

  it('is rejected with the cause and a remedy', () => {
    const parse = (text: string, given: object = {}) =>
      parseHandUrdf(text, 'x.urdf', handUrdfSchema.parse(given));
    const complains = (pattern: RegExp, hint: RegExp, text: string, given?: object) =>
      assert.throws(
        () => parse(text, given),
        (error: Error & { hint: string }) => pattern.test(error.message) && hint.test(error.hint),
      );
    complains(/not recognised.*ends: /, /tips:/, TEXT.replaceAll('thumb_tip', 'a_tip'));
    complains(/no link "toe"/, /tips/, TEXT, {
      tips: { thumb: 'toe', index: 'index_tip', middle: 'middle_tip' },
    });
    complains(/not at the wrist/, /wristM/, TEXT, { wristM: [0, 0, 0.09] });
    complains(
      /<mimic>/,
      /revolute/,
      TEXT.replace('<axis xyz="0 1 0"/>', '<axis xyz="0 1 0"/><mimic joint="thumb_ip"/>'),
    );
    assert.throws(() => loadModel(FILE), { code: 'bad-model' }, 'an arm must not branch');
  });
});

/** The mirror image (y → −y), as a maker would write the URDF of the left hand. */
const mirroredText = (text: string): string =>
  text
    .replaceAll(/<origin xyz="([^"]*)"(?: rpy="([^"]*)")?/g, (_, xyz: string, rpy = '0 0 0') => {
      const [x, y, z] = xyz.split(' ').map(Number);
      const [roll, pitch, yaw] = (rpy as string).split(' ').map(Number);
      return `<origin xyz="${x} ${-y!} ${z}" rpy="${-roll!} ${pitch} ${-yaw!}"`;
    })
    .replaceAll(/<axis xyz="([^"]*)"/g, (_, axis: string) => {
      const [x, y, z] = axis.split(' ').map(Number);
      return `<axis xyz="${-x!} ${y} ${-z!}"`;
    });
