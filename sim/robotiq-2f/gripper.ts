import { Fingers } from '../fingers.ts';
import type { Registers } from '../modbus-slave.ts';

const ACTIVATION_S = 0.6;
const OUT_AT = 0x03e8;
const IN_AT = 0x07d0;
/** The fingers meet before the end of the count. */
const OPEN_COUNT = 3;
const CLOSED_COUNT = 228;
const STATE = { reset: 0, activating: 1, active: 3 } as const;
const NOT_ACTIVATED = 7;

/** A 2F-85: activation, go-to, speed, force and faults; the fingers have no mass. */
export class RobotiqGripper implements Registers {
  readonly fingers = new Fingers();
  /** Set through the socket or the registers. */
  readonly set = { ACT: 0, GTO: 0, ATR: 0, POS: 0, SPE: 255, FOR: 128 };
  /** Forced by `fault`. */
  faultCode = 0;
  #state: number = STATE.reset;
  #activatingS = 0;

  constructor(isActivated: boolean) {
    if (isActivated) this.#state = STATE.active;
    this.set.ACT = isActivated ? 1 : 0;
  }

  get state(): number {
    return this.#state;
  }

  get fault(): number {
    if (this.faultCode !== 0) return this.faultCode;
    return this.set.GTO === 1 && this.#state !== STATE.active ? NOT_ACTIVATED : 0;
  }

  /** 0 moving, 1 stopped while opening, 2 stopped while closing, 3 there. */
  get object(): number {
    if (this.fingers.isHolding) return 2;
    return this.fingers.isMoving ? 0 : 3;
  }

  get count(): number {
    const at = this.fingers.sensed ?? this.fingers.position;
    return Math.round(OPEN_COUNT + at * (CLOSED_COUNT - OPEN_COUNT));
  }

  /** Takes what was set. */
  apply(): void {
    if (this.set.ACT === 0) this.#state = STATE.reset;
    else if (this.#state === STATE.reset) {
      this.#state = STATE.activating;
      this.#activatingS = 0;
    }
  }

  step(dtS: number): void {
    const { fingers, set } = this;
    if (this.#state === STATE.activating) this.#activate(dtS);
    else if (this.#state === STATE.active && set.GTO === 1 && this.faultCode === 0) {
      fingers.speed = 0.4 + (set.SPE / 255) * 2.4;
      fingers.target = (set.POS - OPEN_COUNT) / (CLOSED_COUNT - OPEN_COUNT);
    } else fingers.target = fingers.position;
    fingers.step(dtS);
  }

  /** Closes, then opens: that is how it finds its ends. */
  #activate(dtS: number): void {
    this.#activatingS += dtS;
    this.fingers.speed = 4;
    this.fingers.target = this.#activatingS < ACTIVATION_S / 2 ? 1 : 0;
    if (this.#activatingS < ACTIVATION_S) return;
    this.#state = STATE.active;
    this.set.POS = this.count;
  }

  read(address: number, count: number): number[] | null {
    if (address < IN_AT || address + count > IN_AT + 3) return null;
    const { ACT, GTO, POS } = this.set;
    const status = (this.object << 6) | (this.state << 4) | (GTO << 3) | ACT;
    const all = [status << 8, (this.fault << 8) | POS, (this.count << 8) | (this.fingers.isMoving ? 30 : 0)];
    return all.slice(address - IN_AT, address - IN_AT + count);
  }

  write(address: number, values: readonly number[]): boolean {
    if (address !== OUT_AT || values.length !== 3) return false;
    const [action = 0, position = 0, effort = 0] = values;
    this.set.ACT = (action >> 8) & 1;
    this.set.GTO = (action >> 11) & 1;
    this.set.POS = position & 0xff;
    this.set.SPE = effort >> 8;
    this.set.FOR = effort & 0xff;
    this.apply();
    return true;
  }
}
