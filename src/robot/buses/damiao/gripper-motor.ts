import type { GripperSpec } from './arm-spec.ts';
import type { DamiaoCommands } from './commands.ts';
import type { DamiaoFeedback } from './feedback.ts';

const MS = 1e6;
/** Until it has had time to start moving, a motor at rest is not stalled. */
const START_NS = 150 * MS;
const STALLED_NS = 200 * MS;
const STALLED_RAD_S = 0.1;
const TIMEOUT_NS = 5000 * MS;

/** The gripper's end positions, and the homing that finds them. */
export class DamiaoGripper {
  readonly #spec: GripperSpec;
  readonly #motor: number;
  readonly #feedback: DamiaoFeedback;
  readonly #commands: DamiaoCommands;
  #zeroRad = 0;
  homed: boolean;
  #sinceNs = Number.NaN;
  #movedNs = 0;

  constructor(spec: GripperSpec, motor: number, feedback: DamiaoFeedback, commands: DamiaoCommands) {
    this.#spec = spec;
    this.#motor = motor;
    this.#feedback = feedback;
    this.#commands = commands;
    this.homed = spec.homing === null;
  }

  /** 0 open, 1 closed; open while unknown. */
  get share(): number {
    if (!this.homed) return 0;
    const { openRad, closedRad } = this.#spec;
    const at = (this.#feedback.positionsRad[this.#motor]! - this.#zeroRad - openRad) / (closedRad - openRad);
    return Math.max(0, Math.min(1, at));
  }

  aim(share: number): void {
    const { openRad, closedRad } = this.#spec;
    const inside = Math.max(0, Math.min(1, share));
    this.#commands.targetsRad[this.#motor] = this.#zeroRad + openRad + inside * (closedRad - openRad);
  }

  beginHoming(): void {
    this.#sinceNs = Number.NaN;
  }

  /** One homing cycle towards the open end; true on timeout. Sets `homed`. */
  seek(nowNs: number): boolean {
    const { homing, openRad, closedRad } = this.#spec;
    const here = this.#feedback.positionsRad[this.#motor]!;
    if (Number.isNaN(this.#sinceNs)) {
      this.#sinceNs = nowNs;
      this.#movedNs = nowNs;
    }
    if (Math.abs(this.#feedback.velocitiesRadS[this.#motor]!) > STALLED_RAD_S) this.#movedNs = nowNs;
    const beganNs = this.#sinceNs + START_NS;
    if (nowNs > beganNs && nowNs - this.#movedNs > STALLED_NS) {
      this.#zeroRad = here - openRad;
      this.homed = true;
      this.#commands.hold(this.#motor);
      return false;
    }
    const direction = Math.sign(openRad - closedRad);
    this.#commands.seekEnd(this.#motor, here + direction, homing!.velocityRadS, homing!.currentShare);
    return nowNs - this.#sinceNs > TIMEOUT_NS;
  }
}
