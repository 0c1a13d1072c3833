import { ColorManagement, LinearSRGBColorSpace, PerspectiveCamera, Vector3, WebGLRenderer } from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import type { RobotModel } from '../../src/geometry/robot-model.ts';
import type { ConsoleScene } from '../../src/messages/console.ts';
import type { Telemetry } from '../../src/messages/telemetry.ts';
import { onThemeChange } from '../shell/theme.ts';
import { currentPalette } from './palette.ts';
import type { Quality } from './quality.ts';
import { reachOf } from './reach.ts';
import { TargetDrag, type TargetDragHandlers } from './target-drag.ts';
import { World } from './world.ts';

// Use display colours: saves a conversion per pixel.
ColorManagement.enabled = false;

/** View from behind the operator's right shoulder: forward is away, right is right. */
const VIEW_FROM = new Vector3(-1.05, 0.9, 1.45);
/** In units of the arm's reach. */
const VIEW_CENTRE_HEIGHT = 0.52;
const VIEW_HALF_HEIGHT = 0.8;
const VIEW_HALF_WIDTH = 0.96;
/** Smaller while something covers part of the view. */
const COVERED_ZOOM = 0.88;

/** Tolerance, because animation frames come slightly early or late. */
const FRAME_SLACK_MS = 3;

/** The 3D view. Draws on animation frames, only after changes. */
export class RobotView {
  readonly #canvas: HTMLCanvasElement;
  readonly #renderer: WebGLRenderer;
  readonly #camera = new PerspectiveCamera(32, 1, 0.02, 20);
  readonly #controls: OrbitControls;
  readonly #drag: TargetDrag;
  readonly #quality: Quality;
  readonly #onFrame: () => void;
  #world: World | null = null;
  #model: RobotModel | null = null;
  #around: ConsoleScene | null = null;
  #shapesShown = false;
  #hidden = false;
  #latest: Telemetry | null = null;
  #scheduled = false;
  #nextMs = 0;
  #room = [0, 0] as [rightPx: number, bottomPx: number];

  constructor(canvas: HTMLCanvasElement, quality: Quality, onFrame: () => void, drag: TargetDragHandlers) {
    this.#canvas = canvas;
    this.#quality = quality;
    this.#onFrame = onFrame;
    this.#renderer = new WebGLRenderer({
      canvas,
      antialias: quality.antialias,
      stencil: true,
      powerPreference: 'low-power',
    });
    this.#renderer.setPixelRatio(quality.pixelRatio);
    this.#renderer.outputColorSpace = LinearSRGBColorSpace;
    this.#drag = new TargetDrag(canvas, this.#camera, () => this.#world?.handPlace ?? null, drag);
    this.#controls = new OrbitControls(this.#camera, canvas);
    this.#controls.addEventListener('change', () => this.#request());
    this.#controls.minDistance = 0.3;
    this.#controls.maxDistance = 4;
    this.#controls.maxPolarAngle = Math.PI * 0.495;
    canvas.addEventListener('dblclick', () => this.resetCamera());
    new ResizeObserver(() => this.#resize()).observe(canvas);
    onThemeChange(() => this.#rebuild());
  }

  setModel(model: RobotModel, around: ConsoleScene | null): void {
    const same = JSON.stringify([this.#model, this.#around]) === JSON.stringify([model, around]);
    if (same) return;
    this.#model = model;
    this.#around = around;
    this.#rebuild();
    this.resetCamera();
  }

  show(telemetry: Telemetry, nowMs: number): void {
    const isInWorld = telemetry.world != null;
    const changed = isInWorld !== (this.#latest?.world != null);
    this.#latest = telemetry;
    if (changed) this.#rebuild();
    this.#world?.aim(telemetry, nowMs);
    this.#request();
  }

  /** Shows or hides the collision shapes. */
  showShapes(shown: boolean): void {
    this.#shapesShown = shown;
    this.#world?.showShapes(shown);
    this.#request();
  }

  /** Position of the drawn hand on the page; null while hidden. */
  handPx(): [number, number] | null {
    return this.#drag.handPx();
  }

  /** Stops drawing while another page is shown. */
  setHidden(hidden: boolean): void {
    this.#hidden = hidden;
    this.#request();
  }

  /** Fits the whole workspace into any canvas shape. */
  resetCamera(): void {
    const reachM = reachOf(this.#model);
    const slope = Math.tan((this.#camera.fov * Math.PI) / 360);
    const distance = Math.max(VIEW_HALF_HEIGHT / slope, VIEW_HALF_WIDTH / (slope * this.#camera.aspect));
    const { x = 0, z = 0 } = this.#world?.homeTip ?? {};
    this.#controls.target.set(0.55 * x, VIEW_CENTRE_HEIGHT * reachM, 0.55 * z);
    this.#camera.position.copy(VIEW_FROM).setLength(distance * reachM);
    this.#camera.position.add(this.#controls.target);
    this.#controls.update();
    this.#request();
  }

  /** Shifts the picture when something covers its lower right corner. */
  setCovered(rightPx: number, bottomPx: number): void {
    if (this.#room[0] === rightPx && this.#room[1] === bottomPx) return;
    this.#room = [rightPx, bottomPx];
    this.#resize();
  }

  #rebuild(): void {
    if (this.#model === null) return;
    this.#world?.dispose();
    this.#world = new World(
      this.#model,
      currentPalette(),
      this.#quality.detail,
      reachOf(this.#model),
      this.#around,
      this.#latest?.world ?? null,
    );
    this.#world.showShapes(this.#shapesShown);
    if (this.#latest) this.#world.aim(this.#latest, performance.now());
    this.#request();
  }

  #resize(): void {
    const { clientWidth, clientHeight } = this.#canvas;
    if (clientWidth === 0 || clientHeight === 0) return;
    const turned = this.#camera.aspect < 1 !== clientWidth < clientHeight;
    this.#camera.aspect = clientWidth / clientHeight;
    const [right, bottom] = this.#room;
    this.#camera.zoom = right > 0 ? COVERED_ZOOM : 1;
    this.#camera.setViewOffset(clientWidth, clientHeight, right / 2, bottom / 2, clientWidth, clientHeight);
    this.#renderer.setSize(clientWidth, clientHeight, false);
    if (turned) this.resetCamera();
    this.#request();
  }

  #request(): void {
    if (this.#scheduled || this.#hidden) return;
    this.#scheduled = true;
    requestAnimationFrame((nowMs) => this.#tick(nowMs));
  }

  #tick(nowMs: number): void {
    this.#scheduled = false;
    if (this.#world === null) return;
    if (this.#tooSoon(nowMs)) {
      this.#request();
      return;
    }
    const moving = this.#world.advance(nowMs, this.#camera.position);
    this.#renderer.render(this.#world.scene, this.#camera);
    this.#onFrame();
    if (moving) this.#request();
  }

  #tooSoon(nowMs: number): boolean {
    if (this.#quality.maxFps === 0) return false;
    if (nowMs < this.#nextMs - FRAME_SLACK_MS) return true;
    this.#nextMs = Math.max(this.#nextMs + 1000 / this.#quality.maxFps, nowMs);
    return false;
  }
}
