import type { Plant } from '../plant.ts';
import { XarmGripper } from '../xarm-gripper/gripper.ts';

const JOINTS = 6;
export const STEP_S = 0.004;
const MAX_RAD_S = Math.PI;
const MAX_RAD_S2 = 20;
/** A servo target farther away than this is beyond the joints' speed: error 24. */
const MAX_LEAP_RAD = 0.5;
const LIMITS_RAD = [
  [-6.2832, 6.2832],
  [-2.059, 2.0944],
  [-3.927, 0.19198],
  [-6.2832, 6.2832],
  [-1.69297, Math.PI],
  [-6.2832, 6.2832],
] as const;
const HOME_RAD = [0, -0.5, -1, 0, 1.5, 0];

export const ERROR = { estopButton: 1, jointLimit: 23, speed: 24, collision: 31 } as const;
const STATE = { motion: 0, moving: 1, atRest: 2, stopped: 4 } as const;

/**
 * Motors, mode, state and errors of a control box, and joints that move to a servo target with limited speed
 * and acceleration. No gravity, no inertia between joints: an approximation.
 */
export class ControlBox {
  /** The set-point; also where the joints are, unless a plant follows it. */
  readonly positionsRad: number[];
  readonly plant: Plant | null;
  readonly velocitiesRadS = new Array<number>(JOINTS).fill(0);
  mode = 0;
  errorCode = 0;
  warningCode = 0;
  motorsOn = false;
  commands = 0;
  /** Closes the plant's gripper without the tool; 1 is closed. */
  gripper = 0;
  /** On the tool's RS485 line. */
  readonly tool = new XarmGripper();
  /** Overrides the encoder readings; null: the true positions. */
  encodersRad: readonly number[] | null = null;
  /** Called with the reason when the arm is stopped. */
  onStop: (why: string) => void = () => {};
  #running = false;
  #targetRad: readonly number[] | null = null;
  #estop = false;

  constructor(plant: Plant | null = null) {
    this.plant = plant;
    this.positionsRad = [...(plant?.positionsRad ?? HOME_RAD)];
  }

  get actualRad(): readonly number[] {
    return this.plant === null ? this.positionsRad : [...this.plant.positionsRad];
  }

  /** As reported. */
  get state(): number {
    if (!this.#running) return STATE.stopped;
    return this.velocitiesRadS.some((velocity) => velocity !== 0) ? STATE.moving : STATE.atRest;
  }

  setState(state: number): void {
    if (state === STATE.stopped) this.onStop('state 4');
    this.#targetRad = null;
    this.#running = state === STATE.motion && this.errorCode === 0 && this.motorsOn;
  }

  /** A change of mode takes effect with the next state 0. */
  setMode(mode: number): void {
    this.mode = mode;
    this.#targetRad = null;
    this.#running = false;
  }

  enableMotors(on: boolean): void {
    this.motorsOn = on && !this.#estop;
    if (!this.motorsOn) this.#running = false;
  }

  clearError(): void {
    this.errorCode = this.#estop ? ERROR.estopButton : 0;
  }

  fail(code: number): void {
    this.onStop(`error ${code}`);
    this.errorCode = code;
    this.#running = false;
    this.#targetRad = null;
  }

  estop(pressed: boolean): void {
    this.#estop = pressed;
    if (!pressed) return;
    this.motorsOn = false;
    this.fail(ERROR.estopButton);
  }

  /** False unless in servo mode and motion. */
  servo(targetRad: readonly number[]): boolean {
    if (!this.#running || this.mode !== 1) return false;
    this.commands++;
    const beyond = LIMITS_RAD.some(([min, max], i) => targetRad[i]! < min || targetRad[i]! > max);
    const leap = targetRad.some((rad, i) => Math.abs(rad - this.positionsRad[i]!) > MAX_LEAP_RAD);
    if (beyond) this.fail(ERROR.jointLimit);
    else if (leap) this.fail(ERROR.speed);
    else this.#targetRad = targetRad;
    return true;
  }

  step(): void {
    for (let i = 0; i < JOINTS; i++) {
      const error = this.#targetRad === null ? 0 : this.#targetRad[i]! - this.positionsRad[i]!;
      const speed = Math.min(
        MAX_RAD_S,
        Math.sqrt(2 * MAX_RAD_S2 * Math.abs(error)),
        Math.abs(error) / STEP_S,
      );
      const change = Math.sign(error) * speed - this.velocitiesRadS[i]!;
      const most = MAX_RAD_S2 * STEP_S;
      this.velocitiesRadS[i]! += Math.max(-most, Math.min(most, change));
      this.positionsRad[i]! += this.velocitiesRadS[i]! * STEP_S;
    }
    this.tool.step(STEP_S);
    const { fingers } = this.tool;
    this.plant?.step(STEP_S, this.positionsRad, Math.max(this.gripper, fingers.position));
    if (this.plant !== null) fingers.sensed = this.plant.gripper;
  }
}
