import { LinearSRGBColorSpace, WebGLRenderer } from 'three';
import type { RobotModel } from '../../src/geometry/robot-model.ts';
import type { WorldTelemetry } from '../../src/messages/telemetry.ts';
import { onThemeChange } from '../shell/theme.ts';
import { currentPalette } from '../view/palette.ts';
import type { Quality } from '../view/quality.ts';
import { reachOf } from '../view/reach.ts';
import type { SceneState } from '../view/scene-state.ts';
import { ViewCamera } from '../view/view-camera.ts';
import { World } from '../view/world.ts';

/** Arm and world of a recorded instant. Draws on animation frames, only after changes. */
export class EpisodeStage {
  readonly #renderer: WebGLRenderer;
  readonly #camera: ViewCamera;
  readonly #canvas: HTMLCanvasElement;
  readonly #model: RobotModel;
  readonly #quality: Quality;
  readonly #resized: ResizeObserver;
  #world: World | null = null;
  #state: SceneState | null = null;
  #scheduled = false;
  #isClosed = false;

  constructor(canvas: HTMLCanvasElement, model: RobotModel, quality: Quality) {
    this.#canvas = canvas;
    this.#model = model;
    this.#quality = quality;
    this.#renderer = new WebGLRenderer({ canvas, antialias: quality.antialias, stencil: true });
    this.#renderer.setPixelRatio(quality.pixelRatio);
    this.#renderer.outputColorSpace = LinearSRGBColorSpace;
    this.#camera = new ViewCamera(canvas, () => this.#request());
    this.#camera.follows = false;
    this.#resized = new ResizeObserver(() => this.#resize());
    this.#resized.observe(canvas);
    onThemeChange(() => this.#rebuild(this.#state?.world ?? null));
    document.addEventListener('meshesshown', this.#request);
  }

  /** `isOther`: of another episode than before, whose world may differ. */
  show(state: SceneState, isOther: boolean): void {
    const hadWorld = this.#state?.world != null;
    const changed = isOther || this.#world === null || (state.world != null) !== hadWorld;
    this.#state = state;
    if (changed) this.#rebuild(state.world ?? null);
    // A recorded instant is shown as it was: nothing to smooth between messages.
    this.#world?.aim(state, Number.NEGATIVE_INFINITY);
    this.#request();
  }

  close(): void {
    this.#isClosed = true;
    this.#resized.disconnect();
    document.removeEventListener('meshesshown', this.#request);
    this.#world?.dispose();
    this.#renderer.dispose();
    this.#renderer.forceContextLoss();
  }

  #rebuild(world: WorldTelemetry | null): void {
    if (this.#isClosed) return;
    this.#world?.dispose();
    const reachM = reachOf(this.#model);
    this.#world = new World(this.#model, currentPalette(), this.#quality.detail, reachM, null, world);
    if (this.#state) this.#world.aim(this.#state, Number.NEGATIVE_INFINITY);
    this.#camera.setSubject(reachM, this.#world.homeTip);
    this.#camera.show('shoulder');
    this.#request();
  }

  #resize(): void {
    const { clientWidth, clientHeight } = this.#canvas;
    if (clientWidth === 0 || clientHeight === 0) return;
    this.#camera.resize(clientWidth, clientHeight);
    this.#renderer.setSize(clientWidth, clientHeight, false);
    this.#camera.show('shoulder');
    this.#request();
  }

  readonly #request = (): void => {
    if (this.#scheduled || this.#isClosed) return;
    this.#scheduled = true;
    requestAnimationFrame((nowMs) => {
      this.#scheduled = false;
      if (this.#world === null || this.#isClosed) return;
      this.#world.advance(nowMs, this.#camera.camera.position);
      this.#renderer.render(this.#world.scene, this.#camera.camera);
      this.#canvas.dataset['drawn'] = String(Number(this.#canvas.dataset['drawn'] ?? 0) + 1);
    });
  };
}
