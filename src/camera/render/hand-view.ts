import type { RobotHandPoints } from '../../geometry/hand-points.ts';
import type { Colour } from '../drawing.ts';
import { Canvas } from './canvas.ts';
import type { RobotViewOptions } from './robot-view.ts';
import { aim, emptyView, type View } from './view.ts';

const PALM: Colour = [236, 240, 244];
const FINGERS: Colour = [64, 132, 214];
const RADIUS_M = 0.008;
/** Height of the wrist above the ground. */
const WRIST_M = 0.05;

/** A robot hand as a camera would see it: upright, its palm toward +x. */
export class HandView {
  readonly #hand: RobotHandPoints;
  readonly #canvas: Canvas;
  readonly #view: View;
  readonly #ground: Uint8Array;
  readonly #pointsM = new Float64Array(63);
  readonly #ends = new Float64Array(6);

  constructor(hand: RobotHandPoints, { widthPx, heightPx, fovRad, eyeM, targetM }: RobotViewOptions) {
    this.#hand = hand;
    this.#canvas = new Canvas(widthPx, heightPx);
    this.#view = emptyView(widthPx, heightPx, fovRad);
    const forward = targetM.map((value, k) => value - eyeM[k]!);
    aim(this.#view, eyeM, forward, [0, 0, 1]);
    this.#canvas.drawGround(this.#view);
    this.#ground = this.#canvas.picture.pixels.slice();
  }

  /** Returns the same picture object each time. */
  draw(jointsRad: ArrayLike<number>) {
    const canvas = this.#canvas;
    this.#hand.fill(jointsRad, this.#pointsM);
    canvas.picture.pixels.set(this.#ground);
    canvas.clearDepth(this.#view);
    for (const bone of this.#hand.bones) {
      this.#place(bone);
      canvas.drawShadow(this.#view, this.#ends, RADIUS_M);
    }
    for (const bone of this.#hand.bones) {
      this.#place(bone);
      const isPalm = bone[0] === 0 || bone[1] - bone[0] > 1;
      canvas.drawRod(this.#view, this.#ends, RADIUS_M, isPalm ? PALM : FINGERS);
    }
    return canvas.picture;
  }

  #place(bone: readonly [number, number]): void {
    bone.forEach((point, end) => {
      const [x, y, z] = this.#pointsM.subarray(3 * point, 3 * point + 3);
      this.#ends.set([z!, x!, y! + WRIST_M], 3 * end);
    });
  }
}
