import {
  centreHand,
  isAtEdge,
  isBlocked,
  moveTarget,
  restingHand,
  stepHand,
  stopHand,
} from '../../src/desk/page-hand.ts';
import type { SupervisorState } from '../../src/messages/robot-state.ts';
import type { DeskRequest, Telemetry } from '../../src/messages/telemetry.ts';
import { element, setAttribute, setText } from '../dom.ts';
import { Clutch, type ClutchSource } from './clutch.ts';
import { EngageButton } from './engage-button.ts';
import { gamepad, type RecordAct, stepByGamepad } from './gamepad.ts';
import { listenToDriveKeys } from './keys.ts';
import { Pads } from './pads.ts';
import { SpaceMouse } from './spacemouse.ts';

export interface DriveSenders {
  /** May drop the hand sample. */
  unreliable(request: DeskRequest): void;
  /** For clutch changes, which must arrive. */
  reliable(request: DeskRequest): void;
  /** Requested on a gamepad. */
  estop(): void;
  recordAct(act: RecordAct): void;
}

const PERIOD_MS = 20;
const ENGAGEABLE: readonly SupervisorState[] = ['armed', 'engaged', 'hold'];

/** The page as an input device: builds a hand sample from keys, pointer and gamepad, and sends it at 50 Hz. */
export class Drive {
  readonly #panel = element('drive', HTMLElement);
  readonly #gripperButton = element('gripper', HTMLButtonElement);
  readonly #gripperText = element('gripper-text', HTMLElement);
  readonly #centreButton = element('recentre', HTMLButtonElement);
  readonly #hand = restingHand();
  readonly #clutch = new Clutch();
  readonly #engage = new EngageButton(this.#clutch, () => this.#clutchChanged());
  readonly #pads = new Pads(this.#hand, (pad, down) => this.#source(pad, down));
  readonly #spaceMouse = new SpaceMouse(() => this.#active && this.#toggleGripper());
  readonly #held: ReadonlySet<string>;
  readonly #send: DriveSenders;
  #active = false;
  #wasEngaged = false;
  #wasClosed = false;
  #lastMs = 0;
  #shoulder = false;
  #wasEstop = false;
  #record = false;
  #wasHandBack = false;
  #isInterrupted = false;
  #recordAct: RecordAct | null = null;

  constructor(send: DriveSenders) {
    this.#send = send;
    this.#held = listenToDriveKeys(() => this.#active, {
      onShift: (down) => this.#source('shift', down),
      onGripper: () => this.#toggleGripper(),
      onCentre: () => this.#centre(),
      onHandBack: () => this.#handBack(),
    });
    this.#gripperButton.addEventListener('click', () => this.#toggleGripper());
    this.#centreButton.addEventListener('click', () => this.#centre());
    const release = () => this.releaseClutch();
    window.addEventListener('blur', release);
    window.addEventListener('pagehide', release);
    document.addEventListener('visibilitychange', release);
    setInterval(() => this.#tick(performance.now()), PERIOD_MS);
  }

  /** Call with each telemetry message, and with `connected` false when telemetry stops. */
  update(connected: boolean, telemetry: Telemetry | null, state: SupervisorState): void {
    const active = connected && telemetry !== null && isDrivable(telemetry);
    this.#isInterrupted = telemetry?.operator.isInterrupted === true;
    if (this.#wasEngaged && state !== 'engaged') this.releaseClutch();
    this.#wasEngaged = state === 'engaged';
    const permitted = active && ENGAGEABLE.includes(state);
    if (this.#clutch.closed && !permitted) this.releaseClutch();
    this.#active = active;
    this.#clutch.permit(permitted);
    this.#panel.hidden = !active;
    document.body.classList.toggle('driving', active);
    this.#draw();
  }

  /** Dragging the hand in the 3D view; the robot follows until release. */
  readonly drag = {
    mayDrag: () => this.#active && this.#clutch.permitted,
    onGrab: () => this.#source('drag', true),
    onMove: (deltaM: [number, number, number]) => moveTarget(this.#hand, deltaM, 1),
    onRelease: () => this.#source('drag', false),
  };

  /** The hand can move no further in the direction of this driving key. */
  readonly isBlocked = (code: string): boolean => isBlocked(this.#hand, code);

  /** Opens the clutch and sends that at once. Legal at any time. */
  releaseClutch(): void {
    const wasClosed = this.#clutch.closed;
    this.#clutch.open();
    if (wasClosed) this.#clutchChanged();
  }

  #source(source: ClutchSource, down: boolean): void {
    if (this.#clutch.has(source) === down) return;
    if (down) this.#clutch.press(source);
    else this.#clutch.release(source);
    this.#clutchChanged();
  }

  /** A shoulder button that is still down after the clutch opened does not close it again. */
  #byGamepad(elapsedS: number): void {
    const pad = gamepad();
    if (pad === null) return this.#source('gamepad', false);
    const { clutch, estop, record, handBack, recordAct } = stepByGamepad(pad, this.#hand, elapsedS);
    this.#record = record;
    if (estop && !this.#wasEstop) this.#send.estop();
    this.#wasEstop = estop;
    if (handBack && !this.#wasHandBack) this.#handBack();
    this.#wasHandBack = handBack;
    if (recordAct !== null && recordAct !== this.#recordAct) this.#send.recordAct(recordAct);
    this.#recordAct = recordAct;
    if (clutch !== this.#shoulder) this.#source('gamepad', clutch);
    this.#shoulder = clutch;
  }

  #handBack(): void {
    if (!this.#isInterrupted) return;
    this.releaseClutch();
    this.#send.reliable({ kind: 'hand-back' });
  }

  #clutchChanged(): void {
    const { closed } = this.#clutch;
    if (closed && !this.#wasClosed) stopHand(this.#hand);
    this.#wasClosed = closed;
    this.#send.reliable(this.#request());
    this.#draw();
  }

  #toggleGripper(): void {
    this.#hand.gripperTarget = this.#hand.gripperTarget === 0 ? 1 : 0;
    this.#draw();
  }

  /** Only while the clutch is open: the hand moves to the centre, the robot stays. */
  #centre(): void {
    if (this.#clutch.closed) return;
    centreHand(this.#hand);
  }

  #tick(nowMs: number): void {
    const elapsedS = (nowMs - this.#lastMs) / 1000;
    this.#lastMs = nowMs;
    if (!this.#active) return;
    this.#byGamepad(elapsedS);
    this.#spaceMouse.step(this.#hand, elapsedS);
    stepHand(this.#hand, this.#held, elapsedS);
    this.#send.unreliable(this.#request());
    this.#pads.draw();
  }

  #request(): DeskRequest {
    const { positionM, gripper } = this.#hand;
    const quatXyzw = [...this.#hand.quatXyzw];
    const takenMs = performance.now();
    const record = this.#record;
    return { kind: 'hand', positionM, quatXyzw, gripper, clutch: this.#clutch.closed, takenMs, record };
  }

  #draw(): void {
    this.#engage.draw(isAtEdge(this.#hand));
    this.#panel.classList.toggle('engaged', this.#clutch.closed);
    this.#centreButton.disabled = this.#clutch.closed;
    setAttribute(this.#gripperButton, 'aria-pressed', String(this.#hand.gripperTarget === 1));
    setText(this.#gripperText, this.#hand.gripperTarget === 1 ? 'closed' : 'open');
  }
}

/** The page's own input is active, or could take over from a policy. */
const isDrivable = ({ input, operator }: Telemetry): boolean =>
  input.active === 'page' || (operator.driver === 'policy' && input.available.includes('page'));
