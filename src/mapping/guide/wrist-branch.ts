import { wrapRad } from '../../geometry/frames.ts';
import type { RobotModel } from '../../geometry/robot-model.ts';
import { ArmPose } from './arm-pose.ts';

/** Closer than this to the singularity, the first wrist joint is pulled to its place. */
const NEAR_RAD = 0.35;
const WEIGHT = 3e-4;
/** A wanted direction closer than this to the aligned axes does not say where the joint belongs. */
const VAGUE_RAD = 0.01;
/** Beyond the end of its range by less than this, a joint counts as at the end. */
const END_RAD = 1e-3;
const STEPS = 720;
/** Axes this parallel count as aligned. */
const ALIGNED = 1 - 1e-4;

/**
 * The wrist's last three joints: where the first and last axes align, the arm can turn in place, and a small motion of
 * the hand may flip it to its other branch. Near there, the first joint of the wrist is pulled to where the wanted
 * direction needs it, on the branch that was held when engaging. Hot path after construction: nothing allocates.
 */
export class WristBranch {
  /** Weight and goal of the pull; weight 0: none. */
  weight = 0;
  pullRad = 0;
  /** Distance from the singularity; infinite if the wrist has none. */
  nearRad = Number.POSITIVE_INFINITY;
  readonly #joints: number;
  readonly #minRad: number;
  readonly #maxRad: number;
  /** Angles of the middle joint where the axes align, and whether they then point the same way (1) or not (−1). */
  readonly #alignedRad: number[] = [];
  readonly #facing: number[] = [];
  /** The last axis in the flange's frame. */
  readonly #axis = new Float64Array(3);
  readonly #wanted = new Float64Array(3);
  #side: 1 | -1 = 1;

