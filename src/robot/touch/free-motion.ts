import { z } from 'zod';
import { type Chain, createChain, TRANSFORM_SIZE } from '../../geometry/chain.ts';
import type { RobotModel } from '../../geometry/robot-model.ts';

const GRAVITY = 9.81;
/** Of each link: its mass, and its mass times its centre. Of each joint: Coulomb friction, viscous friction, an offset. */
const PER_LINK = 4;
const PER_JOINT = 3;
/** Coulomb friction grows to its full size around this speed: a step would flicker at rest. */
const CREEP_RAD_S = 0.02;
/** Keeps what the motion does not show at zero. */
const RIDGE = 1e-5;
/** A difference of this many standard deviations is a contact. */
const SIGNIFICANT = 6;
/** No drive measures its torque better than this. */
const MIN_RESIDUAL_NM = 0.02;

/** A free-motion model as it is stored. */
export const freeMotionSchema = z.strictObject({
  model: z.string(),
  parameters: z.array(z.number()),
  /** What the model left unexplained, standard deviation by joint. */
  residualNm: z.array(z.number().nonnegative()),
  maxRadS: z.number().positive(),
});
export type FreeMotion = z.infer<typeof freeMotionSchema>;

/**
 * The torques that an arm's drives need to hold and move it slowly in free space: gravity of links whose masses are
 * learnt, and friction. Linear in what is learnt. The arm's base stands upright.
 */
class Regressor {
  readonly size: number;
  readonly joints: number;
  /** One row per joint. */
  readonly rows: Float64Array;
  readonly #chain: Chain;
  readonly #frames: Float64Array;
  readonly #axes: Float64Array;

  constructor(model: RobotModel) {
    this.joints = model.joints.length;
    this.size = this.joints * (PER_LINK + PER_JOINT);
    this.rows = new Float64Array(this.joints * this.size);
    this.#chain = createChain(model);
    this.#frames = new Float64Array(TRANSFORM_SIZE * (this.joints + 1));
    this.#axes = new Float64Array(6 * this.joints);
  }

  /** Hot path: nothing allocates. */
  fill(qRad: Float64Array, velocitiesRadS: Float64Array): void {
    this.#chain.framesAndAxes(qRad, this.#frames, this.#axes);
    this.rows.fill(0);
    for (let i = 0; i < this.joints; i++) {
      const row = i * this.size;
      for (let link = i; link < this.joints; link++) this.#gravity(i, link, row + PER_LINK * link);
      const at = row + PER_LINK * this.joints + PER_JOINT * i;
      const speed = velocitiesRadS[i]!;
      this.rows[at] = Math.tanh(speed / CREEP_RAD_S);
      this.rows[at + 1] = speed;
      this.rows[at + 2] = 1;
    }
  }

  /** How fast a unit of mass at the link's origin, and along each axis of its frame, rises as joint i turns. */
  #gravity(i: number, link: number, at: number): void {
    const [ax, ay] = [this.#axes[6 * i]!, this.#axes[6 * i + 1]!];
    const frame = (link + 1) * TRANSFORM_SIZE;
    const f = this.#frames;
    const rise = (x: number, y: number): number => GRAVITY * (ax * y - ay * x);
    this.rows[at] = rise(f[frame + 3]! - this.#axes[6 * i + 3]!, f[frame + 7]! - this.#axes[6 * i + 4]!);
    for (let k = 0; k < 3; k++) this.rows[at + 1 + k] = rise(f[frame + k]!, f[frame + 4 + k]!);
  }
}

/** Torque from outside, by what the drives need beyond the model. */
export class FreeMotionModel {
  readonly #regressor: Regressor;
  readonly #learnt: FreeMotion;

  constructor(model: RobotModel, learnt: FreeMotion) {
    this.#regressor = new Regressor(model);
    this.#learnt = learnt;
  }

