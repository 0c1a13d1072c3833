import type { PerspectiveCamera, Vector3 } from 'three';
import { create, setText } from '../dom.ts';

const MARGIN_PX = 26;

/** An arrow at the edge of the view for each thing that has left it. */
export class EdgeArrows {
  readonly #arrows = new Map<string, HTMLElement>();
  readonly #root: HTMLElement;

  constructor(root: HTMLElement) {
    this.#root = root;
  }

  /** Null: nothing to point to. */
  update(name: string, at: Vector3 | null, camera: PerspectiveCamera): void {
    const ndc = at === null ? null : at.clone().project(camera);
    const isBehind = ndc !== null && ndc.z > 1;
    const isVisible = ndc === null || (!isBehind && Math.abs(ndc.x) <= 1 && Math.abs(ndc.y) <= 1);
    const arrow = this.#arrows.get(name);
    if (isVisible || ndc === null) {
      if (arrow) arrow.hidden = true;
      return;
    }
    const sign = isBehind ? -1 : 1;
    this.#place(arrow ?? this.#create(name), sign * ndc.x, sign * ndc.y);
  }

  #create(name: string): HTMLElement {
    const arrow = create('div', 'edge-arrow');
    const head = create('i');
    const label = create('span');
    setText(label, name);
    arrow.append(head, label);
    arrow.dataset['testid'] = `edge-${name}`;
    this.#arrows.set(name, arrow);
    this.#root.append(arrow);
    return arrow;
  }

  #place(arrow: HTMLElement, x: number, y: number): void {
    arrow.hidden = false;
    const { clientWidth, clientHeight } = this.#root;
    const scale = 1 / Math.max(Math.abs(x), Math.abs(y), 1e-6);
    const px = (0.5 + (x * scale) / 2) * clientWidth;
    const py = (0.5 - (y * scale) / 2) * clientHeight;
    const left = Math.min(clientWidth - MARGIN_PX, Math.max(MARGIN_PX, px));
    const top = Math.min(clientHeight - MARGIN_PX, Math.max(MARGIN_PX, py));
    arrow.style.transform = `translate(${left}px, ${top}px)`;
    arrow.style.setProperty('--turn', `${Math.atan2(-y * clientHeight, x * clientWidth)}rad`);
  }
}
