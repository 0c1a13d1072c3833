import { Fingers } from '../fingers.ts';
import type { Registers } from '../modbus-slave.ts';

const OPEN_PULSE = 850;
/** At 5000, the fingers take 0.4 s. */
const FULL_SPEED = 5000;
const AT = {
  status: 0x0000,
  error: 0x000f,
  enable: 0x0100,
  mode: 0x0101,
  reset: 0x0109,
  speed: 0x0303,
  target: 0x0700,
  position: 0x0702,
  version: 0x0801,
} as const;
/** Makes the SDK use the status register. */
const VERSION = [3, 4, 3];

/** UFACTORY's gripper: registers as in the vendor's SDK. Starts open and disabled. */
export class XarmGripper implements Registers {
  readonly fingers = new Fingers();
  error = 0;
  #enabled = 0;
  #mode = 0;
  #speed = 1500;
  #target = OPEN_PULSE;

  get pulse(): number {
    return Math.round(OPEN_PULSE * (1 - (this.fingers.sensed ?? this.fingers.position)));
  }

  step(dtS: number): void {
    const { fingers } = this;
    const canMove = this.#enabled === 1 && this.error === 0;
    fingers.speed = canMove ? (this.#speed / FULL_SPEED) * 2.5 : 0;
    fingers.target = 1 - this.#target / OPEN_PULSE;
    fingers.step(dtS);
  }

  read(address: number, count: number): number[] | null {
    if (address === AT.position && count === 2) return [(this.pulse >> 16) & 0xffff, this.pulse & 0xffff];
    if (address === AT.target && count === 2) return [(this.#target >> 16) & 0xffff, this.#target & 0xffff];
    if (count !== 1) return null;
    if (address === AT.status) return [this.fingers.isHolding ? 2 : this.fingers.isMoving ? 1 : 0];
    if (address === AT.error) return [this.error];
    if (address === AT.enable) return [this.#enabled];
    if (address === AT.mode) return [this.#mode];
    if (address === AT.speed) return [this.#speed];
    return address >= AT.version && address < AT.version + 3 ? [VERSION[address - AT.version]!] : null;
  }

  write(address: number, values: readonly number[]): boolean {
    const [first = 0, second = 0] = values;
    if (address === AT.target && values.length === 2) this.#target = (first << 16) | second;
    else if (values.length !== 1) return false;
    else if (address === AT.enable) this.#enabled = first & 1;
    else if (address === AT.mode) this.#mode = first;
    else if (address === AT.speed) this.#speed = first;
    else if (address === AT.reset) this.error = 0;
    else return false;
    return true;
  }
}
