import type { Body } from './bento-view.ts';

/**
 * A running scene. Poses are seven numbers per body, in the order of the scene's bodies: position and
 * quaternion w, x, y, z in the world.
 */
export interface World {
  readonly physics: boolean;
  readonly stepS: number;
  /** Joint angles. */
  readonly jointsRad: Float64Array;
  readonly poses: Float32Array;
  step(targetRad: Float64Array): void;
  /** Fills `poses`. */
  look(): void;
  dispose(): void;
}

export type MakeWorld = (bodies: readonly Body[]) => World;
