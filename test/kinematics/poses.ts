import { createChain } from '../../src/geometry/chain.ts';
import { quatAngleRad } from '../../src/geometry/frames.ts';
import { decoupledLead } from '../../src/mapping/ik/decoupled-serial.ts';
import type { Method } from '../../src/mapping/ik/solver.ts';
import { loadModel } from '../../src/rig/robot-models.ts';

export const ROBOTS = ['ur3', 'ur3e', 'piper', 'piper-old', 'openarm'] as const;

/** A linear congruential generator, so that failures are reproducible. */
export function randoms(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** An arm with one of its solvers, and functions for its poses. */
export function armOf(name: string, method: Method) {
  const model = loadModel(name);
  const chain = createChain(model);
  const aside = new Float64Array(4);
  const lead = model.family === 'ur' ? 3 : decoupledLead(model);
  const poseInto = (qRad: ArrayLike<number>, positionM: Float64Array, quatXyzw: Float64Array): void => {
    chain.frame(qRad, chain.joints, positionM, quatXyzw);
    if (method === 'decoupled') chain.frame(qRad, lead, positionM, aside);
  };
  const reachedM = new Float64Array(3);
  const reached = new Float64Array(4);
  return {
    model,
    chain,
    joints: chain.joints,
    homeRad: Float64Array.from(model.homeRad),
    poseOf(qRad: ArrayLike<number>) {
      const pose = { positionM: new Float64Array(3), quatXyzw: new Float64Array(4) };
      poseInto(qRad, pose.positionM, pose.quatXyzw);
      return pose;
    },
    poseInto,
    /** Distance of a pose of the arm from a target: metres, radians. */
    off(qRad: ArrayLike<number>, positionM: Float64Array, quatXyzw: Float64Array): [number, number] {
      poseInto(qRad, reachedM, reached);
      const x = reachedM[0]! - positionM[0]!;
      const y = reachedM[1]! - positionM[1]!;
      const z = reachedM[2]! - positionM[2]!;
      return [Math.sqrt(x * x + y * y + z * z), quatAngleRad(reached, quatXyzw)];
    },
    within(qRad: ArrayLike<number>): boolean {
      return model.joints.every(({ minRad, maxRad }, i) => qRad[i]! >= minRad && qRad[i]! <= maxRad);
    },
    /** Uniform over the limits. */
    randomInto(random: () => number, outRad: Float64Array): void {
      for (let i = 0; i < chain.joints; i++) {
        const { minRad, maxRad } = model.joints[i]!;
        outRad[i] = minRad + random() * (maxRad - minRad);
      }
    },
    /** At most `offRad` from a pose, within the limits. */
    nearInto(random: () => number, qRad: Float64Array, offRad: number, outRad: Float64Array): void {
      for (let i = 0; i < chain.joints; i++) {
        const { minRad, maxRad } = model.joints[i]!;
        outRad[i] = Math.min(Math.max(qRad[i]! + offRad * (2 * random() - 1), minRad), maxRad);
      }
    },
  };
}

export const farthest = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  Math.max(...Array.from(a, (value, i) => Math.abs(value - b[i]!)));
