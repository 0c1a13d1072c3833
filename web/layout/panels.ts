import { type Dock, type PanelLayout, type PanelName, parseLayout } from '../../src/desk/panel-layout.ts';
import { element, setAttribute } from '../dom.ts';

const KEY = 'farhand-panels';
/** The element of each panel. */
const IDS: Record<PanelName, string> = {
  ...{ cameras: 'cameras', task: 'task', record: 'record', input: 'input-card', fingers: 'fingers' },
  ...{ motors: 'motors', latency: 'latency-card', plots: 'plots' },
};

/** Shows, hides and docks the panels of the Operate page as the person left them. */
export class Panels {
  readonly #docks: Record<Dock, HTMLElement> = {
    right: element('dock-right', HTMLElement),
    left: element('dock-left', HTMLElement),
    below: element('dock-below', HTMLElement),
    view: element('scene', HTMLElement),
  };
  readonly #button = element('panels-open', HTMLButtonElement);
  readonly #menu = element('panels-menu', HTMLElement);
  /** One column: everything is below the view. */
  readonly #isNarrow = matchMedia('(max-width: 820px)');
  readonly #onPlots: (shown: boolean) => void;
  #layout = parseLayout(remembered());

  /** `onPlots`: called with whether the live plots are shown. */
  constructor(onPlots: (shown: boolean) => void) {
    this.#onPlots = onPlots;
    this.#button.addEventListener('click', () => void this.#toggleMenu());
    this.#isNarrow.addEventListener('change', () => this.#apply());
    document.addEventListener('pointerdown', ({ target }) => {
      const isOutside =
        target instanceof Node && ![this.#menu, this.#button].some((at) => at.contains(target));
      if (isOutside) this.#open(false);
    });
    this.#apply();
  }

  get layout(): PanelLayout {
    return this.#layout;
  }

  /** This robot has nothing to show there. */
  isEmpty(panel: PanelName): boolean {
    return element(IDS[panel], HTMLElement).hasAttribute('hidden');
  }

  set(layout: PanelLayout): void {
    this.#layout = layout;
    try {
      localStorage.setItem(KEY, JSON.stringify(layout));
    } catch {
      // Storage is blocked: kept until the page is reloaded.
    }
    this.#apply();
    // The button may have moved.
    this.#place();
  }

  #apply(): void {
    for (const { panel, dock, shown } of this.#layout) {
      const node = element(IDS[panel], HTMLElement);
      const at = this.#isNarrow.matches && dock !== 'view' ? 'right' : dock;
      this.#docks[at].append(node);
      node.classList.toggle('panel-off', !shown);
      node.classList.toggle('docked', at !== 'view');
    }
    for (const dock of ['left', 'below'] as const) {
      const isUsed =
        this.#layout.some((place) => place.dock === dock && place.shown) && !this.#isNarrow.matches;
      this.#docks[dock].hidden = !isUsed;
    }
    this.#onPlots(this.#layout.some(({ panel, shown }) => panel === 'plots' && shown));
  }

  async #toggleMenu(): Promise<void> {
    if (!this.#menu.hidden) return this.#open(false);
    const { drawPanelsMenu } = await import('./panels-menu.ts');
    drawPanelsMenu(this.#menu, this);
    this.#place();
    this.#open(true);
    this.#menu.querySelector('input')?.focus();
  }

  /** Below its button, inside the window. */
  #place(): void {
    const { bottom, right } = this.#button.getBoundingClientRect();
    this.#menu.style.top = `${bottom + 6}px`;
    this.#menu.style.right = `${Math.max(8, innerWidth - right)}px`;
  }

  #open(open: boolean): void {
    if (!open && this.#menu.contains(document.activeElement)) this.#button.focus();
    this.#menu.hidden = !open;
    setAttribute(this.#button, 'aria-expanded', String(open));
  }
}

function remembered(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
