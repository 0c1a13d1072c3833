import {
  changed,
  DEFAULT_LAYOUT,
  type Dock,
  docksOf,
  moved,
  type PanelLayout,
  type PanelName,
  type PanelPlace,
} from '../../src/desk/panel-layout.ts';
import { create } from '../dom.ts';

const NAMES: Record<PanelName, string> = {
  ...{ cameras: 'Cameras', task: 'Task', record: 'Record', input: 'Input', fingers: 'Fingers' },
  ...{ motors: 'Motors', latency: 'Hand to actuator', plots: 'Live plots' },
};
const DOCK_NAMES: Record<Dock, string> = {
  right: 'right',
  left: 'left',
  below: 'below',
  view: 'over the view',
};

interface Owner {
  readonly layout: PanelLayout;
  set(layout: PanelLayout): void;
  isEmpty(panel: PanelName): boolean;
}

/** One row per panel: shown, where, and its place there. */
export function drawPanelsMenu(root: HTMLElement, owner: Owner): void {
  const change = (layout: PanelLayout, focus: string) => {
    owner.set(layout);
    drawPanelsMenu(root, owner);
    root.querySelector<HTMLElement>(`[data-testid="${focus}"]`)?.focus();
  };
  const reset = button('panels-reset', 'Reset layout', () => change(DEFAULT_LAYOUT, 'panels-reset'));
  root.replaceChildren(...owner.layout.map((place) => rowOf(place, owner, change)), reset);
}

function rowOf(
  { panel, dock, shown }: PanelPlace,
  owner: Owner,
  change: (layout: PanelLayout, focus: string) => void,
): HTMLElement {
  const row = create('div', 'panel-row');
  const label = create('label');
  const box = create('input') as HTMLInputElement;
  box.type = 'checkbox';
  box.checked = shown;
  box.dataset['testid'] = `panel-${panel}`;
  box.addEventListener('change', () =>
    change(changed(owner.layout, panel, { shown: box.checked }), `panel-${panel}`),
  );
  // A robot without fingers, say, has no such panel.
  label.append(box, ` ${NAMES[panel]}${owner.isEmpty(panel) ? ' (not on this robot)' : ''}`);
  const select = create('select') as HTMLSelectElement;
  select.dataset['testid'] = `dock-${panel}`;
  select.setAttribute('aria-label', `Where ${NAMES[panel]} is`);
  for (const each of docksOf(panel))
    select.add(new Option(DOCK_NAMES[each], each, each === dock, each === dock));
  select.addEventListener('change', () =>
    change(changed(owner.layout, panel, { dock: select.value as Dock }), `dock-${panel}`),
  );
  const step = (by: -1 | 1, sign: string, word: string) => {
    const made = button(`${word}-${panel}`, sign, () =>
      change(moved(owner.layout, panel, by), `${word}-${panel}`),
    );
    made.setAttribute('aria-label', `Move ${NAMES[panel]} ${word}`);
    return made;
  };
  row.append(label, select, step(-1, '↑', 'up'), step(1, '↓', 'down'));
  return row;
}

function button(testid: string, text: string, act: () => void): HTMLButtonElement {
  const made = create('button', 'plain', text) as HTMLButtonElement;
  made.type = 'button';
  made.dataset['testid'] = testid;
  made.addEventListener('click', act);
  return made;
}
