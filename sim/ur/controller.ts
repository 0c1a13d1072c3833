import type { Plant } from '../plant.ts';
import type { RobotiqGripper } from '../robotiq-2f/gripper.ts';
import { Arm } from './arm.ts';
import type { UrProgram } from './program.ts';

export type Series = 'cb3' | 'e';

export const MODE = { booting: 2, powerOff: 3, powerOn: 4, idle: 5, running: 7 } as const;
export const SAFETY = {
  normal: 1,
  protectiveStop: 3,
  safeguardStop: 5,
  systemEstop: 6,
  robotEstop: 7,
} as const;

/** How long power and brakes take; a real arm needs about ten seconds. */
const BOOT_S = 0.3;
const BRAKE_S = 0.3;
const UNLOCK_AFTER_S = 5;
/** Multiple of a joint's travel at top speed in the lookahead; beyond it the path deviation is too large. */
const MAX_STRAIN = 2;
const HOME_RAD = [Math.PI, -Math.PI / 2, Math.PI / 2, -Math.PI / 2, -Math.PI / 2, 0];

/** Power, brakes, safety system, arm and the one program that runs, in steps of the controller's period. */
export class UrController {
  readonly series: Series;
  readonly stepS: number;
  /** The set-point that the controller computes; also where the joints are, unless a plant follows it. */
  readonly arm: Arm;
  readonly plant: Plant | null;
  robotMode: number = MODE.powerOff;
  safetyMode: number = SAFETY.normal;
  remoteControl = true;
  toolOutputs = 0;
  /** On the tool's connector, behind the URCap's socket. */
  gripper: RobotiqGripper | null = null;
  /** Overrides the encoder readings; null: the true positions. */
  encodersRad: readonly number[] | null = null;
  /** Called with the reason when the arm is stopped. */
  onStop: (why: string) => void = () => {};
  nowS = 0;
  #program: UrProgram | null = null;
  #nextMode: number | null = null;
  #nextModeS = 0;
  #protectiveS = 0;

  constructor(series: Series, plant: Plant | null = null) {
    this.series = series;
    this.plant = plant;
    this.arm = new Arm(plant === null ? HOME_RAD : [...plant.positionsRad]);
    this.stepS = series === 'cb3' ? 0.008 : 0.002;
  }

  get positionsRad(): ArrayLike<number> & Iterable<number> {
    return this.plant?.positionsRad ?? this.arm.positionsRad;
  }

  get velocitiesRadS(): ArrayLike<number> & Iterable<number> {
    return this.plant?.velocitiesRadS ?? this.arm.velocitiesRadS;
  }

  /** 1 is closed. */
  get gripperPosition(): number {
    return this.gripper?.fingers.position ?? this.toolOutputs & 1;
  }

  get playing(): boolean {
    return this.#program !== null;
  }

  powerOn(): boolean {
    if (this.robotMode !== MODE.powerOff || this.safetyMode !== SAFETY.normal) return false;
    this.#become(MODE.booting, 0);
    this.#become(MODE.idle, BOOT_S);
    return true;
  }

  releaseBrake(): boolean {
    if (this.robotMode === MODE.powerOff && !this.powerOn()) return false;
    if (this.robotMode === MODE.idle) this.#become(MODE.running, BRAKE_S);
    return this.safetyMode === SAFETY.normal;
  }

  powerOff(): void {
    this.endProgram();
    this.arm.halt();
    this.#become(MODE.powerOff, 0);
  }

  /** Only a running robot accepts a program; it replaces the current one. */
  play(program: UrProgram): boolean {
    if (this.robotMode !== MODE.running || this.safetyMode !== SAFETY.normal || !this.remoteControl)
      return false;
    this.endProgram();
    this.#program = program;
    program.start(this);
    return true;
  }

  endProgram(): void {
    this.#program?.end();
    this.#program = null;
  }

  protectiveStop(): void {
    if (this.safetyMode !== SAFETY.normal) return;
    this.onStop('protective stop');
    this.safetyMode = SAFETY.protectiveStop;
    this.#protectiveS = this.nowS;
    this.endProgram();
    this.arm.halt();
  }

  unlockProtectiveStop(): 'done' | 'too-soon' | 'none' {
    if (this.safetyMode !== SAFETY.protectiveStop) return 'none';
    if (this.nowS - this.#protectiveS < UNLOCK_AFTER_S) return 'too-soon';
    this.safetyMode = SAFETY.normal;
    return 'done';
  }

  /** Emergency and safeguard stops. */
  safetyStop(mode: number): void {
    this.onStop(`safety mode ${mode}`);
    this.safetyMode = mode;
    this.endProgram();
    this.arm.halt();
    if (mode !== SAFETY.safeguardStop) this.#become(MODE.powerOff, 0);
  }

  /** The button is released, the guard closed. */
  release(): void {
    if (this.safetyMode !== SAFETY.protectiveStop) this.safetyMode = SAFETY.normal;
  }

  /** `stalled`: catch-up steps after a pause of this process, during which no frame could arrive. */
  step(stalled: boolean): void {
    this.nowS += this.stepS;
    if (this.#nextMode !== null && this.nowS >= this.#nextModeS) {
      this.robotMode = this.#nextMode;
      this.#nextMode = null;
    }
    if (this.#program?.step(stalled) === false) this.#program = null;
    if (this.arm.strain > MAX_STRAIN) this.protectiveStop();
    this.arm.step(this.stepS);
    this.gripper?.step(this.stepS);
    this.plant?.step(this.stepS, this.arm.positionsRad, this.gripperPosition);
    if (this.plant !== null && this.gripper !== null) this.gripper.fingers.sensed = this.plant.gripper;
  }

  #become(mode: number, afterS: number): void {
    if (afterS === 0) {
      this.robotMode = mode;
      this.#nextMode = null;
      return;
    }
    this.#nextMode = mode;
    this.#nextModeS = this.nowS + afterS;
  }
}
