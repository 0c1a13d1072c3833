import type { SupervisorState } from '../../src/messages/robot-state.ts';
import type { DeskRequest, Telemetry } from '../../src/messages/telemetry.ts';
import { element, setAttribute, setText } from '../dom.ts';
import { causeText, limitText } from './words.ts';

/** Inputs that follow without anybody closing a clutch. */
const CLUTCHLESS = new Set(['scripted', 'joints', 'rctp']);
/** A shorter hold ends by itself. */
const BARRED_MS = 1000;
const WAITING = 'Waiting for the first message.';
const STARTING = 'Connecting: what drives it is started at the robot. That takes a few seconds.';
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
  #engages = false;
  #barredMs = Number.POSITIVE_INFINITY;

  constructor(send: (request: DeskRequest) => void) {
    this.#arm.addEventListener('click', () => send({ kind: this.#engages ? 'teleop' : 'arm' }));
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
    this.#engages = this.#isBarred(telemetry, state);
    setText(this.#arm, this.#engages ? 'Engage' : 'Arm');
    this.#arm.disabled = (state !== 'idle' && !this.#engages) || stopping;
    this.#disarm.disabled = !POWERED.includes(state);
    this.#showMode(telemetry, POWERED.includes(state), stopping);
    setText(this.#cause, this.#explain(telemetry, fresh, state));
    this.#reset.disabled = state !== 'stopped' || stopping;
    this.#reset.classList.toggle('primary', state === 'stopped');
    this.#arm.classList.toggle('primary', state === 'idle' || this.#engages);
  }

  /** An input without a clutch of its own waits to be asked back after a hold; this page has to have the word for it. */
  #isBarred(telemetry: Telemetry | null, state: SupervisorState): boolean {
    const { active = '', clutch = false } = telemetry?.input ?? {};
    const waits = state === 'hold' && telemetry?.operator.mode === 'hold' && clutch && CLUTCHLESS.has(active);
    if (!waits) this.#barredMs = Number.POSITIVE_INFINITY;
    else this.#barredMs = Math.min(this.#barredMs, performance.now());
    return performance.now() - this.#barredMs >= BARRED_MS;
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
    if (telemetry === null) return document.body.dataset['console'] === 'robot' ? STARTING : WAITING;
    if (!fresh) return `No news. Last seen ${telemetry.robot?.state ?? 'disconnected'}.`;
    if (this.#homing) return 'Driving home; Stop ends it.';
    return causeText(state, state === 'disconnected' ? '' : (telemetry.robot?.cause ?? ''));
  }
}
