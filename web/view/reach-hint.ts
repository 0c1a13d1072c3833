import { LineBasicMaterial, LineSegments, SphereGeometry, WireframeGeometry } from 'three';
import type { RobotModel } from '../../src/geometry/robot-model.ts';
import { ArmPose } from '../../src/mapping/guide/arm-pose.ts';
import { distanceM, type Reach, reachOf } from '../../src/mapping/guide/reach.ts';
import type { Palette } from './palette.ts';

/** Shares of the reach at which the hint appears and is fully visible. */
const FROM = 0.85;
const FULL = 0.99;
const OPACITY = 0.35;

/** The sphere that the wrist cannot leave, visible only when the arm is nearly stretched. Robot axes: Z up. */
export class ReachHint {
  readonly root: LineSegments;
  readonly #reach: Reach | null;
  readonly #pose: ArmPose;
  readonly #material: LineBasicMaterial;

  constructor(model: RobotModel, palette: Palette) {
    this.#reach =
      model.family === 'hand' ? null : reachOf(model, model.family === 'ur' ? 3 : model.joints.length);
    this.#pose = new ArmPose(model);
    this.#material = new LineBasicMaterial({
      color: palette.near,
      transparent: true,
      opacity: 0,
      depthWrite: false,
    });
    const sphere = new SphereGeometry(this.#reach?.mostM ?? 1, 24, 12);
    this.root = new LineSegments(new WireframeGeometry(sphere), this.#material);
    sphere.dispose();
    this.root.visible = false;
  }

  setJoints(anglesRad: ArrayLike<number>): void {
    const reach = this.#reach;
    if (reach === null) return;
    this.#pose.set(anglesRad);
    const share = distanceM(this.#pose, reach.shoulder, reach.wrist) / reach.mostM;
    this.#material.opacity = OPACITY * Math.max(0, Math.min(1, (share - FROM) / (FULL - FROM)));
    this.root.visible = this.#material.opacity > 0;
    const at = reach.shoulder * 6 + 3;
    const { axes } = this.#pose;
    // Robot axes (z up) to the scene's (y up).
    this.root.position.set(axes[at]!, axes[at + 2]!, -axes[at + 1]!);
  }
}
