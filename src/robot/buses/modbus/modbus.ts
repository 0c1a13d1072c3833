import { MODBUS, readRequest, writeRequest } from './rtu-codec.ts';

/** A device with Modbus registers, on a serial line or behind a gateway. Rejects with `Refused`. */
export interface ModbusPort {
  readonly trouble: string;
  /** Frames that were malformed, did not fit, or did not come. */
  readonly busErrors: number;
  /** Sends a request without CRC; resolves with the reply's registers. `first` goes before queued requests. */
  ask(request: Uint8Array, first?: boolean): Promise<number[]>;
  close(): void;
}

/** One slave behind a port. */
export class ModbusDevice {
  readonly port: ModbusPort;
  readonly #slave: number;

  constructor(port: ModbusPort, slave: number) {
    this.port = port;
    this.#slave = slave;
  }

  read(address: number, count: number, func: number = MODBUS.readHolding): Promise<number[]> {
    return this.port.ask(readRequest(this.#slave, address, count, func));
  }

  async write(address: number, registers: readonly number[]): Promise<void> {
    await this.port.ask(writeRequest(this.#slave, address, registers));
  }

  /** Goes before everything that waits; nobody waits for its reply. */
  writeNow(address: number, registers: readonly number[]): void {
    this.port.ask(writeRequest(this.#slave, address, registers), true).catch(() => {});
  }
}
