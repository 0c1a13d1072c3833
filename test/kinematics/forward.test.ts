import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createChain, TRANSFORM_SIZE } from '../../src/geometry/chain.ts';
import { matrixFromQuat } from '../../src/geometry/frames.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { armOf, ROBOTS } from './poses.ts';

const DEG = Math.PI / 180;

/** Reference values from the vendor's SDK: mm and degrees about fixed x, y, z. */
const PIPER: { model: string; qRad: number[]; mm: number[]; deg?: number[] }[] = [
  { model: 'piper', qRad: [0, 0, 0, 0, 0, 0], mm: [56.1275, 0, 213.2663], deg: [0, 85, 0] },
  {
    model: 'piper',
    qRad: [0.2, 0.2, -0.2, 0.3, -0.2, 0.5],
    mm: [65.8537, 7.8979, 285.6503],
    deg: [68.511, 41.4688, 83.3466],
  },
  { model: 'piper', qRad: [0, 1.57, -1.57, 0, 0, 0], mm: [376.8934, 0, 457.1188], deg: [0, 85, 0] },
  {
    model: 'piper',
    qRad: [0.5, 1, -1.2, 0.3, 0.4, -0.7],
    mm: [174.0973, 107.043, 464.8896],
    deg: [-103.5375, 65.8378, -67.103],
  },
  { model: 'piper-old', qRad: [0, 0, 0, 0, 0, 0], mm: [54.953, 0, 203.3869] },
];

describe('published poses', () => {
  for (const { model, qRad, mm, deg } of PIPER)
    it(`${model} at ${qRad.join(', ')}`, () => {
      const { positionM, quatXyzw } = armOf(model, 'analytic').poseOf(qRad);
      mm.forEach((value, i) => {
        assert.ok(Math.abs(1000 * positionM[i]! - value) < 1e-4, `${positionM}`);
      });
      if (deg === undefined) return;
      const r = new Float64Array(9);
      matrixFromQuat(quatXyzw, r);
      const rpy = [Math.atan2(r[7]!, r[8]!), Math.asin(-r[6]!), Math.atan2(r[3]!, r[0]!)];
      deg.forEach((value, i) => {
        assert.ok(Math.abs(rpy[i]! / DEG - value) < 1e-3, `${rpy.map((angle) => angle / DEG)}`);
      });
    });

  const quarter = Math.PI / 2;
  const ur3e: [number[], number[]][] = [
    [
      [0, 0, 0, 0, 0, 0],
      [-0.45675, -0.22315, 0.0665],
    ],
    [
      [0, -quarter, 0, -quarter, 0, 0],
      [0, -0.22315, 0.69395],
    ],
    [
      [0.5, -1, 1.2, -0.7, 0.3, 0.9],
      [-0.250712, -0.386556, 0.252581],
    ],
  ];
  for (const [qRad, flangeM] of ur3e)
    it(`ur3e at ${qRad.map((angle) => angle.toFixed(2)).join(', ')}`, () => {
      const { positionM } = armOf('ur3e', 'analytic').poseOf(qRad);
      flangeM.forEach((value, i) => {
        assert.ok(Math.abs(positionM[i]! - value) < 1e-6, `${positionM}`);
      });
    });

  it('OpenArm at zero hangs straight down, so its lengths add up', () => {
    const { positionM } = armOf('openarm', 'numeric').poseOf(new Float64Array(7));
    const reachM = 0.06625 + 0.15375 + 0.0955 + 0.1205 + 0.1001;
    // Shoulder 0.1535 m to the right of the body's centre, hand 4.5 mm back toward it.
    assert.ok(Math.abs(positionM[2]! - (0.698 - reachM)) < 1e-12, `${positionM}`);
    assert.ok(Math.abs(positionM[1]! - (-0.0935 - 0.06 + 0.0045)) < 1e-12, `${positionM}`);
    assert.ok(Math.abs(positionM[0]!) < 2e-6);
  });
});

describe('the Jacobian', () => {
  for (const name of ROBOTS)
    it(`matches finite differences of the flange's pose: ${name}`, () => {
      const model = loadModel(name);
      const chain = createChain(model);
      const n = chain.joints;
      const jacobian = new Float64Array(6 * n);
      const [flange, ahead, behind] = [0, 1, 2].map(() => new Float64Array(TRANSFORM_SIZE)) as [
        Float64Array,
        Float64Array,
        Float64Array,
      ];
      const scratch = new Float64Array(6 * n);
      const angle = fc.double({ min: -3, max: 3, noNaN: true });
      const h = 1e-6;
      fc.assert(
        fc.property(fc.array(angle, { minLength: n, maxLength: n }), (qRad) => {
          chain.jacobian(qRad, jacobian, flange);
          for (let j = 0; j < n; j++) {
            chain.jacobian(qRad.with(j, qRad[j]! + h), scratch, ahead);
            chain.jacobian(qRad.with(j, qRad[j]! - h), scratch, behind);
            const rate = ahead.map((value, i) => (value - behind[i]!) / (2 * h));
            for (let row = 0; row < 3; row++)
              assert.ok(Math.abs(rate[row * 4 + 3]! - jacobian[row * n + j]!) < 1e-8);
            // dR Rᵀ is the skew matrix of the angular rate.
            const skew = (a: number, b: number) =>
              [0, 1, 2].reduce((sum, k) => sum + rate[a * 4 + k]! * flange[b * 4 + k]!, 0);
            const turn = [skew(2, 1), skew(0, 2), skew(1, 0)];
            turn.forEach((value, row) => {
              assert.ok(Math.abs(value - jacobian[(3 + row) * n + j]!) < 1e-8);
            });
          }
        }),
        { numRuns: 200 },
      );
    });
});