  /** All NaN while a joint moves faster than what was learnt. Differences that chance explains are 0. Hot path. */
  external(
    qRad: Float64Array,
    velocitiesRadS: Float64Array,
    effortsNm: Float64Array,
    outNm: Float64Array,
  ): void {
    const { parameters, residualNm, maxRadS } = this.#learnt;
    this.#regressor.fill(qRad, velocitiesRadS);
    const { size, rows, joints } = this.#regressor;
    let isKnown = true;
    for (let i = 0; i < joints; i++) {
      let needed = 0;
      for (let k = 0; k < size; k++) needed += rows[i * size + k]! * parameters[k]!;
      const nm = needed - effortsNm[i]!;
      // Near rest, friction may be anything up to its full size.
      const coulomb = PER_LINK * joints + PER_JOINT * i;
      const unsureNm = Math.abs(parameters[coulomb]!) * (1 - Math.abs(rows[i * size + coulomb]!));
      outNm[i] = Math.abs(nm) < SIGNIFICANT * residualNm[i]! + unsureNm ? 0 : nm;
      isKnown &&= Math.abs(velocitiesRadS[i]!) <= maxRadS && Number.isFinite(nm);
    }
    if (!isKnown) outNm.fill(Number.NaN);
  }
}

/** Learns a free-motion model from samples of slow motion: least squares. */
export class FreeMotionFit {
  readonly #model: RobotModel;
  readonly #regressor: Regressor;
  readonly #maxRadS: number;
  readonly #normal: Float64Array;
  readonly #right: Float64Array;
  /** Sum of squares of each joint's efforts, and its own part of the normal equations: for what remains unexplained. */
  readonly #squares: Float64Array;
  readonly #own: Float64Array[];
  readonly #ownRight: Float64Array[];
  samples = 0;

  constructor(model: RobotModel, maxRadS: number) {
    this.#model = model;
    this.#maxRadS = maxRadS;
    this.#regressor = new Regressor(model);
    const { size, joints } = this.#regressor;
    this.#normal = new Float64Array(size * size);
    this.#right = new Float64Array(size);
    this.#squares = new Float64Array(joints);
    this.#own = model.joints.map(() => new Float64Array(size * size));
    this.#ownRight = model.joints.map(() => new Float64Array(size));
  }

  /** False, and ignored, if a joint moves too fast or something is not a number. */
  add(qRad: Float64Array, velocitiesRadS: Float64Array, effortsNm: Float64Array): boolean {
    const { size, joints, rows } = this.#regressor;
    for (let i = 0; i < joints; i++)
      if (!(Math.abs(velocitiesRadS[i]!) <= this.#maxRadS) || !Number.isFinite(effortsNm[i]! + qRad[i]!))
        return false;
    this.#regressor.fill(qRad, velocitiesRadS);
    for (let i = 0; i < joints; i++) {
      const effort = effortsNm[i]!;
      this.#squares[i]! += effort * effort;
      for (let a = 0; a < size; a++) {
        const value = rows[i * size + a]!;
        if (value === 0) continue;
        this.#ownRight[i]![a]! += value * effort;
        for (let b = 0; b < size; b++) this.#own[i]![a * size + b]! += value * rows[i * size + b]!;
      }
    }
    this.samples++;
    return true;
  }

  solve(): FreeMotion {
    const { size } = this.#regressor;
    this.#own.forEach((own, i) => {
      for (let k = 0; k < own.length; k++) this.#normal[k]! += own[k]!;
      for (let k = 0; k < size; k++) this.#right[k]! += this.#ownRight[i]![k]!;
    });
    for (let k = 0; k < size; k++) this.#normal[k * size + k]! += RIDGE * Math.max(1, this.samples);
    const parameters = solveSymmetric(this.#normal, this.#right);
    const residualNm = this.#own.map((own, i) => {
      let sum = this.#squares[i]!;
      for (let a = 0; a < size; a++) {
        sum -= 2 * parameters[a]! * this.#ownRight[i]![a]!;
        for (let b = 0; b < size; b++) sum += parameters[a]! * own[a * size + b]! * parameters[b]!;
      }
      return Math.max(MIN_RESIDUAL_NM, Math.sqrt(Math.max(0, sum) / Math.max(1, this.samples)));
    });
    return { model: this.#model.name, parameters: [...parameters], residualNm, maxRadS: this.#maxRadS };
  }
}

/** x of A x = b for a symmetric positive definite A, by Cholesky; A is overwritten. */
function solveSymmetric(a: Float64Array, b: Float64Array): Float64Array {
  const n = b.length;
  for (let j = 0; j < n; j++)
    for (let i = j; i < n; i++) {
      let sum = a[i * n + j]!;
      for (let k = 0; k < j; k++) sum -= a[i * n + k]! * a[j * n + k]!;
      a[i * n + j] = i === j ? Math.sqrt(sum) : sum / a[j * n + j]!;
    }
  const x = Float64Array.from(b);
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < i; k++) x[i]! -= a[i * n + k]! * x[k]!;
    x[i]! /= a[i * n + i]!;
  }
  for (let i = n - 1; i >= 0; i--) {
    for (let k = i + 1; k < n; k++) x[i]! -= a[k * n + i]! * x[k]!;
    x[i]! /= a[i * n + i]!;
  }
  return x;
}
