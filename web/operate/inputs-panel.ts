import type { InputReport } from '../../src/messages/console.ts';
import type { DeskRequest, Telemetry } from '../../src/messages/telemetry.ts';
import { create, element, setAttribute, setText } from '../dom.ts';
import { gamepad } from '../drive/gamepad.ts';
import {
  inputHint,
  inputLabel,
  milliseconds,
  PAGE_METHODS,
  type PageMethod,
  sentence,
} from '../panels/labels.ts';

const PAGE = 'page';
/** Programs choose this one by themselves, for a replay or a policy. */
const JOINTS = 'joints';
const isTouchScreen = matchMedia('(pointer: coarse)');

/** Selects the input; the page itself counts as three. Lists the inputs this rig lacks and how to enable them. */
export class InputsPanel {
  readonly #list = element('inputs', HTMLElement);
  readonly #hint = element('input-hint', HTMLElement);
  readonly #signal = element('input-signal', HTMLElement);
  readonly #missing = element('inputs-missing', HTMLDetailsElement);
  readonly #send: (request: DeskRequest) => void;
  #method: PageMethod = 'keyboard';
  #names = '';

  constructor(send: (request: DeskRequest) => void) {
    this.#send = send;
  }

  get method(): PageMethod {
    return this.#method;
  }

  update(telemetry: Telemetry, fresh: boolean): void {
    const { active } = telemetry.input;
    const available = telemetry.input.available.filter((name) => name !== JOINTS || name === active);
    const names = available.join('\n');
    if (names !== this.#names) {
      this.#names = names;
      this.#list.replaceChildren(...available.flatMap((name) => this.#buttons(name)));
    }
    for (const button of this.#list.querySelectorAll('button')) {
      const { name, method } = button.dataset;
      const chosen = name === active && (method === undefined || method === this.#method);
      setAttribute(button, 'aria-pressed', String(chosen));
      button.disabled = !fresh;
    }
    setText(this.#hint, this.#advice(active));
    setText(this.#signal, fresh ? signalText(telemetry) : '—');
  }

  /** Lists the inputs that this rig lacks. */
  setReports(reports: readonly InputReport[]): void {
    const missing = reports.filter(({ offered }) => !offered);
    this.#missing.hidden = missing.length === 0;
    const title = `${missing.length} more ${missing.length === 1 ? 'input' : 'inputs'}: how to enable`;
    setText(element('inputs-missing-title', HTMLElement), title);
    element('inputs-missing-list', HTMLElement).replaceChildren(
      ...missing.flatMap(({ name, about, missing: need }) => [
        create('dt', '', inputLabel(name)),
        create('dd', '', `${sentence(about)}. ${sentence(need)}.`),
      ]),
    );
  }

  #advice(active: string): string {
    if (active !== PAGE) return inputHint(active);
    if (this.#method === 'gamepad' && gamepad() === null)
      return 'No gamepad found. Connect one and press any button.';
    const { hint, touchHint } = PAGE_METHODS[this.#method];
    return isTouchScreen.matches ? touchHint : hint;
  }

  #buttons(name: string): HTMLElement[] {
    if (name !== PAGE) return [this.#button(name, inputLabel(name), null)];
    return Object.entries(PAGE_METHODS).map(([method, { label, touchLabel }]) =>
      this.#button(name, isTouchScreen.matches ? touchLabel : label, method as PageMethod),
    );
  }

  #button(name: string, label: string, method: PageMethod | null): HTMLElement {
    const button = create('button', '', label);
    button.setAttribute('type', 'button');
    button.dataset['name'] = name;
    if (method) button.dataset['method'] = method;
    button.dataset['testid'] = `input-${method === null || method === 'keyboard' ? name : method}`;
    button.addEventListener('click', () => {
      if (method) this.#method = method;
      this.#send({ kind: 'input', name });
    });
    return button;
  }
}

function signalText({ input }: Telemetry): string {
  if (input.status === 'none') return 'no signal';
  if (input.status === 'stale') return 'stale';
  const rate = input.rateHz === null ? '' : `${Math.round(input.rateHz)} Hz`;
  const jitter = input.jitterMs === null ? '' : `jitter ${milliseconds(input.jitterMs)} ms`;
  return [rate, jitter].filter(Boolean).join(' · ') || (input.clutch ? 'engaged' : 'tracking');
}
