import { openSerial, type SerialLine } from '../serial.ts';

/** What a line tells of; all on the event loop of the thread that opened it. */
export interface LineEvents {
  /** The first `length` bytes of `bytes`, which is reused. */
  onBytes(bytes: Uint8Array, length: number): void;
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
    async open(events) {
      const line = new PortLine(events);
      line.begin(await openSerial(path, baudRate, line));
      return line;
    },
  };
}

class PortLine implements Line {
  readonly #events: LineEvents;
  readonly #pending = new Uint8Array(PENDING_BYTES);
  #port: SerialLine | null = null;
  #pendingBytes = 0;
  #flushing: NodeJS.Timeout | undefined;

  constructor(events: LineEvents) {
    this.#events = events;
  }

  begin(port: SerialLine): void {
    this.#port = port;
  }

  onBytes(bytes: Uint8Array, length: number): void {
    if (this.#port !== null) this.#events.onBytes(bytes, length);
  }

  onLost(why: string): void {
    this.#end();
    this.#events.onLost(why);
  }

  write(bytes: Uint8Array, length: number): boolean {
    if (this.#port === null || this.#pendingBytes + length > PENDING_BYTES) return false;
    for (let i = 0; i < length; i++) this.#pending[this.#pendingBytes + i] = bytes[i]!;
    this.#pendingBytes += length;
    this.#flush();
    return this.#port !== null;
  }

  close(): void {
    this.#flush();
    this.#port?.close();
    this.#end();
  }

  #flush(): void {
    if (this.#pendingBytes === 0 || this.#port === null) return;
    const written = this.#port.write(this.#pending, this.#pendingBytes);
    this.#pending.copyWithin(0, written, this.#pendingBytes);
    this.#pendingBytes -= written;
    if (this.#pendingBytes > 0) this.#flushing ??= setTimeout(this.#flushLater, FLUSH_MS);
  }

  readonly #flushLater = (): void => {
    this.#flushing = undefined;
    this.#flush();
  };

  #end(): void {
    this.#port = null;
    clearTimeout(this.#flushing);
  }
}
