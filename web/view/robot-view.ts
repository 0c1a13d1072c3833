import { ColorManagement, LinearSRGBColorSpace, PerspectiveCamera, Vector3, WebGLRenderer } from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import type { RobotModel } from '../../src/core/robot-model.ts';
import type { Telemetry } from '../../src/core/telemetry.ts';
import { currentPalette, LIGHT_SCHEME } from './palette.ts';
import type { Quality } from './quality.ts';
import { World } from './world.ts';

// Colours are used as displayed, which spares a conversion per pixel.
ColorManagement.enabled = false;

/** The operator's side, where the hand's forward is away and its right is right. In units of the arm's reach. */
const VIEW_FROM = new Vector3(-1.55, 0.8, 1.15);
const VIEW_CENTRE = new Vector3(-0.25, 0.62, 0);
const VIEW_RADIUS = 0.78;

/** Animation frames come a little early or late; none is skipped for that. */
const FRAME_SLACK_MS = 3;

/** The canvas: draws on animation frames, and only while something changed. */
export class RobotView {
  readonly #canvas: HTMLCanvasElement;
  readonly #renderer: WebGLRenderer;
  readonly #camera = new PerspectiveCamera(32, 1, 0.02, 20);
  readonly #controls: OrbitControls;
  readonly #quality: Quality;
  readonly #onFrame: () => void;
  #world: World | null = null;
  #model: RobotModel | null = null;
  #latest: Telemetry | null = null;
  #scheduled = false;
  #nextMs = 0;

  constructor(canvas: HTMLCanvasElement, quality: Quality, onFrame: () => void) {
    this.#canvas = canvas;
    this.#quality = quality;
    this.#onFrame = onFrame;
    this.#renderer = new WebGLRenderer({
      canvas,
      antialias: quality.antialias,
      powerPreference: 'low-power',
    });
    this.#renderer.setPixelRatio(quality.pixelRatio);
    this.#renderer.outputColorSpace = LinearSRGBColorSpace;
    this.#controls = new OrbitControls(this.#camera, canvas);
    this.#controls.addEventListener('change', () => this.#request());
    this.#controls.minDistance = 0.3;
    this.#controls.maxDistance = 4;
    this.#controls.maxPolarAngle = Math.PI * 0.495;
    canvas.addEventListener('dblclick', () => this.resetCamera());
    new ResizeObserver(() => this.#resize()).observe(canvas.parentElement ?? canvas);
    matchMedia(LIGHT_SCHEME).addEventListener('change', () => this.#rebuild());
  }

  setModel(model: RobotModel): void {
    if (this.#model && JSON.stringify(this.#model) === JSON.stringify(model)) return;
    this.#model = model;
    this.#rebuild();
    this.resetCamera();
  }

  show(telemetry: Telemetry, nowMs: number): void {
    this.#latest = telemetry;
    this.#world?.aim(telemetry, nowMs);
    this.#request();
  }

  /** The whole workspace in sight, whatever the shape of the canvas. */
  resetCamera(): void {
    const reachM = reachOf(this.#model);
    const halfRad = (this.#camera.fov * Math.PI) / 360;
    const narrowRad = Math.min(halfRad, Math.atan(Math.tan(halfRad) * this.#camera.aspect));
    this.#controls.target.copy(VIEW_CENTRE).multiplyScalar(reachM);
    this.#camera.position.copy(VIEW_FROM).setLength((VIEW_RADIUS * reachM) / Math.sin(narrowRad));
    this.#camera.position.add(this.#controls.target);
    this.#controls.update();
    this.#request();
  }

  #rebuild(): void {
    if (this.#model === null) return;
    this.#world?.dispose();
    this.#world = new World(this.#model, currentPalette(), this.#quality.detail, reachOf(this.#model));
    if (this.#latest) this.#world.aim(this.#latest, performance.now());
    this.#request();
  }

  #resize(): void {
    const { clientWidth, clientHeight } = this.#canvas.parentElement ?? this.#canvas;
    if (clientWidth === 0 || clientHeight === 0) return;
    const turned = this.#camera.aspect < 1 !== clientWidth < clientHeight;
    this.#camera.aspect = clientWidth / clientHeight;
    this.#camera.updateProjectionMatrix();
    this.#renderer.setSize(clientWidth, clientHeight, false);
    if (turned) this.resetCamera();
    this.#request();
  }

  #request(): void {
    if (this.#scheduled) return;
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

function reachOf(model: RobotModel | null): number {
  const lengths = model?.joints.map((joint) => Math.abs(joint.dh.aM)) ?? [];
  return Math.max(
    0.1,
    lengths.reduce((sum, length) => sum + length, 0),
  );
}
