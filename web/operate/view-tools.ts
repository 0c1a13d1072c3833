import { element, setAttribute } from '../dom.ts';
import type { RobotView } from '../view/robot-view.ts';
import type { ViewPreset } from '../view/view-camera.ts';

/** The buttons over the 3D view: where to look from, following, and the collision shapes. */
export class ViewTools {
  constructor(view: RobotView | null) {
    const presets = [...element('view-presets', HTMLFieldSetElement).querySelectorAll('button')];
    const press = (chosen: string) => {
      for (const button of presets)
        setAttribute(button, 'aria-pressed', String(button.dataset['view'] === chosen));
    };
    for (const button of presets)
      button.addEventListener('click', () => {
        press(button.dataset['view'] ?? '');
        view?.look(button.dataset['view'] as ViewPreset);
      });
    element('view', HTMLCanvasElement).addEventListener('dblclick', () => press('shoulder'));
    toggle('view-follow', (on) => view?.follow(on));
    toggle('capsules', (on) => view?.showShapes(on));
  }
}

function toggle(id: string, act: (on: boolean) => void): void {
  const button = element(id, HTMLButtonElement);
  button.addEventListener('click', () => {
    const on = button.getAttribute('aria-pressed') !== 'true';
    setAttribute(button, 'aria-pressed', String(on));
    act(on);
  });
}
