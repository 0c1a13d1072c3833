import { openSerial } from './serial.ts';
import { SerialQueue } from './serial-queue.ts';

/** What a line reports, on the event loop of the thread that opened it. */
export interface LineEvents {
  /** The first `length` bytes of `bytes`, which is reused. */
  onBytes(bytes: Uint8Array, length: number): void;
  /** The line is lost. Called once; nothing follows. */
  onLost(why: string): void;
}

/** A serial line. */
export interface Line {
  /** Accepts all bytes before it returns, or returns false. Never throws, never waits. */
  write(bytes: Uint8Array, length: number): boolean;
  close(): void;
}

export interface LineBackend {
  /** For error messages. */
  readonly name: string;
  readonly baudRate: number;
  /** Rejects with a `TeleopError` if it cannot be opened. */
  open(events: LineEvents): Promise<Line>;
}

const PENDING_BYTES = 4096;

export function serialLine(path: string, baudRate: number): LineBackend {
  return {
    name: path,
    baudRate,
    async open(events) {
      const line = new PortLine(events);
      line.queue.begin(await openSerial(path, baudRate, line));
      return line;
    },
  };
}

class PortLine implements Line {
  readonly queue = new SerialQueue(PENDING_BYTES);
  readonly #events: LineEvents;

  constructor(events: LineEvents) {
    this.#events = events;
  }

  onBytes(bytes: Uint8Array, length: number): void {
    if (this.queue.line !== null) this.#events.onBytes(bytes, length);
  }

  onLost(why: string): void {
    this.queue.end();
    this.#events.onLost(why);
  }

  write(bytes: Uint8Array, length: number): boolean {
    const { queue } = this;
    if (queue.line === null || queue.count + length > PENDING_BYTES) return false;
    for (let i = 0; i < length; i++) queue.bytes[queue.count + i] = bytes[i]!;
    queue.count += length;
    queue.flush();
    return queue.line !== null;
  }

  close(): void {
    this.queue.flush();
    this.queue.line?.close();
    this.queue.end();
  }
}
