import { type PerspectiveCamera, Vector3 } from 'three';
import { SCENE_FROM_INPUT } from './hand-marker.ts';

export interface TargetDragHandlers {
  /** The page is the active input and may engage. */
  mayDrag(): boolean;
  onGrab(): void;
  /** Movement since the last call, metres in the input frame. */
  onMove(deltaM: [number, number, number]): void;
  onRelease(): void;
}

/** A press this close to the drawn hand grabs it. */
const GRAB_PX = 46;

/**
 * Drags the hand in the 3D view with the pointer, in the plane of the screen. Receives presses before the camera controls
 * and consumes those it uses.
 */
export class TargetDrag {
  readonly #canvas: HTMLCanvasElement;
  readonly #camera: () => PerspectiveCamera;
  readonly #handle: () => Vector3 | null;
  readonly #handlers: TargetDragHandlers;
  readonly #right = new Vector3();
  readonly #up = new Vector3();
  readonly #point = new Vector3();
  #pointer = -1;
  #last: [xPx: number, yPx: number] = [0, 0];

  constructor(
    canvas: HTMLCanvasElement,
    camera: () => PerspectiveCamera,
    handle: () => Vector3 | null,
    handlers: TargetDragHandlers,
  ) {
    this.#canvas = canvas;
    this.#camera = camera;
    this.#handle = handle;
    this.#handlers = handlers;
    canvas.addEventListener('pointerdown', (event) => this.#press(event), { capture: true });
    canvas.addEventListener('pointermove', (event) => this.#move(event), { capture: true });
    for (const name of ['pointerup', 'pointercancel', 'lostpointercapture'] as const)
      canvas.addEventListener(name, (event) => this.#end(event), { capture: true });
  }

  #press(event: PointerEvent): void {
    if (this.#pointer !== -1 || event.button !== 0 || !this.#isOnHand(event)) return;
    event.stopImmediatePropagation();
    this.#pointer = event.pointerId;
    this.#last = [event.clientX, event.clientY];
    this.#canvas.setPointerCapture(event.pointerId);
    this.#canvas.classList.add('dragging');
    this.#handlers.onGrab();
  }

  #move(event: PointerEvent): void {
    if (this.#pointer === -1) {
      const cursor = event.buttons === 0 && this.#isOnHand(event) ? 'pointer' : '';
      if (this.#canvas.style.cursor !== cursor) this.#canvas.style.cursor = cursor;
      return;
    }
    if (event.pointerId !== this.#pointer) return;
    event.stopImmediatePropagation();
    const hand = this.#handle();
    if (hand === null) return;
    const perPx = this.#metresPerPx(hand);
    const [x, y] = [event.clientX - this.#last[0], event.clientY - this.#last[1]];
    this.#last = [event.clientX, event.clientY];
    this.#camera().matrixWorld.extractBasis(this.#right, this.#up, this.#point);
    const delta = this.#right.multiplyScalar(x * perPx).addScaledVector(this.#up, -y * perPx);
    delta.applyQuaternion(SCENE_FROM_INPUT.clone().invert());
    this.#handlers.onMove([delta.x, delta.y, delta.z]);
  }

  #end(event: PointerEvent): void {
    if (event.pointerId !== this.#pointer) return;
    event.stopImmediatePropagation();
    this.#pointer = -1;
    this.#canvas.classList.remove('dragging');
    this.#handlers.onRelease();
  }

  #isOnHand(event: PointerEvent): boolean {
    const at = this.#handlers.mayDrag() ? this.handPx() : null;
    return at !== null && Math.hypot(event.clientX - at[0], event.clientY - at[1]) < GRAB_PX;
  }

  /** Position of the drawn hand on the page; null while hidden. */
  handPx(): [number, number] | null {
    const hand = this.#handle();
    if (hand === null) return null;
    const { left, top, width, height } = this.#canvas.getBoundingClientRect();
    const { x, y } = this.#point.copy(hand).project(this.#camera());
    return [left + ((x + 1) / 2) * width, top + ((1 - y) / 2) * height];
  }

  #metresPerPx(at: Vector3): number {
    const { position, fov } = this.#camera();
    const height = 2 * position.distanceTo(at) * Math.tan((fov * Math.PI) / 360);
    return height / this.#canvas.clientHeight;
  }
}
