import { readSync, writeSync } from 'node:fs';
import { TeleopError } from '../../core/errors.ts';

export interface SerialEvents {
  /** The first `length` bytes of `bytes`, which is reused. */
  onBytes(bytes: Uint8Array, length: number): void;
  /** The device is gone. Told once; nothing follows. */
  onLost(why: string): void;
}

export interface SerialLine {
  /** Hands bytes to the operating system and tells how many it took; 0 when it has no room. Never throws. */
  write(bytes: Uint8Array, length: number): number;
  close(): void;
}

/** What we use of an open port of the optional package `serialport`; descriptor and poller where the system has them. */
interface Port {
  readonly isOpen: boolean;
  readonly fd?: number | null;
  readonly poller?: { once(event: 'readable', done: (error: Error | null) => void): unknown };
  read(buffer: Buffer, offset: number, length: number): Promise<{ bytesRead: number }>;
  write(buffer: Buffer): Promise<void>;
  close(): Promise<void>;
}

const READ_BYTES = 16 * 1024;

/** Opens a serial device raw, 8N1, for this process alone. Rejects with a `TeleopError`. */
export async function openSerial(path: string, baudRate: number, events: SerialEvents): Promise<SerialLine> {
  const { SerialPort } = await load();
  let port: Port;
  try {
    port = (await SerialPort.binding.open({ path, baudRate })) as Port;
  } catch (cause) {
    throw cannotOpen(path, cause as Error);
  }
  const { fd, poller } = port;
  return typeof fd === 'number' && poller !== undefined
    ? new PolledLine(port, fd, poller, events)
    : new PortLine(port, events);
}

/**
 * Reads and writes the descriptor itself, which does not block. The package's own stream writes from a pool thread,
 * one write after the other, and reads a device that was unplugged for ever (zero bytes, again and again).
 */
class PolledLine implements SerialLine {
  readonly #port: Port;
  readonly #fd: number;
  readonly #poller: NonNullable<Port['poller']>;
  readonly #events: SerialEvents;
  readonly #in = new Uint8Array(READ_BYTES);
  #closed = false;

  constructor(port: Port, fd: number, poller: NonNullable<Port['poller']>, events: SerialEvents) {
    this.#port = port;
    this.#fd = fd;
    this.#poller = poller;
    this.#events = events;
    poller.once('readable', this.#onReadable);
  }

  write(bytes: Uint8Array, length: number): number {
    if (this.#closed) return 0;
    try {
      return writeSync(this.#fd, bytes, 0, length);
    } catch (error) {
      if (!isBusy(error)) this.#lose((error as Error).message);
      return 0;
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#port.close().catch(() => {});
  }

  readonly #onReadable = (error: Error | null): void => {
    if (this.#closed) return;
    if (error !== null) {
      this.#lose(error.message);
      return;
    }
    try {
      const bytes = readSync(this.#fd, this.#in);
      if (bytes === 0) this.#lose('the device is gone');
      else this.#events.onBytes(this.#in, bytes);
    } catch (cause) {
      if (!isBusy(cause)) this.#lose((cause as Error).message);
    }
    if (!this.#closed) this.#poller.once('readable', this.#onReadable);
  };

  #lose(why: string): void {
    this.close();
    this.#events.onLost(why);
  }
}

const isBusy = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EAGAIN';

/** Where there is no descriptor (Windows). UNVERIFIED ON HARDWARE. */
class PortLine implements SerialLine {
  readonly #port: Port;
  readonly #events: SerialEvents;
  #writing = false;

  constructor(port: Port, events: SerialEvents) {
    this.#port = port;
    this.#events = events;
    this.#readOn(Buffer.alloc(READ_BYTES)).catch((error: Error) => this.#lose(error.message));
  }

  write(bytes: Uint8Array, length: number): number {
    if (this.#writing || !this.#port.isOpen) return 0;
    this.#writing = true;
    this.#port
      .write(Buffer.from(bytes.subarray(0, length)))
      .catch((error: Error) => this.#lose(error.message))
      .finally(() => {
        this.#writing = false;
      });
    return length;
  }

  close(): void {
    if (this.#port.isOpen) this.#port.close().catch(() => {});
  }

  async #readOn(buffer: Buffer): Promise<void> {
    while (this.#port.isOpen) {
      const { bytesRead } = await this.#port.read(buffer, 0, buffer.length);
      if (this.#port.isOpen) this.#events.onBytes(buffer, bytesRead);
    }
  }

  #lose(why: string): void {
    if (!this.#port.isOpen) return;
    this.close();
    this.#events.onLost(why);
  }
}

async function load(): Promise<typeof import('serialport')> {
  try {
    return await import('serialport');
  } catch (cause) {
    throw new TeleopError('native-unavailable', `serial ports are not available: ${String(cause)}`, {
      hint: 'Install the optional package: `npm install serialport`.',
      cause,
    });
  }
}

function cannotOpen(path: string, cause: Error): TeleopError {
  const missing = /no such file/i.test(cause.message);
  const denied = /permission|access/i.test(cause.message);
  const hint = missing
    ? `Plug the adapter in and look for its name with \`ls /dev/serial/by-id /dev/ttyACM* /dev/ttyUSB*\`.`
    : denied
      ? `Give this user access: \`sudo usermod -aG dialout $USER\`, then log in again.`
      : 'Check that no other program has it open, and that it is a serial device.';
  return new TeleopError('bus-failed', `${path} cannot be opened: ${cause.message}`, { hint, cause });
}
