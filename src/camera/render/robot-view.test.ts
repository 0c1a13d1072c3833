import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { robotModelSchema } from '../../geometry/robot-model.ts';
import { RobotView } from './robot-view.ts';

/** One link, a metre tall when upright, that falls towards +x. */
const model = robotModelSchema.parse({
  name: 'pole',
  title: 'pole',
  family: 'serial',
  homeRad: [0],
  joints: [
    {
      name: 'hinge',
      minRad: -3,
      maxRad: 3,
      maxVelocityRadS: 1,
      maxAccelerationRadS2: 1,
      origin: {},
      axis: [0, 1, 0],
    },
  ],
  tool: { xyzM: [0, 0, 1] },
  capsules: [{ name: 'pole', frame: 1, fromM: [0, 0, -1], toM: [0, 0, 0], radiusM: 0.05 }],
});
const [widthPx, heightPx] = [120, 90];
const options = {
  widthPx,
  heightPx,
  fovRad: 1,
  mount: 'scene' as const,
  eyeM: [0, -4, 0.5],
  targetM: [0, 0, 0.5],
};

/** Columns and rows in which the picture differs from one of an empty scene. */
function extent(jointRad: number): { columns: number[]; rows: number[] } {
  const empty = new RobotView({ ...model, capsules: [] }, { ...options }).draw([jointRad], Number.NaN);
  assert.ok(empty.pixels.some((tone) => tone > 0));
  const { pixels } = new RobotView(model, options).draw([jointRad], Number.NaN);
  const [columns, rows] = [new Set<number>(), new Set<number>()];
  for (let i = 0; i < widthPx * heightPx; i++) {
    // The links are nearly white or blue, sky and ground are grey.
    const [r, , b] = pixels.subarray(3 * i, 3 * i + 3);
    if (b! - r! > 60) {
      columns.add(i % widthPx);
      rows.add(Math.floor(i / widthPx));
    }
  }
  return { columns: [...columns].sort((a, b) => a - b), rows: [...rows].sort((a, b) => a - b) };
}

describe('RobotView', () => {
  it('draws the link where forward kinematics has it', () => {
    const focal = widthPx / 2 / Math.tan(0.5);
    const standing = extent(0);
    const tallPx = standing.rows.at(-1)! - standing.rows[0]! + 1;
    assert.ok(Math.abs(tallPx - (1.1 * focal) / 4) < 3, `${tallPx} rows`);
    assert.ok(
      Math.abs(standing.columns[0]! + standing.columns.at(-1)! - (widthPx - 1)) <= 1,
      'in the middle',
    );
    const fallen = extent(Math.PI / 2);
    assert.ok(
      fallen.columns.at(-1)! > widthPx / 2 + 20 && fallen.columns[0]! > widthPx / 2 - 5,
      'to the right',
    );
    assert.ok(fallen.rows.length < 8);
  });

  it('draws the nearer of two rods on top, in either drawing order', () => {
    const rod = (name: string, yM: number, frame: number) => ({
      name,
      frame,
      fromM: [0, yM, frame === 1 ? -1 : 0] as [number, number, number],
      toM: [0, yM, frame === 1 ? 0 : 1] as [number, number, number],
      radiusM: 0.1,
    });
    for (const order of [0, 1]) {
      const capsules = [rod('blue', -0.5, 1), rod('white', 0.5, 0)];
      if (order === 1) capsules.reverse();
      const view = new RobotView({ ...model, capsules }, options);
      const { pixels } = view.draw([0], Number.NaN);
      const at = 3 * (widthPx * (heightPx / 2) + widthPx / 2);
      assert.ok(pixels[at + 2]! - pixels[at]! > 60, 'the blue rod is in front of the white one');
    }
  });

  it('draws from the wrist camera in any pose, even with the eye inside the links', () => {
    const view = new RobotView(model, { ...options, mount: 'wrist' });
    for (let q = -3; q <= 3; q += 0.5) {
      const { pixels } = view.draw([q], 0.5);
      assert.equal(pixels.length, 3 * widthPx * heightPx);
    }
  });
});
