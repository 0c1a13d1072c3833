import { writeSync } from 'node:fs';
import { openSerial, type SerialPort } from '../serial.ts';

/** What a line tells of; all on the event loop of the thread that opened it. */
export interface LineEvents {
  /** The memory is the line's again after the call. */
  onBytes(bytes: Uint8Array): void;
  /** Told once; nothing follows. */
  onLost(why: string): void;
}

/** A half-duplex serial line. */
export interface Line {
  /** Hands all bytes over before it returns, or says no. Never throws, never waits. */
  write(bytes: Uint8Array, length: number): boolean;
  close(): void;
}

export interface LineBackend {
  /** For messages. */
  readonly name: string;
  readonly baudRate: number;
  /** Rejects with a `TeleopError` where it cannot be opened. */
  open(events: LineEvents): Promise<Line>;
}

const PENDING_BYTES = 4096;
const FLUSH_MS = 1;

export function serialLine(path: string, baudRate: number): LineBackend {
  return {
    name: path,
    baudRate,
    open: async (events) => new PortLine(await openSerial(path, baudRate), events),
  };
}

class PortLine implements Line {
  readonly #port: SerialPort;
  readonly #events: LineEvents;
  readonly #pending = Buffer.alloc(PENDING_BYTES);
  #pendingBytes = 0;
  #flushing: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(port: SerialPort, events: LineEvents) {
    this.#port = port;
    this.#events = events;
    port.on('data', (bytes) => {
      if (!this.#closed) events.onBytes(bytes);
    });
    port.on('error', (error) => this.#lose(error.message));
    port.on('close', () => this.#lose('the device is gone'));
  }

  write(bytes: Uint8Array, length: number): boolean {
    if (this.#closed || this.#pendingBytes + length > PENDING_BYTES) return false;
    for (let i = 0; i < length; i++) this.#pending[this.#pendingBytes + i] = bytes[i]!;
    this.#pendingBytes += length;
    this.#flush();
    return !this.#closed;
  }

  close(): void {
    if (this.#closed) return;
    this.#flush();
    this.#end();
  }

  /** Straight to the descriptor: the stream would write from a pool thread. */
  #flush(): void {
    if (this.#pendingBytes === 0 || this.#closed) return;
    const fd = this.#port.port?.fd;
    if (typeof fd !== 'number') {
      this.#port.write(Buffer.from(this.#pending.subarray(0, this.#pendingBytes)));
      this.#pendingBytes = 0;
      return;
    }
    try {
      const written = writeSync(fd, this.#pending, 0, this.#pendingBytes);
      this.#pending.copyWithin(0, written, this.#pendingBytes);
      this.#pendingBytes -= written;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== 'EAGAIN') {
        this.#lose(message);
        return;
      }
    }
    if (this.#pendingBytes > 0) this.#flushing ??= setTimeout(this.#flushLater, FLUSH_MS);
  }

  readonly #flushLater = (): void => {
    this.#flushing = undefined;
    this.#flush();
  };

  #lose(why: string): void {
    if (this.#closed) return;
    this.#end();
    this.#events.onLost(why);
  }

  #end(): void {
    this.#closed = true;
    clearTimeout(this.#flushing);
    if (this.#port.isOpen) this.#port.close(() => {});
  }
}
