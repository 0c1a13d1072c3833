import type { ModbusDevice } from '../../buses/modbus/modbus.ts';
import { GripperFault, type GripperLink } from '../../buses/polled-gripper.ts';
import type { GripperReading } from '../../gripper.ts';
import type { XarmGripperConfig } from './config.ts';

/** Registers, as in UFACTORY's SDK; positions are 32 bits, high word first. */
const REGISTER = {
  status: 0x0000,
  error: 0x000f,
  enable: 0x0100,
  mode: 0x0101,
  resetError: 0x0109,
  speed: 0x0303,
  target: 0x0700,
  position: 0x0702,
} as const;
const POSITION_MODE = 0;
const HOLDING = 2;
const STATE_BITS = 3;
/** Errors are read once in this many cycles. */
const ERROR_EVERY = 5;

const words = (pulse: number): number[] => [(pulse >> 16) & 0xffff, pulse & 0xffff];

/** A UFACTORY xArm gripper: a servo whose position counts from 0, closed, to 850, open. */
export class PulseLink implements GripperLink {
  readonly #device: ModbusDevice;
  readonly #config: XarmGripperConfig;
  #written = Number.NaN;
  #pulse = 0;
  /** It pressed on something when it was last asked, and has had no other target since. */
  #isHolding = false;
  #cycles = 0;

  constructor(device: ModbusDevice, config: XarmGripperConfig) {
    this.#device = device;
    this.#config = config;
  }

  get trouble(): string {
    return this.#device.port.trouble;
  }

  get busErrors(): number {
    return this.#device.port.busErrors;
  }

  async prepare(signal: AbortSignal): Promise<void> {
    const device = this.#device;
    await device.write(REGISTER.resetError, [1]);
    await this.#checkError();
    await this.#readPulse();
    if (signal.aborted) return;
    // The target is where the fingers are, so enabling moves nothing.
    await device.write(REGISTER.target, words(this.#pulse));
    await device.write(REGISTER.mode, [POSITION_MODE]);
    await device.write(REGISTER.speed, [this.#config.speedPulseS]);
    if (signal.aborted) return;
    await device.write(REGISTER.enable, [1]);
    this.#written = this.#pulse;
  }

  async cycle(target: number, out: GripperReading): Promise<void> {
    const { openPulse, closedPulse } = this.#config;
    const pulse = Math.round(openPulse + target * (closedPulse - openPulse));
    if (!Number.isNaN(pulse) && pulse !== this.#written) {
      this.#isHolding = false;
      this.#written = pulse;
      await this.#device.write(REGISTER.target, words(pulse));
    }
    await this.#readPulse();
    out.position = Math.max(0, Math.min(1, (this.#pulse - openPulse) / (closedPulse - openPulse)));
    await this.#readStatus();
    if (this.#cycles++ % ERROR_EVERY === 0) await this.#checkError();
  }

  /** While it holds something its target lies beyond: that stays, or the grip would weaken. */
  stop(): void {
    if (!this.#isHolding) this.#device.writeNow(REGISTER.target, words(this.#pulse));
  }

  close(): void {
    this.#device.port.close();
  }

  async #readPulse(): Promise<void> {
    const [high = 0, low = 0] = await this.#device.read(REGISTER.position, 2);
    this.#pulse = (high << 16) | low;
  }

  async #readStatus(): Promise<void> {
    const [status = 0] = await this.#device.read(REGISTER.status, 1);
    this.#isHolding = (status & STATE_BITS) === HOLDING;
  }

  async #checkError(): Promise<void> {
    const [error = 0] = await this.#device.read(REGISTER.error, 1);
    if (error !== 0) throw new GripperFault(`error ${error}: see UFACTORY's list of gripper errors`);
  }
}
