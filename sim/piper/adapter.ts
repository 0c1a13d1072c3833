import type { CanFrame } from '../../src/robot/buses/can-frame.ts';
import type { Pty } from '../../src/robot/buses/pty.ts';
import { encodeSlcan, MAX_LINE_BYTES, SlcanDecoder } from '../../src/robot/buses/slcan-codec.ts';

/** Small, like an adapter's buffer: a slow host loses frames instead of reading ever older ones. */
const BUFFER_BYTES = 4096;
const CR = 0x0d;
const BEL = 0x07;

export interface AdapterOptions {
  /** Acknowledges as LAWICEL does; CANable 2 never does. */
  acknowledges: boolean;
  /** A frame from the host, in the open channel. */
  onFrame(frame: CanFrame): void;
}

/**
 * A serial CAN adapter on a pseudo-terminal: channel open and closed, bit rate, acknowledgements, timestamps.
 */
export class SlcanAdapter {
  readonly #pty: Pty;
  readonly #options: AdapterOptions;
  readonly #decoder: SlcanDecoder;
  readonly #in = new Uint8Array(BUFFER_BYTES);
  readonly #out = new Uint8Array(BUFFER_BYTES);
  #outBytes = 0;
  #stamps = false;
  open = false;
  /** Frames for the host that it did not read in time. */
  overruns = 0;

  constructor(pty: Pty, options: AdapterOptions) {
    this.#pty = pty;
    this.#options = options;
    this.#decoder = new SlcanDecoder({
      onFrame: (frame) => {
        if (!this.open) this.#reply(BEL);
        else {
          if (options.acknowledges) this.#put(frame.extended ? 'Z\r' : 'z\r');
          options.onFrame(frame);
        }
      },
      onLine: (line) => this.#command(Buffer.from(line).toString('latin1')),
      onRejected: () => {},
      onGarbage: () => this.#reply(BEL),
    });
  }

  /** Processes what the host wrote. */
  poll(): void {
    const bytes = this.#pty.read(this.#in);
    if (bytes > 0) this.#decoder.push(this.#in, bytes);
  }

  /** Queues a bus frame for the next `flush`. */
  receive(frame: CanFrame, nowMs: number): void {
    if (!this.open) return;
    if (this.#outBytes + MAX_LINE_BYTES > BUFFER_BYTES) {
      this.overruns++;
      return;
    }
    const end = encodeSlcan(frame, this.#out, this.#outBytes);
    if (this.#stamps) {
      const stamp = (Math.floor(nowMs) % 60_000).toString(16).toUpperCase().padStart(4, '0');
      this.#outBytes = end - 1;
      this.#put(`${stamp}\r`);
    } else this.#outBytes = end;
  }

  flush(): void {
    if (this.#outBytes === 0) return;
    const written = this.#pty.write(this.#out, this.#outBytes);
    this.#out.copyWithin(0, written, this.#outBytes);
    this.#outBytes -= written;
  }

  #command(line: string): void {
    if (line === 'C') {
      this.open = false;
      this.#outBytes = 0;
    } else if (line === 'O' || line === 'L') this.open = true;
    else if (/^Z[01]$/.test(line)) this.#stamps = line === 'Z1';
    else if (line === 'V') this.#put('V1013');
    else if (line === 'N') this.#put('NSIM1');
    else if (line === 'F') this.#put('F00');
    else if (!/^(|[SMmWY][0-9A-F]*|s[0-9A-F]+)$/.test(line) || (this.open && line.startsWith('S'))) {
      this.#reply(BEL);
      return;
    }
    this.#reply(CR);
  }

  #reply(byte: number): void {
    if (this.#options.acknowledges) this.#put(String.fromCharCode(byte));
  }

  #put(text: string): void {
    for (let i = 0; i < text.length && this.#outBytes < BUFFER_BYTES; i++)
      this.#out[this.#outBytes++] = text.charCodeAt(i);
  }
}
