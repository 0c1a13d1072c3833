import { type Object3D, PerspectiveCamera, Vector3 } from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import type { Covered } from './covered.ts';

const VIEW_PRESETS = ['shoulder', 'top', 'side', 'wrist'] as const;
export type ViewPreset = (typeof VIEW_PRESETS)[number];

/** Where each preset looks from. Shoulder: behind the operator's right shoulder, so that forward is away. */
const VIEW_FROM: Record<Exclude<ViewPreset, 'wrist'>, Vector3> = {
  shoulder: new Vector3(-1.05, 0.9, 1.45),
  // Not exactly from above: orbiting has no defined turn there.
  top: new Vector3(-0.02, 1, 0),
  side: new Vector3(0, 0.12, 1),
};
/** In units of the arm's reach. */
const CENTRE_HEIGHT = 0.52;
const HALF_HEIGHT = 0.8;
const HALF_WIDTH = 0.96;

/** In a view lower than this, the presets show the workspace in what is left of it. */
const LOW_PX = 520;
const UNCOVERED: Covered = { topPx: 0, bottomPx: 0 };

/** The part of the free frame, from its centre, in which tool and hand may move before the camera follows. */
const INNER = 0.72;
const FOLLOW_PER_FRAME = 0.15;
const ZOOM_OUT_PER_FRAME = 1.02;
const STILL = 0.004;

const WRIST_BACK_M = 0.3;
const WRIST_ABOVE_M = 0.09;
/** Neither parallel to a tool that points down nor to one that points ahead. */
const WRIST_UP = new Vector3(1, 1, 0).normalize();

/** The camera of the 3D view: presets, orbiting by pointer, and following tool and hand so that they stay in the frame. */
export class ViewCamera {
  readonly camera = new PerspectiveCamera(32, 1, 0.02, 20);
  follows = true;
  readonly #controls: OrbitControls;
  readonly #point = new Vector3();
  readonly #axis = new Vector3();
  readonly #pan = new Vector3();
  readonly #homeTip = new Vector3();
  /** The part of the height that nothing covers, and its middle, −1 … 1. */
  #freeShare = 1;
  #freeMiddle = 0;
  #isLow = false;
  #preset: ViewPreset = 'shoulder';
  #reachM = 0.5;

  constructor(canvas: HTMLCanvasElement, onChange: () => void) {
    this.#controls = new OrbitControls(this.camera, canvas);
    this.#controls.addEventListener('change', onChange);
    this.#controls.minDistance = 0.3;
    this.#controls.maxDistance = 4;
    this.#controls.maxPolarAngle = Math.PI * 0.495;
  }

  get preset(): ViewPreset {
    return this.#preset;
  }

  /** What the presets show. */
  setSubject(reachM: number, homeTip: Vector3 | null): void {
    this.#reachM = reachM;
    this.#homeTip.copy(homeTip ?? new Vector3());
  }

  /** Fits the whole workspace into any canvas shape. */
  show(preset: ViewPreset): void {
    this.#preset = preset;
    this.#controls.enabled = preset !== 'wrist';
    if (preset === 'wrist') return;
    const slope = Math.tan((this.camera.fov * Math.PI) / 360);
    const halfHeight = HALF_HEIGHT / (this.#isLow ? this.#freeShare : 1);
    const distance = Math.max(halfHeight / slope, HALF_WIDTH / (slope * this.camera.aspect));
    const { x, z } = this.#homeTip;
    this.camera.up.set(0, 1, 0);
    this.#controls.target.set(0.55 * x, CENTRE_HEIGHT * this.#reachM, 0.55 * z);
    this.camera.position.copy(VIEW_FROM[preset]).setLength(distance * this.#reachM);
    this.camera.position.add(this.#controls.target);
    this.#controls.update();
  }

  /** True when the canvas changed between upright and wide, or low and high. */
  resize(widthPx: number, heightPx: number, { topPx, bottomPx }: Covered = UNCOVERED): boolean {
    const turned = this.camera.aspect < 1 !== widthPx < heightPx;
    this.#freeShare = (heightPx - topPx - bottomPx) / heightPx;
    this.#freeMiddle = (bottomPx - topPx) / heightPx;
    const wasLow = this.#isLow;
    this.#isLow = heightPx < LOW_PX;
    this.camera.setViewOffset(widthPx, heightPx, 0, (bottomPx - topPx) / 2, widthPx, heightPx);
    return turned || wasLow !== this.#isLow;
  }

  /** Call once per frame. True while the camera itself moves. */
  advance(tool: Object3D, hand: Vector3 | null): boolean {
    if (this.#preset === 'wrist') {
      this.#ride(tool);
      return false;
    }
    if (!this.follows) return false;
    const tip = tool.getWorldPosition(this.#point).clone();
    return this.#keepInFrame(hand === null ? [tip] : [tip, hand]);
  }

  /** Looks at the tool from behind the wrist. */
  #ride(tool: Object3D): void {
    const { position, up } = this.camera;
    tool.getWorldPosition(this.#point);
    tool.getWorldDirection(this.#axis);
    up.copy(WRIST_UP);
    position
      .copy(this.#point)
      .addScaledVector(this.#axis, -WRIST_BACK_M)
      .addScaledVector(WRIST_UP, WRIST_ABOVE_M);
    this.camera.lookAt(this.#point);
    this.camera.updateMatrixWorld();
  }

  /** Pans by the amount that the points are outside the inner frame; moves back when they do not fit together. */
  #keepInFrame(points: readonly Vector3[]): boolean {
    const [x, y] = this.#excess(points);
    const spread = this.#spread(points);
    const moves = Math.max(Math.abs(x), Math.abs(y), spread) > STILL;
    if (!moves) return false;
    const distance = this.camera.position.distanceTo(this.#controls.target);
    const halfHeightM = distance * Math.tan((this.camera.fov * Math.PI) / 360);
    this.#pan
      .setFromMatrixColumn(this.camera.matrixWorld, 0)
      .multiplyScalar(x * halfHeightM * this.camera.aspect);
    this.#axis.setFromMatrixColumn(this.camera.matrixWorld, 1);
    this.#pan.addScaledVector(this.#axis, y * halfHeightM).multiplyScalar(FOLLOW_PER_FRAME);
    this.#controls.target.add(this.#pan);
    this.camera.position.add(this.#pan);
    if (spread > STILL && distance < this.#controls.maxDistance)
      this.camera.position
        .sub(this.#controls.target)
        .multiplyScalar(ZOOM_OUT_PER_FRAME)
        .add(this.#controls.target);
    this.#controls.update();
    return true;
  }

  #excess(points: readonly Vector3[]): [x: number, y: number] {
    let [x, y] = [0, 0];
    for (const point of points) {
      const at = this.#point.copy(point).project(this.camera);
      x += outside(at.x, INNER);
      y += outside(at.y - this.#freeMiddle, INNER * this.#freeShare);
    }
    return [x, y];
  }

  /** How much farther apart the points are than the inner frame is wide. */
  #spread(points: readonly Vector3[]): number {
    const [a, b] = points;
    if (a === undefined || b === undefined) return 0;
    const first = this.#point.copy(a).project(this.camera).clone();
    const second = this.#point.copy(b).project(this.camera);
    const apart = Math.abs(first.y - second.y) / this.#freeShare;
    return Math.max(Math.abs(first.x - second.x), apart) - 2 * INNER;
  }
}

function outside(value: number, inner: number): number {
  return Math.abs(value) <= inner ? 0 : Math.sign(value) * Math.min(1, Math.abs(value) - inner);
}
