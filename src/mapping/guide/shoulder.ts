import type { RobotModel } from '../../geometry/robot-model.ts';
import { ArmPose } from './arm-pose.ts';

/** The wrist stays at least this far from the axis of the base, on the side it is on. */
const LEAST_M = 0.02;
/** Axes this perpendicular (cosine) form such a shoulder. */
const PERPENDICULAR = 1e-3;

/**
 * The arm's first two joints, whose axes are perpendicular: past the first axis the arm leans over its own shoulder and
 * reaches back. It may not find its way back from there, so while engaged its wrist keeps its side of that axis and goes
 * round. Hot path after construction: nothing allocates.
 */
export class Shoulder {
  /** Room between the wrist and its limit, and the least it may become until this sample; infinite if it has none. */
  roomM = Number.POSITIVE_INFINITY;
  leastM = 0;
  /** Away from the axis, on the wrist's side. */
  readonly away = new Float64Array(3);
  readonly #wrist: number;
  readonly #pose: ArmPose;
  readonly #at = new Float64Array(3);
  #side: 1 | -1 = 1;

  /** `wrist`: the joint whose axis passes through the wrist; null: the arm has none. */
  constructor(model: RobotModel, pose: ArmPose, wrist: number | null) {
    this.#pose = pose;
    this.#wrist = wrist !== null && isShoulder(model) ? wrist : -1;
  }

  /** Keeps the side of the pose that is set. */
  engage(): void {
    if (this.#wrist < 0) return;
    this.#side = 1;
    this.measure();
    if (this.roomM + LEAST_M >= 0) return;
    this.#side = -1;
    this.measure();
  }

  measure(): void {
    if (this.#wrist < 0) return;
    const { axes } = this.#pose;
    const { away } = this;
    away[0] = this.#side * (axes[1]! * axes[8]! - axes[2]! * axes[7]!);
    away[1] = this.#side * (axes[2]! * axes[6]! - axes[0]! * axes[8]!);
    away[2] = this.#side * (axes[0]! * axes[7]! - axes[1]! * axes[6]!);
    let alongM = 0;
    for (let i = 0; i < 3; i++) {
      this.#at[i] = axes[this.#wrist * 6 + 3 + i]!;
      alongM += away[i]! * (this.#at[i]! - axes[3 + i]!);
    }
    this.roomM = alongM - LEAST_M;
  }

  /** Until this sample the room may shrink to this share, or not at all if it is used up. */
  damp(kept: number): void {
    this.leastM = this.roomM > 0 ? kept * this.roomM : this.roomM;
  }

  /** How the room changes per joint, to `out` at `outAt`. The first joint turns the direction with the wrist. */
  gradient(out: Float64Array, outAt: number): void {
    out.fill(0, outAt, outAt + this.#pose.joints);
    this.#pose.addGradient(this.#wrist, this.#at, 0, this.away, 0, 1, out, outAt);
    out[outAt] = 0;
  }
}

/** A spare joint may take the wrist past the axis without leaning back. */
function isShoulder(model: RobotModel): boolean {
  const pose = new ArmPose(model);
  pose.set(model.homeRad);
  const { axes } = pose;
  const cosine = axes[0]! * axes[6]! + axes[1]! * axes[7]! + axes[2]! * axes[8]!;
  return Math.abs(cosine) < PERPENDICULAR && model.joints.length === 6;
}
