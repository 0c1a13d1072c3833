import { clutchAdvice } from '../../src/desk/clutch-advice.ts';
import type { SupervisorState } from '../../src/messages/robot-state.ts';
import type { DeskRequest, Telemetry } from '../../src/messages/telemetry.ts';
import { element, setAttribute, setText } from '../dom.ts';
import type { LinkStatus } from '../link/page-link.ts';
import { causeText, limitText } from './labels.ts';

/** Inputs without a clutch of their own. */
const CLUTCHLESS = new Set(['scripted', 'expert', 'joints', 'rctp']);
/** A shorter hold ends without the user. */
const SELF_RELEASE_MS = 1000;
const LASTING_MS = 500;
const WAITING = 'Waiting for telemetry.';
const STARTING = 'Connecting. The robot starts its operator process; this takes a few seconds.';
const isTouchScreen = matchMedia('(pointer: coarse)');
const POWERED: readonly SupervisorState[] = ['armed', 'engaged', 'hold'];

/** The supervisor state to show: `disconnected` without fresh telemetry from the robot. */
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
  #canReengage = false;
  #isWatching = false;
  #limitedSinceMs = Number.POSITIVE_INFINITY;
  #waitingSinceMs = Number.POSITIVE_INFINITY;

  constructor(send: (request: DeskRequest) => void) {
    this.#arm.addEventListener('click', () => send({ kind: this.#canReengage ? 'teleop' : 'arm' }));
    this.#disarm.addEventListener('click', () => send({ kind: 'disarm' }));
    this.#reset.addEventListener('click', () => send({ kind: 'reset' }));
    this.#home.addEventListener('click', () => send({ kind: this.#homing ? 'hold' : 'home' }));
  }

  /** This page may send no requests. */
  setWatching(isWatching: boolean): void {
    this.#isWatching = isWatching;
  }

  /** `stopping`: an e-stop is pending, so arm and reset are disabled. */
  update(telemetry: Telemetry | null, link: LinkStatus, fresh: boolean, stopping: boolean): void {
    const state = believedState(telemetry, fresh);
    setAttribute(this.#badge, 'data-state', state);
    setText(this.#state, state);
    const limit =
      fresh && telemetry?.robot ? limitText(telemetry.robot, telemetry.operator.limitTowards) : '';
    setText(this.#limit, this.#lasting(limit));
    this.#canReengage = this.#waitsForEngage(telemetry, state);
    setText(this.#arm, this.#canReengage ? 'Engage' : 'Arm');
    this.#arm.disabled = (state !== 'idle' && !this.#canReengage) || stopping;
    this.#disarm.disabled = !POWERED.includes(state);
    this.#showMode(telemetry, POWERED.includes(state), stopping);
    setText(this.#cause, telemetry === null ? waitingText(link) : this.#explain(telemetry, fresh, state));
    this.#reset.disabled = state !== 'stopped' || stopping;
    this.#reset.classList.toggle('primary', state === 'stopped');
    this.#arm.classList.toggle('primary', state === 'idle' || this.#canReengage);
  }

  /** A limit that passes within half a second is no news; one that goes on changes its words with its numbers. */
  #lasting(limit: string): string {
    const nowMs = performance.now();
    if (limit === '') this.#limitedSinceMs = Number.POSITIVE_INFINITY;
    else this.#limitedSinceMs = Math.min(this.#limitedSinceMs, nowMs);
    return nowMs - this.#limitedSinceMs >= LASTING_MS ? limit : '';
  }

  /** After a hold, an input without a clutch waits until this page requests teleop. */
  #waitsForEngage(telemetry: Telemetry | null, state: SupervisorState): boolean {
    const { active = '', clutch = false } = telemetry?.input ?? {};
    const waits = state === 'hold' && telemetry?.operator.mode === 'hold' && clutch && CLUTCHLESS.has(active);
    if (!waits) this.#waitingSinceMs = Number.POSITIVE_INFINITY;
    else this.#waitingSinceMs = Math.min(this.#waitingSinceMs, performance.now());
    return performance.now() - this.#waitingSinceMs >= SELF_RELEASE_MS;
  }

  #showMode(telemetry: Telemetry | null, powered: boolean, stopping: boolean): void {
    const mode = powered ? (telemetry?.operator.mode ?? 'hold') : 'hold';
    this.#homing = mode === 'home';
    this.#home.disabled = !powered || stopping;
    setText(this.#home, this.#homing ? 'Hold' : 'Home');
    this.#home.classList.toggle('primary', this.#homing);
    this.#mode.hidden = !powered || mode === 'hold';
    setText(this.#mode, mode);
  }

  #explain(telemetry: Telemetry, fresh: boolean, state: SupervisorState): string {
    if (!fresh) return `No telemetry. Last state: ${telemetry.robot?.state ?? 'disconnected'}.`;
    if (this.#homing) return 'Moving to the home pose. Press Hold to interrupt.';
    return causeText(state, state === 'disconnected' ? '' : (telemetry.robot?.cause ?? ''), {
      input: telemetry.input.active,
      isSilent: telemetry.input.status !== 'ok',
      isTouch: isTouchScreen.matches,
      clutchAdvice: clutchAdvice(telemetry),
      isWatching: this.#isWatching,
    });
  }
}

/** Before the first telemetry. */
function waitingText(link: LinkStatus): string {
  if (link === 'closed') return 'Not connected.';
  return document.body.dataset['console'] === 'robot' ? STARTING : WAITING;
}
