import { constants, readSync, writeSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { TeleopError } from '../../core/errors.ts';
import { FdWatcher } from './fd-watcher.ts';
import { type BusLibc, errnoText, loadBusLibc } from './libc.ts';

export interface SerialEvents {
  /** The first `length` bytes of `bytes`, which is reused. */
  onBytes(bytes: Uint8Array, length: number): void;
  /** The device is gone. Called once; nothing follows. */
  onLost(why: string): void;
}

export interface SerialLine {
  /**
   * Hands bytes to the operating system and returns how many it accepted; 0 when it has no room. Never
   * throws.
   */
  write(bytes: Uint8Array, length: number): number;
  close(): void;
}

const READ_BYTES = 16 * 1024;

/** Opens a serial device raw, 8N1, for this process alone. Rejects with a `TeleopError`. */
export async function openSerial(path: string, baudRate: number, events: SerialEvents): Promise<SerialLine> {
  if (process.platform !== 'linux') return openPackagedSerial(path, baudRate, events);
  const libc = await loadBusLibc();
  // Not via fs: a worker that ends closes its fs descriptors, even those we have already closed.
  const fd = libc.open(path, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK);
  if (fd < 0) throw cannotOpen(path, new Error(errnoText(libc.errno())));
  const settings = new Uint8Array(TERMIOS_BYTES);
  const flags = new DataView(settings.buffer);
  if (libc.tcgetattr(fd, settings) !== 0) {
    libc.close(fd);
    throw cannotOpen(path, new Error('not a serial device'));
  }
  libc.cfmakeraw(settings);
  libc.cfsetspeed(settings, baudRate);
  flags.setUint32(CFLAG_AT, ((flags.getUint32(CFLAG_AT, true) | CREAD_CLOCAL) & ~CRTSCTS) >>> 0, true);
  libc.tcsetattr(fd, TCSANOW, settings);
  libc.ioctl(fd, TIOCEXCL);
  libc.tcflush(fd, TCIOFLUSH);
  return new NativeLine(libc, fd, events);
}

const TERMIOS_BYTES = 128;
/** Offset and bits of c_cflag in struct termios. */
const CFLAG_AT = 8;
const CREAD_CLOCAL = 0o200 | 0o4000;
const CRTSCTS = 0x80000000;
const TCSANOW = 0;
const TCIOFLUSH = 2;
const TIOCEXCL = 0x540c;
const TIOCNXCL = 0x540d;

/**
 * Our own descriptor. On Linux we avoid the package `serialport`: its poller runs on the main thread's loop
 * whatever thread opened the port, which ends the process when a driver lives in a worker; and its stream
 * keeps reading an unplugged device forever.
 */
class NativeLine implements SerialLine {
  readonly #libc: BusLibc;
  readonly #fd: number;
  readonly #events: SerialEvents;
  readonly #watcher: FdWatcher;
  readonly #in = new Uint8Array(READ_BYTES);
  #closed = false;

  constructor(libc: BusLibc, fd: number, events: SerialEvents) {
    this.#libc = libc;
    this.#fd = fd;
    this.#events = events;
    this.#watcher = new FdWatcher(libc, fd, () => this.#read());
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
    this.#libc.ioctl(this.#fd, TIOCNXCL);
    this.#watcher.end();
  }

  #read(): void {
    try {
      const bytes = readSync(this.#fd, this.#in);
      if (bytes === 0) this.#lose('the device is gone');
      else this.#events.onBytes(this.#in, bytes);
    } catch (cause) {
      if (!isBusy(cause)) this.#lose((cause as Error).message);
    }
  }

  #lose(why: string): void {
    this.close();
    this.#events.onLost(why);
  }
}

const isBusy = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EAGAIN';

/** What we use of an open port of the optional package `serialport`. */
interface Port {
  readonly isOpen: boolean;
  read(buffer: Buffer, offset: number, length: number): Promise<{ bytesRead: number }>;
  write(buffer: Buffer): Promise<void>;
  close(): Promise<void>;
}

/** Uses the package `serialport`, for systems other than Linux; exported for its test. */
export async function openPackagedSerial(
  path: string,
  baudRate: number,
  events: SerialEvents,
): Promise<SerialLine> {
  if (!isMainThread && process.platform !== 'win32')
    throw new TeleopError('native-unavailable', 'serial ports cannot be opened in a worker on this system', {
      hint: 'Run the robot on Linux, or use another CAN interface.',
    });
  const { SerialPort } = await load();
  try {
    return new PackagedLine((await SerialPort.binding.open({ path, baudRate })) as Port, events);
  } catch (cause) {
    throw cannotOpen(path, cause as Error);
  }
}

// UNVERIFIED ON HARDWARE: macOS and Windows.
class PackagedLine implements SerialLine {
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