  constructor(model: RobotModel) {
    const pose = new ArmPose(model);
    this.#joints = model.joints.length;
    const first = model.joints[this.#joints - 3]!;
    this.#minRad = first.minRad;
    this.#maxRad = first.maxRad;
    pose.set(model.homeRad);
    const flange = this.#joints * 12;
    const last = (this.#joints - 1) * 6;
    for (let i = 0; i < 3; i++)
      for (let k = 0; k < 3; k++) this.#axis[i]! += pose.frames[flange + 4 * k + i]! * pose.axes[last + k]!;
    this.#find(model, pose);
  }

  /** True if the axes can align and the first joint cannot turn all the way round. */
  get isNarrow(): boolean {
    return this.#alignedRad.length > 0 && this.#maxRad - this.#minRad < 2 * Math.PI;
  }

  #find(model: RobotModel, pose: ArmPose): void {
    const middle = this.#joints - 2;
    const { minRad, maxRad } = model.joints[middle]!;
    const q = [...model.homeRad];
    const alignment = (rad: number): number => {
      q[middle] = rad;
      pose.set(q);
      return dot(pose.axes, (this.#joints - 3) * 6, pose.axes, (this.#joints - 1) * 6);
    };
    let before = 0;
    let now = Math.abs(alignment(minRad));
    for (let n = 1; n <= STEPS + 1; n++) {
      const rad = minRad + (n / STEPS) * (maxRad - minRad);
      const after = n > STEPS ? 0 : Math.abs(alignment(rad));
      if (now > ALIGNED && now >= before && now > after) {
        const stepRad = (maxRad - minRad) / STEPS;
        const atRad = peak((x) => Math.abs(alignment(x)), minRad + (n - 1) * stepRad, stepRad);
        this.#alignedRad.push(atRad);
        this.#facing.push(Math.sign(alignment(atRad)));
      }
      before = now;
      now = after;
    }
  }

  /** Keeps the branch of this pose until the next call. */
  engage(qRad: ArrayLike<number>): void {
    const k = this.#closest(qRad[this.#joints - 2]!);
    if (k >= 0) this.#side = qRad[this.#joints - 2]! - this.#alignedRad[k]! < 0 ? -1 : 1;
  }

  #closest(middleRad: number): number {
    let closest = -1;
    for (let k = 0; k < this.#alignedRad.length; k++)
      if (
        closest < 0 ||
        Math.abs(middleRad - this.#alignedRad[k]!) < Math.abs(middleRad - this.#alignedRad[closest]!)
      )
        closest = k;
    return closest;
  }

  /** Computes the pull for a wanted rotation of the flange (3×3, row-major) in this pose. */
  update(pose: ArmPose, qRad: Float64Array, wantedRotation: Float64Array): void {
    this.weight = 0;
    this.nearRad = Number.POSITIVE_INFINITY;
    const middleRad = qRad[this.#joints - 2]!;
    const k = this.#closest(middleRad);
    if (k < 0) return;
    const { axes } = pose;
    const [a4, a5] = [(this.#joints - 3) * 6, (this.#joints - 2) * 6];
    const w = this.#wanted;
    for (let i = 0; i < 3; i++)
      w[i] =
        wantedRotation[3 * i]! * this.#axis[0]! +
        wantedRotation[3 * i + 1]! * this.#axis[1]! +
        wantedRotation[3 * i + 2]! * this.#axis[2]!;
    const facing = this.#facing[k]!;
    const offRad = middleRad - this.#alignedRad[k]!;
    const angleRad = Math.acos(Math.max(-1, Math.min(1, facing * dot(w, 0, axes, a4))));
    this.nearRad = Math.min(angleRad, Math.abs(offRad));
    if (this.nearRad >= NEAR_RAD) return;
    const across = dot(w, 0, axes, a5);
    const along =
      w[0]! * (axes[a5 + 1]! * axes[a4 + 2]! - axes[a5 + 2]! * axes[a4 + 1]!) +
      w[1]! * (axes[a5 + 2]! * axes[a4]! - axes[a5]! * axes[a4 + 2]!) +
      w[2]! * (axes[a5]! * axes[a4 + 1]! - axes[a5 + 1]! * axes[a4]!);
    if (Math.abs(across) + Math.abs(along) < 1e-9) return;
    const turnRad = Math.atan2(across, along);
    const firstRad = qRad[this.#joints - 3]!;
    const share = this.nearRad / NEAR_RAD;
    this.weight = WEIGHT * (1 - share * share) * Math.min(1, Math.max(0, angleRad / VAGUE_RAD - 0.1));
    const held = this.#inRange(firstRad + turnRad + (facing * this.#side > 0 ? 0 : Math.PI), firstRad);
    const other = this.#inRange(firstRad + turnRad + (facing * this.#side > 0 ? Math.PI : 0), firstRad);
    if (Number.isNaN(held) && Number.isNaN(other)) this.weight = 0;
    else this.pullRad = this.#choose(held, other, firstRad) - firstRad;
  }

  /**
   * A narrow wrist keeps its side: there may be no way back. A wide one takes the nearer, so that a hand that passes
   * through the singularity takes the arm through it, and back, without a half turn.
   */
  #choose(held: number, other: number, nowRad: number): number {
    if (Number.isNaN(held) || Number.isNaN(other)) return Number.isNaN(held) ? other : held;
    return this.isNarrow || Math.abs(held - nowRad) <= Math.abs(other - nowRad) ? held : other;
  }

  /**
   * The equivalent angle closest to `nearRad` that the joint can take; NaN: there is none. A joint at the end of its
   * range stays there: it must not turn back all the way for the last digits of an angle.
   */
  #inRange(rad: number, nearRad: number): number {
    const closest = nearRad + wrapRad(rad - nearRad);
    const clamped = Math.max(this.#minRad, Math.min(this.#maxRad, closest));
    if (Math.abs(closest - clamped) < END_RAD) return clamped;
    const wrapped = closest > this.#maxRad ? closest - 2 * Math.PI : closest + 2 * Math.PI;
    return wrapped >= this.#minRad && wrapped <= this.#maxRad ? wrapped : Number.NaN;
  }
}

/** Where f is largest within `step` of x, by shrinking the interval. The range may end there: f is even around it. */
function peak(f: (x: number) => number, x: number, step: number): number {
  let [low, high] = [x - step, x + step];
  for (let round = 0; round < 60; round++) {
    const third = (high - low) / 3;
    if (f(low + third) < f(high - third)) low += third;
    else high -= third;
  }
  return (low + high) / 2;
}

const dot = (a: Float64Array, aAt: number, b: Float64Array, bAt: number): number =>
  a[aAt]! * b[bAt]! + a[aAt + 1]! * b[bAt + 1]! + a[aAt + 2]! * b[bAt + 2]!;
