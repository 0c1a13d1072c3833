import { readFileSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from '../../src/files/package-root.ts';

/**
 * The maker's kinematics, for judging: read from the maker's tables and computed with quaternions, independent of the
 * model files and of the code under test.
 */
interface MakerLink {
  joint: string;
  xyz: number[];
  rpy: number[];
  axis: number[];
  sign: number;
}
interface MakerModel {
  joints: { name: string; lo: number; hi: number; home: number }[];
  chains: { finger: string; links: MakerLink[]; tip: number[]; mount?: number[] }[];
}

export const makerData = (name: 'maker-models' | 'maker-vectors'): never =>
  JSON.parse(readFileSync(path.join(packageRoot, 'test/data/hand/vectors', `${name}.json`), 'utf8')) as never;

const MODELS = makerData('maker-models') as { v1: MakerModel; v2: MakerModel };
export const makerModel = (version: 'v1' | 'v2'): MakerModel => MODELS[version];

type Quat = readonly [number, number, number, number];

const times = ([aw, ax, ay, az]: Quat, [bw, bx, by, bz]: Quat): Quat => [
  aw * bw - ax * bx - ay * by - az * bz,
  aw * bx + ax * bw + ay * bz - az * by,
  aw * by - ax * bz + ay * bw + az * bx,
  aw * bz + ax * by - ay * bx + az * bw,
];
const about = (axis: readonly number[], angle: number): Quat => {
  const s = Math.sin(angle / 2) / Math.hypot(...axis);
  return [Math.cos(angle / 2), s * axis[0]!, s * axis[1]!, s * axis[2]!];
};
const turned = (q: Quat, v: readonly number[]): number[] => {
  const [, x, y, z] = times(times(q, [0, v[0]!, v[1]!, v[2]!]), [q[0], -q[1], -q[2], -q[3]]);
  return [x, y, z];
};

/** Point of each finger in the palm's frame of a right hand, thumb first; `what` defaults to the tip point. */
export function makerPoints(
  model: MakerModel,
  jointRad: (name: string) => number,
  what: 'tip' | 'mount' | 'origin' = 'tip',
): number[][] {
  return model.chains.map(({ links, tip, mount }) => {
    let rotation: Quat = [1, 0, 0, 0];
    let at = [0, 0, 0];
    const move = (by: readonly number[]) => {
      at = turned(rotation, by).map((value, k) => at[k]! + value);
    };
    for (const { joint, xyz, rpy, axis, sign } of links) {
      move(xyz);
      for (const [angle, unit] of [
        [rpy[2]!, [0, 0, 1]],
        [rpy[1]!, [0, 1, 0]],
        [rpy[0]!, [1, 0, 0]],
        [sign * jointRad(joint), axis],
      ] as const)
        rotation = times(rotation, about(unit, angle));
    }
    move(what === 'tip' ? tip : what === 'mount' ? mount! : [0, 0, 0]);
    return at;
  });
}
