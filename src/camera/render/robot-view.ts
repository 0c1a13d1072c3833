import { type Chain, createChain, TRANSFORM_SIZE } from '../../geometry/chain.ts';
import type { RobotModel } from '../../geometry/robot-model.ts';
import { placed } from '../../geometry/touching.ts';
import type { Colour } from '../drawing.ts';
import { Canvas } from './canvas.ts';
import { aim, emptyView, type View } from './view.ts';

interface Rod {
  frame: number;
  fromM: readonly number[];
  toM: readonly number[];
  radiusM: number;
  colour: Colour;
}

export interface RobotViewOptions {
  widthPx: number;
  heightPx: number;
  fovRad: number;
  /** `scene`: from a fixed place. `wrist`: from beside the flange, along the tool. */
  mount: 'scene' | 'wrist';
  eyeM: readonly number[];
  targetM: readonly number[];
}

const LINKS: readonly [Colour, Colour] = [
  [236, 240, 244],
  [64, 132, 214],
];
const FINGERS: Colour = [250, 176, 48];
const FINGER_RADIUS_M = 0.009;
const FINGER_M = 0.055;
/** Half the opening of a fully open gripper. */
const OPEN_M = 0.04;
const BARE_RADIUS_M = 0.025;
/** Beside the flange, so that the fingers appear in front of the ground. */
const WRIST_EYE_M = [0.2, 0, -0.02] as const;
const WRIST_TARGET_M = [0, 0, 0.19] as const;

/** The robot as a camera would see it: its capsules at the joint angles, lit, with shadows on the ground. */
export class RobotView {
  readonly #canvas: Canvas;
  readonly #view: View;
  readonly #chain: Chain;
  readonly #frames: Float64Array;
  readonly #rods: readonly Rod[];
  readonly #ends = new Float64Array(6);
  /** The ground as seen by a fixed camera. */
  readonly #ground: Uint8Array | null;
  /** Along the tool, beyond every capsule of the flange. */
  readonly #fingersAtM: number;

  constructor(model: RobotModel, options: RobotViewOptions) {
    const { widthPx, heightPx, fovRad, mount, eyeM, targetM } = options;
    this.#canvas = new Canvas(widthPx, heightPx);
    this.#view = emptyView(widthPx, heightPx, fovRad);
    this.#chain = createChain(model);
    this.#frames = new Float64Array(TRANSFORM_SIZE * (this.#chain.joints + 1));
    this.#rods = rodsOf(model);
    this.#fingersAtM = Math.max(
      0,
      ...model.capsules
        .filter(({ frame }) => frame === model.joints.length)
        .map(({ fromM, toM, radiusM }) => Math.max(fromM[2], toM[2]) + 0.7 * radiusM),
    );
    this.#ground = null;
    if (mount === 'wrist') return;
    aim(
      this.#view,
      eyeM,
      targetM.map((value, k) => value - eyeM[k]!),
      [0, 0, 1],
    );
    this.#canvas.drawGround(this.#view);
    this.#ground = this.#canvas.picture.pixels.slice();
  }

  /** `gripper`: 0 open to 1 closed, NaN for none. Returns the same picture object each time. */
  draw(jointsRad: ArrayLike<number>, gripper: number) {
    const canvas = this.#canvas;
    this.#chain.frames(jointsRad, this.#frames);
    if (this.#ground === null) this.#aimFromWrist();
    else canvas.picture.pixels.set(this.#ground);
    canvas.clearDepth(this.#view);
    for (const rod of this.#rods) {
      this.#place(rod.frame, rod.fromM, rod.toM);
      canvas.drawShadow(this.#view, this.#ends, rod.radiusM);
    }
    for (const rod of this.#rods) {
      this.#place(rod.frame, rod.fromM, rod.toM);
      canvas.drawRod(this.#view, this.#ends, rod.radiusM, rod.colour);
    }
    if (Number.isFinite(gripper)) this.#drawFingers(gripper);
    return canvas.picture;
  }

  #place(frame: number, fromM: readonly number[], toM: readonly number[]): void {
    this.#ends.set(placed(this.#frames, frame, fromM), 0);
    this.#ends.set(placed(this.#frames, frame, toM), 3);
  }

  #drawFingers(gripper: number): void {
    const half = FINGER_RADIUS_M + OPEN_M * (1 - Math.max(0, Math.min(1, gripper)));
    const flange = this.#chain.joints;
    for (const side of [-half, half]) {
      this.#place(flange, [0, side, this.#fingersAtM], [0, side, this.#fingersAtM + FINGER_M]);
      this.#canvas.drawRod(this.#view, this.#ends, FINGER_RADIUS_M, FINGERS);
    }
  }

  #aimFromWrist(): void {
    const flange = this.#chain.joints;
    const eye = placed(this.#frames, flange, WRIST_EYE_M);
    const target = placed(this.#frames, flange, WRIST_TARGET_M);
    const up = placed(this.#frames, flange, [WRIST_EYE_M[0] + 1, 0, WRIST_EYE_M[2]]);
    aim(
      this.#view,
      eye,
      target.map((value, k) => value - eye[k]!),
      up.map((value, k) => value - eye[k]!),
    );
    this.#canvas.drawGround(this.#view);
  }
}

/** The model's capsules; if it has none, rods between the origins of its frames. */
function rodsOf(model: RobotModel): Rod[] {
  const colour = (frame: number): Colour => LINKS[frame % 2]!;
  if (model.capsules.length > 0)
    return model.capsules.map(({ frame, fromM, toM, radiusM }) => ({
      frame,
      fromM,
      toM,
      radiusM,
      colour: colour(frame),
    }));
  const chain = createChain(model);
  const frames = new Float64Array(TRANSFORM_SIZE * (chain.joints + 1));
  // Only for DH rows does a frame's origin stay fixed in the previous frame; the home pose is close enough.
  chain.frames(model.homeRad, frames);
  return Array.from({ length: chain.joints }, (_, i) => {
    const toM = inFrame(frames, i + 1, i);
    return { frame: i + 1, fromM: toM, toM: [0, 0, 0], radiusM: BARE_RADIUS_M, colour: colour(i) };
  });
}

/** The origin of frame `of` as seen from frame `from`. */
function inFrame(frames: Float64Array, from: number, of: number): number[] {
  const [a, b] = [from * TRANSFORM_SIZE, of * TRANSFORM_SIZE];
  const d = [0, 1, 2].map((row) => frames[b + 4 * row + 3]! - frames[a + 4 * row + 3]!);
  return [0, 1, 2].map(
    (column) =>
      frames[a + column]! * d[0]! + frames[a + 4 + column]! * d[1]! + frames[a + 8 + column]! * d[2]!,
  );
}
