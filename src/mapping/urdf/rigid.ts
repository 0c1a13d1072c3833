import { multiplyTransforms, placementMatrix, TRANSFORM_SIZE } from '../../geometry/chain.ts';
import type { Vector } from './xml.ts';

/** 3×4 row-major transform, used while building a model. Allocates. */
export type Rigid = Float64Array;

export const rigid = (xyzM: Vector, rpyRad: Vector): Rigid => placementMatrix({ xyzM, rpyRad });

export function times(a: Rigid, b: Rigid): Rigid {
  const out = new Float64Array(TRANSFORM_SIZE);
  multiplyTransforms(a, b, out, 0);
  return out;
}

export function inverse(t: Rigid): Rigid {
  const out = new Float64Array(TRANSFORM_SIZE);
  for (let row = 0; row < 3; row++)
    for (let column = 0; column < 3; column++) {
      out[row * 4 + column] = t[column * 4 + row]!;
      out[row * 4 + 3]! -= t[column * 4 + row]! * t[column * 4 + 3]!;
    }
  return out;
}

export function applied(t: Rigid, [x, y, z]: Vector): Vector {
  const row = (at: number) => t[at]! * x + t[at + 1]! * y + t[at + 2]! * z + t[at + 3]!;
  return [row(0), row(4), row(8)];
}

export function placementOf(t: Rigid): { xyzM: Vector; rpyRad: Vector } {
  const level = Math.hypot(t[0]!, t[4]!);
  const pitch = Math.atan2(-t[8]!, level);
  const rpyRad: Vector =
    level > 1e-9
      ? [Math.atan2(t[9]!, t[10]!), pitch, Math.atan2(t[4]!, t[0]!)]
      : [Math.atan2(-t[6]!, t[5]!), pitch, 0];
  return { xyzM: [t[3]!, t[7]!, t[11]!], rpyRad };
}
