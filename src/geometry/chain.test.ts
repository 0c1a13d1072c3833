import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { parse } from 'yaml';
import { createChain } from './chain.ts';
import { rotvecFromQuat } from './frames.ts';
import { robotModelSchema } from './robot-model.ts';

const ur3 = robotModelSchema.parse(parse(readFileSync('robots/ur3.yaml', 'utf8')));
const ur3eRows = [
  [0, 0.15185],
  [-0.24355, 0],
  [-0.2132, 0],
  [0, 0.13105],
  [0, 0.08535],
  [0, 0.0921],
];
const ur3e = structuredClone(ur3);
ur3eRows.forEach(([aM, dM], i) => {
  Object.assign(ur3e.joints[i]!.dh!, { aM, dM });
});

function near(actual: ArrayLike<number>, expected: ArrayLike<number>, tolerance: number): void {
  for (let i = 0; i < expected.length; i++)
    assert.ok(Math.abs(actual[i]! - expected[i]!) <= tolerance, `${Array.from(actual)}`);
}

const quarter = Math.PI / 2;
const bentRad = [0.5, -1, 1.2, -0.7, 0.3, 0.9];
const bentRotvec = [1.444424, -0.13331, 0.537283];
const checks = [
  { model: ur3, name: 'UR3 zero', qRad: [0, 0, 0, 0, 0, 0], flangeM: [-0.4569, -0.19425, 0.06655] },
  { model: ur3, name: 'UR3 up', qRad: [0, -quarter, 0, -quarter, 0, 0], flangeM: [0, -0.19425, 0.69415] },
  {
    model: ur3,
    name: 'UR3 bent',
    qRad: bentRad,
    flangeM: [-0.262118, -0.360374, 0.25126],
    rotvec: bentRotvec,
  },
  { model: ur3e, name: 'UR3e zero', qRad: [0, 0, 0, 0, 0, 0], flangeM: [-0.45675, -0.22315, 0.0665] },
  { model: ur3e, name: 'UR3e up', qRad: [0, -quarter, 0, -quarter, 0, 0], flangeM: [0, -0.22315, 0.69395] },
  {
    model: ur3e,
    name: 'UR3e bent',
    qRad: bentRad,
    flangeM: [-0.250712, -0.386556, 0.252581],
    rotvec: bentRotvec,
  },
];
for (const { model, name, qRad, flangeM, rotvec } of checks)
  test(`published flange pose: ${name}`, () => {
    const positionM = new Float64Array(3);
    const quatXyzw = new Float64Array(4);
    createChain(model).frame(qRad, 6, positionM, quatXyzw);
    near(positionM, flangeM, 1e-6);
    const vector = new Float64Array(3);
    rotvecFromQuat(quatXyzw, vector);
    if (rotvec) near(vector, rotvec, 1e-6);
  });

test('link origins are the origins of the link frames, one link length apart', () => {
  const chain = createChain(ur3);
  const angle = fc.double({ min: -6.28, max: 6.28, noNaN: true });
  fc.assert(
    fc.property(fc.array(angle, { minLength: 6, maxLength: 6 }), (qRad) => {
      const origins = new Float64Array(21);
      chain.linkOrigins(qRad, origins);
      const positionM = new Float64Array(3);
      for (let link = 0; link <= chain.joints; link++) {
        chain.frame(qRad, link, positionM, new Float64Array(4));
        const at = origins.subarray(3 * link, 3 * link + 3);
        near(at, positionM, 0);
        if (link === 0) continue;
        const { aM, dM } = ur3.joints[link - 1]!.dh!;
        const gapM = Math.hypot(...at.map((value, i) => value - origins[3 * link - 3 + i]!));
        near([gapM], [Math.hypot(aM, dM)], 1e-12);
      }
    }),
  );
});
