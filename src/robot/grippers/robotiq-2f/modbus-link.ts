import type { ModbusDevice } from '../../buses/modbus/modbus.ts';
import { GripperFault, type GripperLink } from '../../buses/polled-gripper.ts';
import type { GripperReading } from '../../gripper.ts';
import type { RobotiqConfig } from './config.ts';
import { ACTIVATED, faultText, NOT_ACTIVATED, percentCount, toCount, toPosition } from './counts.ts';

/** Three registers out: action, position, speed and force. Three in: status, fault, positions, current. */
const OUT_AT = 0x03e8;
const IN_AT = 0x07d0;
const REGISTERS = 3;
const ACT = 1;
const GTO = 8;
const ACTIVATE_MS = 10_000;

interface Status {
  state: number;
  fault: number;
  count: number;
}

/** A Robotiq 2F on its own serial port, Modbus RTU. */
export class ModbusLink implements GripperLink {
  readonly #device: ModbusDevice;
  readonly #config: RobotiqConfig;
  /** Target the gripper has. */
  #written = 0;

  constructor(device: ModbusDevice, config: RobotiqConfig) {
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
    let status = await this.#status();
    if (status.state !== ACTIVATED) status = await this.#activate(signal);
    if (signal.aborted) return;
    this.#check(status);
    // The target is where the fingers are, so GTO moves nothing.
    await this.#send(ACT | GTO, status.count);
  }

  async cycle(target: number, out: GripperReading): Promise<void> {
    const count = toCount(target, this.#config);
    if (!Number.isNaN(count) && count !== this.#written) await this.#send(ACT | GTO, count);
    const status = await this.#status();
    out.position = toPosition(status.count, this.#config);
    this.#check(status);
  }

  stop(): void {
    this.#device.writeNow(OUT_AT, this.#registers(ACT, this.#written));
  }

  close(): void {
    this.#device.port.close();
  }

  #registers(action: number, count: number): number[] {
    const { speedPercent, forcePercent } = this.#config;
    return [action << 8, count, (percentCount(speedPercent) << 8) | percentCount(forcePercent)];
  }

  async #send(action: number, count: number): Promise<void> {
    await this.#device.write(OUT_AT, this.#registers(action, count));
    this.#written = count;
  }

  async #status(): Promise<Status> {
    const [status = 0, fault = 0, position = 0] = await this.#device.read(IN_AT, REGISTERS);
    return { state: (status >> 12) & 3, fault: (fault >> 8) & 15, count: position >> 8 };
  }

  #check({ fault }: Status): void {
    const text = faultText(fault);
    if (text !== '') throw new GripperFault(text);
  }

  async #activate(signal: AbortSignal): Promise<Status> {
    if (!this.#config.activate) throw new GripperFault(NOT_ACTIVATED);
    await this.#send(0, 0);
    await this.#send(ACT, 0);
    for (let ms = 0; ms < ACTIVATE_MS && !signal.aborted; ms += 50) {
      const status = await this.#status();
      if (status.state === ACTIVATED) return status;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new GripperFault('activation did not end');
  }
}
