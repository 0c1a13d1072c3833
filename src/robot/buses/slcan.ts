import { writeSync } from 'node:fs';
import { TeleopError } from '../../core/errors.ts';
import type { CanBackend, CanEvents, CanLink } from './can.ts';
import type { CanFrame } from './can-frame.ts';
import { openSerial, type SerialPort } from './serial.ts';
import { BITRATE_CODES, encodeSlcan, MAX_LINE_BYTES, SlcanDecoder } from './slcan-codec.ts';

export interface SlcanOptions {
  path: string;
  bitrate: number;
  /** Of the serial line; USB adapters ignore it. */
  baudRate?: number;
}

/** What may wait for an adapter that is slow to take it: a cycle's frames a few times over, then frames are dropped. */
const MAX_PENDING_BYTES = 4096;
/** The adapter may refuse what was meant to clear its head. */
const SETTLED_MS = 200;
const FLUSH_MS = 1;

/** A serial CAN adapter (CANable, CANtact, LAWICEL). Replies are optional: CANable 2 sends none. */
export function slcanBackend({ path, bitrate, baudRate = 115_200 }: SlcanOptions): CanBackend {
  const code = BITRATE_CODES[bitrate];
  if (code === undefined)
    throw new TeleopError('bad-config', `an SLCAN adapter has no bit rate ${bitrate}`, {
      hint: `Choose one of ${Object.keys(BITRATE_CODES).join(', ')}.`,
    });
  const name = `slcan ${path}`;
  return {
    name,
    async open(events) {
      const port = await openSerial(path, baudRate);
      return new SlcanLink(port, code, events);
    },
  };
}

class SlcanLink implements CanLink {
  readonly #port: SerialPort;
  readonly #events: CanEvents;
  readonly #pending = Buffer.alloc(MAX_PENDING_BYTES + 16 * MAX_LINE_BYTES);
  #pendingBytes = 0;
  #flushing: NodeJS.Timeout | undefined;
  #settled = false;
  #closed = false;

  constructor(port: SerialPort, bitrateCode: number, events: CanEvents) {
    this.#port = port;
    this.#events = events;
    const decoder = new SlcanDecoder({
      onFrame: (frame) => events.onFrame(frame),
      onLine: () => {},
      onRefused: () => this.#complain('the adapter refused a frame or a command'),
      onGarbage: () => this.#complain('the adapter sent what is not SLCAN'),
    });
    port.on('data', (bytes) => decoder.push(bytes));
    port.on('error', (error) => this.#lose(error.message));
    port.on('close', () => this.#lose('the device is gone'));
    // The empty line ends whatever stood half-written in the adapter.
    this.#put(Buffer.from(`\rC\rS${bitrateCode}\rO\r`, 'latin1'));
    this.#flush();
    setTimeout(() => {
      this.#settled = true;
    }, SETTLED_MS).unref();
  }

  send(frames: readonly CanFrame[], count: number): number {
    if (this.#closed) return 0;
    let taken = 0;
    while (taken < count && this.#pendingBytes < MAX_PENDING_BYTES) {
      const end = encodeSlcan(frames[taken]!, this.#pending, this.#pendingBytes);
      if (end < 0) break;
      this.#pendingBytes = end;
      taken++;
    }
    this.#flush();
    return this.#closed ? 0 : taken;
  }

  close(): void {
    if (this.#closed) return;
    this.#put(Buffer.from('C\r', 'latin1'));
    this.#flush();
    this.#end();
  }

  #put(bytes: Uint8Array): void {
    this.#pending.set(bytes, this.#pendingBytes);
    this.#pendingBytes += bytes.length;
  }

  /** Straight to the descriptor: the stream would write from a pool thread, one write after the other. */
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

  #complain(what: string): void {
    if (this.#settled) this.#events.onError(what);
  }

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
