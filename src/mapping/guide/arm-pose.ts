import { createChain, TRANSFORM_SIZE } from '../../geometry/chain.ts';
import type { RobotModel } from '../../geometry/robot-model.ts';

/** The arm in one pose: frames, joint axes and the ends of its capsules. Hot path: nothing allocates. */
export class ArmPose {
  readonly joints: number;
  readonly frames: Float64Array;
  /** Direction and a point of each joint's axis, six numbers. */
  readonly axes: Float64Array;
  /** Both ends of each capsule, six numbers; then room for capsules that are not the arm's own. */
  readonly ends: Float64Array;
  readonly #chain;
  readonly #local: Float64Array;
  readonly #frameOf: Int32Array;

  constructor(model: RobotModel, foreignCapsules = 0) {
    this.#chain = createChain(model);
    this.joints = this.#chain.joints;
    this.frames = new Float64Array((this.joints + 1) * TRANSFORM_SIZE);
    this.axes = new Float64Array(this.joints * 6);
    this.ends = new Float64Array((model.capsules.length + foreignCapsules) * 6);
    this.#local = Float64Array.from(model.capsules.flatMap(({ fromM, toM }) => [...fromM, ...toM]));
    this.#frameOf = Int32Array.from(model.capsules, ({ frame }) => frame);
  }

  set(qRad: ArrayLike<number>): void {
    this.#chain.framesAndAxes(qRad, this.frames, this.axes);
  }

  /** Call after `set` where capsules matter. */
  placeCapsules(): void {
    const { frames, ends } = this;
    const local = this.#local;
    for (let i = 0; i < local.length; i += 3) {
      const at = this.#frameOf[Math.floor(i / 6)]! * TRANSFORM_SIZE;
      const x = local[i]!;
      const y = local[i + 1]!;
      const z = local[i + 2]!;
      for (let axis = 0; axis < 3; axis++) {
        const row = at + axis * 4;
        ends[i + axis] = frames[row]! * x + frames[row + 1]! * y + frames[row + 2]! * z + frames[row + 3]!;
      }
    }
  }

  /**
   * Adds to `out` how fast a point moves along a direction per joint: the point and the direction are at `at` of
   * their arrays, the point is fixed in `frame`.
   */
  addGradient(
    frame: number,
    points: Float64Array,
    at: number,
    directions: Float64Array,
    directionAt: number,
    sign: 1 | -1,
    out: Float64Array,
    outAt: number,
  ): void {
    const { axes } = this;
    const dx = sign * directions[directionAt]!;
    const dy = sign * directions[directionAt + 1]!;
    const dz = sign * directions[directionAt + 2]!;
    for (let i = 0; i < frame; i++) {
      const k = i * 6;
      const ax = axes[k]!;
      const ay = axes[k + 1]!;
      const az = axes[k + 2]!;
      const rx = points[at]! - axes[k + 3]!;
      const ry = points[at + 1]! - axes[k + 4]!;
      const rz = points[at + 2]! - axes[k + 5]!;
      out[outAt + i]! += dx * (ay * rz - az * ry) + dy * (az * rx - ax * rz) + dz * (ax * ry - ay * rx);
    }
  }
}
