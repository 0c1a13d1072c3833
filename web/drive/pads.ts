import { BOX_M, moveTarget, type PageHand } from '../../src/desk/page-hand.ts';
import { element } from '../dom.ts';

/** Of a finger or pointer, the same in both directions: fine enough to grip a cube, and the next stroke goes on. */
const DRAG_M_PER_PX = 0.0015;
const WHEEL_M_PER_PX = 0.0004;
const WHEEL_LINE_PX = 16;
const MAX_WHEEL_M = 0.04;

export type PadName = 'pad' | 'rail';

/**
 * The two pointer surfaces: a square for left/right and up/down, a rail for depth. Dragging is relative. A finger on one is
 * reported, so that touching is holding the clutch.
 */
export class Pads {
  readonly #pad = element('pad', HTMLElement);
  readonly #padDot = element('pad-dot', HTMLElement);
  readonly #rail = element('rail', HTMLElement);
  readonly #railDot = element('rail-dot', HTMLElement);
  readonly #hand: PageHand;

  constructor(hand: PageHand, onTouch: (pad: PadName, down: boolean) => void) {
    this.#hand = hand;
    const touch = (name: PadName) => (down: boolean) => onTouch(name, down);
    onDrag(this.#pad, touch('pad'), (dx, dy) => moveTarget(hand, [dx, -dy, 0], DRAG_M_PER_PX));
    onDrag(this.#rail, touch('rail'), (_, dy) => moveTarget(hand, [0, 0, dy], DRAG_M_PER_PX));
    for (const surface of [this.#pad, this.#rail]) {
      surface.addEventListener('wheel', (event) => this.#wheel(event), { passive: false });
    }
  }

  draw(): void {
    const [x, y, z] = this.#hand.positionM.map((value) => value / BOX_M) as [number, number, number];
    const { clientWidth, clientHeight } = this.#pad;
    this.#padDot.style.transform = `translate(${(x * clientWidth) / 2.3}px, ${(-y * clientHeight) / 2.3}px)`;
    this.#railDot.style.transform = `translateY(${(z * this.#rail.clientHeight) / 2.3}px)`;
  }

  /** Scrolling up moves the hand forward. With Shift held, browsers report the wheel sideways. */
  #wheel(event: WheelEvent): void {
    event.preventDefault();
    const turn = event.deltaY || event.deltaX;
    const px = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? turn : turn * WHEEL_LINE_PX;
    const metres = Math.max(-MAX_WHEEL_M, Math.min(MAX_WHEEL_M, px * WHEEL_M_PER_PX));
    moveTarget(this.#hand, [0, 0, 1], metres);
  }
}

function onDrag(
  surface: HTMLElement,
  onTouch: (down: boolean) => void,
  move: (dxPx: number, dyPx: number) => void,
): void {
  let pointer = -1;
  let last = [0, 0] as [number, number];
  surface.addEventListener('pointerdown', (event) => {
    if (pointer !== -1 || event.button !== 0) return;
    pointer = event.pointerId;
    last = [event.clientX, event.clientY];
    surface.setPointerCapture(pointer);
    surface.classList.add('dragging');
    if (event.pointerType === 'touch') onTouch(true);
  });
  surface.addEventListener('pointermove', (event) => {
    if (event.pointerId !== pointer) return;
    move(event.clientX - last[0], event.clientY - last[1]);
    last = [event.clientX, event.clientY];
  });
  const end = (event: PointerEvent) => {
    if (event.pointerId !== pointer) return;
    pointer = -1;
    surface.classList.remove('dragging');
    onTouch(false);
  };
  surface.addEventListener('pointerup', end);
  surface.addEventListener('pointercancel', end);
  surface.addEventListener('lostpointercapture', end);
}
