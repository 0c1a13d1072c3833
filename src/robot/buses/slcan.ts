// UNVERIFIED ON HARDWARE: tested on pseudo-terminals only.
import { TeleopError } from '../../core/errors.ts';
import type { CanBackend, CanEvents, CanLink } from './can.ts';
import type { CanFrame } from './can-frame.ts';
import { openSerial, type SerialLine } from './serial.ts';
import { SerialQueue } from './serial-queue.ts';
import { BITRATE_CODES, encodeSlcan, MAX_LINE_BYTES, SlcanDecoder } from './slcan-codec.ts';

export interface SlcanOptions {
  path: string;
  bitrate: number;
  /** For FD data with bit rate switch; absent: classic frames only. */
  dataBitrate?: number;
  /** For the serial line; USB adapters ignore it. */
  baudRate?: number;
}

/** Send buffer for a slow adapter: a few cycles of frames; beyond that, frames are dropped. */
const MAX_PENDING_BYTES = 4096;
/** Ignore errors this long after opening: the adapter may reject the initial clean-up. */
const SETTLED_MS = 200;
const CR = 0x0d;
/** `Y` codes of CANable 2, the only serial adapter known to support FD. */
const DATA_CODES: Readonly<Record<number, number>> = { 2000000: 2, 5000000: 5 };

/** A serial CAN adapter (CANable, CANtact, LAWICEL). Replies are optional: CANable 2 sends none. */
export function slcanBackend({ path, bitrate, dataBitrate, baudRate = 115_200 }: SlcanOptions): CanBackend {
  const rate = `S${codeOf(BITRATE_CODES, bitrate)}\r`;
  const dataRate = dataBitrate === undefined ? '' : `Y${codeOf(DATA_CODES, dataBitrate)}\r`;
  return {
    name: `slcan ${path}`,
    async open(events) {
      const link = new SlcanLink(events);
      // The empty line terminates any partial command in the adapter.
      link.begin(await openSerial(path, baudRate, link), `\rC\r${rate}${dataRate}O\r`);
      return link;
    },
  };
}

function codeOf(codes: Readonly<Record<number, number>>, bitrate: number): number {
  const code = codes[bitrate];
  if (code !== undefined) return code;
  throw new TeleopError('bad-config', `SLCAN does not support bit rate ${bitrate}`, {
    hint: `Choose one of ${Object.keys(codes).join(', ')}.`,
  });
}

class SlcanLink implements CanLink {
  readonly #events: CanEvents;
  readonly #decoder: SlcanDecoder;
  readonly #queue = new SerialQueue(MAX_PENDING_BYTES + MAX_LINE_BYTES);
  #settled = false;

  constructor(events: CanEvents) {
    this.#events = events;
    this.#decoder = new SlcanDecoder({
      onFrame: (frame) => events.onFrame(frame),
      onLine: () => {},
      onRejected: () => this.#reportError('the adapter rejected a frame or a command'),
      onGarbage: () => this.#reportError('the adapter sent data that is not SLCAN'),
    });
  }

  begin(line: SerialLine, greeting: string): void {
    this.#queue.begin(line);
    this.#writeText(greeting);
    setTimeout(() => {
      this.#settled = true;
    }, SETTLED_MS).unref();
  }

  onBytes(bytes: Uint8Array, length: number): void {
    this.#decoder.push(bytes, length);
  }

  onLost(why: string): void {
    this.#queue.end();
    this.#events.onLost(why);
  }

  send(frames: readonly CanFrame[], count: number): number {
    const queue = this.#queue;
    if (queue.line === null) return 0;
    let taken = 0;
    while (taken < count && queue.count < MAX_PENDING_BYTES) {
      const end = encodeSlcan(frames[taken]!, queue.bytes, queue.count);
      if (end < 0) break;
      queue.count = end;
      taken++;
    }
    queue.flush();
    return queue.line === null ? 0 : taken;
  }

  /** Everything except the tail of a line already partly sent. */
  discard(): void {
    const end = this.#queue.bytes.subarray(0, this.#queue.count).indexOf(CR);
    if (end >= 0) this.#queue.count = end + 1;
  }

  close(): void {
    if (this.#queue.line === null) return;
    this.#writeText('C\r');
    this.#queue.line?.close();
    this.#queue.end();
  }

  #writeText(text: string): void {
    const queue = this.#queue;
    for (let i = 0; i < text.length && queue.count < queue.bytes.length; i++)
      queue.bytes[queue.count++] = text.charCodeAt(i);
    queue.flush();
  }

  #reportError(what: string): void {
    if (this.#settled) this.#events.onError(what);
  }
}
