import type { SupervisorState } from '../../src/core/messages.ts';
import type { DeskRequest, Telemetry } from '../../src/core/telemetry.ts';
import { element, setAttribute, setText } from '../dom.ts';
import { causeText, limitText } from './words.ts';

const POWERED: readonly SupervisorState[] = ['armed', 'engaged', 'hold'];

/** The supervisor as the page believes it to be: no fresh word from the robot means `disconnected`. */
export function believedState(telemetry: Telemetry | null, fresh: boolean): SupervisorState {
  if (!fresh || !telemetry?.robot || !telemetry.link.connected) return 'disconnected';
  return telemetry.robot.state;
}

export class StatePanel {
  readonly #badge = element('badge', HTMLElement);
  readonly #state = element('state', HTMLElement);
  readonly #cause = element('cause', HTMLElement);
  readonly #limit = element('limit', HTMLElement);
  readonly #arm = element('arm', HTMLButtonElement);
  readonly #disarm = element('disarm', HTMLButtonElement);
  readonly #reset = element('reset', HTMLButtonElement);
  readonly #home = element('home', HTMLButtonElement);
  readonly #mode = element('mode', HTMLElement);
  #homing = false;

  constructor(send: (request: DeskRequest) => void) {
    this.#arm.addEventListener('click', () => send({ kind: 'arm' }));
    this.#disarm.addEventListener('click', () => send({ kind: 'disarm' }));
    this.#reset.addEventListener('click', () => send({ kind: 'reset' }));
    this.#home.addEventListener('click', () => send({ kind: this.#homing ? 'hold' : 'home' }));
  }

  /** `stopping`: an e-stop is on its way, so nothing may be armed or reset meanwhile. */
  update(telemetry: Telemetry | null, fresh: boolean, stopping: boolean): void {
    const state = believedState(telemetry, fresh);
    setAttribute(this.#badge, 'data-state', state);
    setText(this.#state, state);
    setText(this.#limit, fresh && telemetry?.robot ? limitText(telemetry.robot) : '');
    this.#arm.disabled = state !== 'idle' || stopping;
    this.#disarm.disabled = !POWERED.includes(state);
    this.#showMode(telemetry, POWERED.includes(state), stopping);
    setText(this.#cause, this.#explain(telemetry, fresh, state));
    this.#reset.disabled = state !== 'stopped' || stopping;
    this.#reset.classList.toggle('primary', state === 'stopped');
    this.#arm.classList.toggle('primary', state === 'idle');
  }

  #showMode(telemetry: Telemetry | null, powered: boolean, stopping: boolean): void {
    const mode = powered ? (telemetry?.operator.mode ?? 'hold') : 'hold';
    this.#homing = mode === 'home';
    this.#home.disabled = !powered || stopping;
    setText(this.#home, this.#homing ? 'Stop' : 'Home');
    this.#home.classList.toggle('primary', this.#homing);
    this.#mode.hidden = !powered || mode === 'hold';
    setText(this.#mode, mode);
  }

  #explain(telemetry: Telemetry | null, fresh: boolean, state: SupervisorState): string {
    if (telemetry === null) return 'Waiting for the first message.';
    if (!fresh) return `No news. Last seen ${telemetry.robot?.state ?? 'disconnected'}.`;
    if (this.#homing) return 'Driving home; Stop ends it.';
    return causeText(state, state === 'disconnected' ? '' : (telemetry.robot?.cause ?? ''));
  }
}
