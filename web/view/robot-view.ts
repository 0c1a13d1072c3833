import { ColorManagement, LinearSRGBColorSpace, Vector3, WebGLRenderer } from 'three';
import type { RobotModel } from '../../src/geometry/robot-model.ts';
import type { ConsoleArm, ConsoleScene } from '../../src/messages/console.ts';
import type { Telemetry } from '../../src/messages/telemetry.ts';
import { onThemeChange } from '../shell/theme.ts';
import { coveredOf } from './covered.ts';
import { EdgeArrows } from './edge-arrows.ts';
import { currentPalette } from './palette.ts';
import type { Quality } from './quality.ts';
import { reachOf } from './reach.ts';
import { TargetDrag, type TargetDragHandlers } from './target-drag.ts';
import { ViewCamera, type ViewPreset } from './view-camera.ts';
import { World } from './world.ts';

// Use display colours: saves a conversion per pixel.
ColorManagement.enabled = false;

/** Tolerance, because animation frames come slightly early or late. */
const FRAME_SLACK_MS = 3;

/** The 3D view. Draws on animation frames, only after changes. */
export class RobotView {
  readonly #canvas: HTMLCanvasElement;
  readonly #renderer: WebGLRenderer;
  readonly #camera: ViewCamera;
  readonly #arrows: EdgeArrows;
  readonly #drag: TargetDrag;
  readonly #quality: Quality;
  readonly #tip = new Vector3();
  readonly #onFrame: () => void;
  #world: World | null = null;
  #model: RobotModel | null = null;
  #around: ConsoleScene | null = null;
  #arms: readonly ConsoleArm[] = [];
  #shapesShown = false;
  #hidden = false;
  #latest: Telemetry | null = null;
  #scheduled = false;
  #nextMs = 0;

  /** `edges`: the element over the canvas in which arrows point to what has left the view. */
  constructor(
    canvas: HTMLCanvasElement,
    edges: HTMLElement,
    quality: Quality,
    onFrame: () => void,
    drag: TargetDragHandlers,
  ) {
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
    this.#arrows = new EdgeArrows(edges);
    let camera: ViewCamera | null = null;
    // Presses reach the hand before the camera controls, so the drag listens first.
    this.#drag = new TargetDrag(
      canvas,
      () => camera!.camera,
      () => this.#world?.handPlace ?? null,
      drag,
    );
    camera = this.#camera = new ViewCamera(canvas, () => this.#request());
    canvas.addEventListener('dblclick', () => this.look('shoulder'));
    const observer = new ResizeObserver(() => this.#resize());
    // What lies over the view moves the middle of what is left of it.
    for (const each of [canvas, ...document.querySelectorAll('.stage-top, .cameras')]) observer.observe(each);
    onThemeChange(() => this.#rebuild());
  }

  setModel(model: RobotModel, around: ConsoleScene | null, arms: readonly ConsoleArm[] = []): void {
    const before = JSON.stringify([this.#model, this.#around, this.#arms]);
    if (before === JSON.stringify([model, around, arms])) return;
    this.#model = model;
    this.#around = around;
    this.#arms = arms;
    this.#rebuild();
    this.look(this.#camera.preset);
  }

  show(telemetry: Telemetry, nowMs: number): void {
    const isInWorld = telemetry.world != null;
    const changed =
      isInWorld !== (this.#latest?.world != null) || drivenSide(telemetry) !== drivenSide(this.#latest);
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

  /** Moves the camera to a preset, which shows the whole workspace or rides on the wrist. */
  look(preset: ViewPreset): void {
    this.#camera.setSubject(reachOf(this.#model) + this.#betweenM / 2, this.#centre());
    this.#camera.show(preset);
    this.#request();
  }

  /** Distance between the bases of two arms; 0 for one. */
  get #betweenM(): number {
    const [a, b] = this.#arms.map(({ base }) => base.xyzM);
    return a && b ? Math.hypot(...a.map((m, i) => m - b[i]!)) : 0;
  }

  /** What the camera looks at: the tool at home, and between two arms rather than at one of them. */
  #centre(): Vector3 | null {
    const tip = this.#world?.homeTip ?? null;
    if (tip === null || this.#arms.length === 0) return tip;
    const [x = 0, y = 0] = [0, 1].map(
      (axis) => this.#arms.reduce((sum, { base }) => sum + base.xyzM[axis]!, 0) / this.#arms.length,
    );
    return new Vector3(x + 0.3, tip.y, -y);
  }

  /** Whether the camera keeps tool and hand in the frame. */
  follow(follows: boolean): void {
    this.#camera.follows = follows;
    this.#request();
  }

  #rebuild(): void {
    if (this.#model === null) return;
    this.#world?.dispose();
    const driven = this.#arms.find(({ side }) => side === (drivenSide(this.#latest) ?? 'right'));
    const other = this.#arms.find((arm) => arm !== driven);
    this.#world = new World(
      driven?.model ?? this.#model,
      currentPalette(),
      this.#quality.detail,
      reachOf(this.#model),
      this.#around,
      this.#latest?.world ?? null,
      driven && other ? { driven, other } : null,
    );
    this.#world.showShapes(this.#shapesShown);
    if (this.#latest) this.#world.aim(this.#latest, performance.now());
    this.#request();
  }

  #resize(): void {
    const { clientWidth, clientHeight } = this.#canvas;
    if (clientWidth === 0 || clientHeight === 0) return;
    const turned = this.#camera.resize(clientWidth, clientHeight, coveredOf(this.#canvas));
    this.#renderer.setSize(clientWidth, clientHeight, false);
    if (turned) this.look(this.#camera.preset);
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
    const { camera } = this.#camera;
    const { handPlace, tool } = this.#world;
    const moving = this.#world.advance(nowMs, camera.position);
    const panning = this.#camera.advance(tool, handPlace);
    this.#renderer.render(this.#world.scene, camera);
    this.#arrows.update('hand', handPlace, camera);
    this.#arrows.update('gripper', tool.getWorldPosition(this.#tip), camera);
    this.#onFrame();
    if (moving || panning) this.#request();
  }

  #tooSoon(nowMs: number): boolean {
    if (this.#quality.maxFps === 0) return false;
    if (nowMs < this.#nextMs - FRAME_SLACK_MS) return true;
    this.#nextMs = Math.max(this.#nextMs + 1000 / this.#quality.maxFps, nowMs);
    return false;
  }
}

/** Of two arms, the one that the page drives; undefined for one arm. */
const drivenSide = (telemetry: Telemetry | null): string | undefined =>
  telemetry?.arms?.find(({ isDriven }) => isDriven)?.side;
