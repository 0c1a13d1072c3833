// UNVERIFIED ON HARDWARE: tried on pseudo-terminals only.
import { TeleopError } from '../../core/errors.ts';
import type { CanBackend, CanEvents, CanLink } from './can.ts';
import type { CanFrame } from './can-frame.ts';
import { openSerial, type SerialLine } from './serial.ts';
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
const CR = 0x0d;

/** A serial CAN adapter (CANable, CANtact, LAWICEL). Replies are optional: CANable 2 sends none. */
export function slcanBackend({ path, bitrate, baudRate = 115_200 }: SlcanOptions): CanBackend {
  const code = BITRATE_CODES[bitrate];
  if (code === undefined)
    throw new TeleopError('bad-config', `an SLCAN adapter has no bit rate ${bitrate}`, {
      hint: `Choose one of ${Object.keys(BITRATE_CODES).join(', ')}.`,
    });
  return {
    name: `slcan ${path}`,
    async open(events) {
      const link = new SlcanLink(events);
      // The empty line ends whatever stood half-written in the adapter.
      link.begin(await openSerial(path, baudRate, link), `\rC\rS${code}\rO\r`);
      return link;
    },
  };
}

class SlcanLink implements CanLink {
  readonly #events: CanEvents;
  readonly #decoder: SlcanDecoder;
  readonly #pending = new Uint8Array(MAX_PENDING_BYTES + MAX_LINE_BYTES);
  #line: SerialLine | null = null;
  #pendingBytes = 0;
  #flushing: NodeJS.Timeout | undefined;
  #settled = false;

  constructor(events: CanEvents) {
    this.#events = events;
    this.#decoder = new SlcanDecoder({
      onFrame: (frame) => events.onFrame(frame),
      onLine: () => {},
      onRefused: () => this.#complain('the adapter refused a frame or a command'),
      onGarbage: () => this.#complain('the adapter sent what is not SLCAN'),
    });
  }

  begin(line: SerialLine, greeting: string): void {
    this.#line = line;
    this.#say(greeting);
    setTimeout(() => {
      this.#settled = true;
    }, SETTLED_MS).unref();
  }

  onBytes(bytes: Uint8Array, length: number): void {
    this.#decoder.push(bytes, length);
  }

  onLost(why: string): void {
    this.#end();
    this.#events.onLost(why);
  }

  send(frames: readonly CanFrame[], count: number): number {
    if (this.#line === null) return 0;
    let taken = 0;
    while (taken < count && this.#pendingBytes < MAX_PENDING_BYTES) {
      const end = encodeSlcan(frames[taken]!, this.#pending, this.#pendingBytes);
      if (end < 0) break;
      this.#pendingBytes = end;
      taken++;
    }
    this.#flush();
    return this.#line === null ? 0 : taken;
  }

  /** All but the rest of a line whose beginning has gone out. */
  discard(): void {
    const end = this.#pending.subarray(0, this.#pendingBytes).indexOf(CR);
    if (end >= 0) this.#pendingBytes = end + 1;
  }

  close(): void {
    if (this.#line === null) return;
    this.#say('C\r');
    this.#line?.close();
    this.#end();
  }

  #say(text: string): void {
    for (let i = 0; i < text.length && this.#pendingBytes < this.#pending.length; i++)
      this.#pending[this.#pendingBytes++] = text.charCodeAt(i);
    this.#flush();
  }

  #flush(): void {
    if (this.#pendingBytes === 0 || this.#line === null) return;
    const written = this.#line.write(this.#pending, this.#pendingBytes);
    this.#pending.copyWithin(0, written, this.#pendingBytes);
    this.#pendingBytes -= written;
    if (this.#pendingBytes > 0) this.#flushing ??= setTimeout(this.#flushLater, FLUSH_MS);
  }

  readonly #flushLater = (): void => {
    this.#flushing = undefined;
    this.#flush();
  };

  #complain(what: string): void {
    if (this.#settled) this.#events.onError(what);
  }

  #end(): void {
    this.#line = null;
    clearTimeout(this.#flushing);
  }
}
