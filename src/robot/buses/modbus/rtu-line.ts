import { Reconnecting } from '../reconnecting.ts';
import { type Line, serialLine } from '../serial-line.ts';
import { Refused } from '../wait.ts';
import type { ModbusPort } from './modbus.ts';
import { decodeReply, frameBytes, isCrcGood, withCrc } from './rtu-codec.ts';

/** Longest wait for a reply; a USB adapter alone may buffer for 16 ms. */
const REPLY_MS = 250;
const MAX_FRAME_BYTES = 256;
const MAX_QUEUE = 32;

interface Waiting {
  request: Uint8Array;
  resolve(registers: number[]): void;
  reject(error: Refused): void;
}

/** Modbus RTU on a serial line, as its only master: one request at a time. Reconnects. */
export class RtuLine implements ModbusPort {
  busErrors = 0;
  readonly #connection: Reconnecting<Line>;
  readonly #queue: Waiting[] = [];
  readonly #in = new Uint8Array(MAX_FRAME_BYTES);
  #inBytes = 0;
  #current: Waiting | null = null;
  #timer: NodeJS.Timeout | undefined;

  private constructor(path: string, baudRate: number) {
    const backend = serialLine(path, baudRate);
    const onBytes = (bytes: Uint8Array, length: number) => this.#onBytes(bytes, length);
    this.#connection = new Reconnecting((onLost) => backend.open({ onBytes, onLost }), {
      onLost: (why) => this.#abandon(why),
      onBack: () => {},
    });
  }

  /** Rejects with a `TeleopError` if the line cannot be opened. */
  static async open(path: string, baudRate: number): Promise<RtuLine> {
    const line = new RtuLine(path, baudRate);
    await line.#connection.open();
    return line;
  }

  get trouble(): string {
    return this.#connection.trouble;
  }

  ask(request: Uint8Array, first = false): Promise<number[]> {
    return new Promise((resolve, reject) => {
      if (this.trouble !== '' || this.#queue.length >= MAX_QUEUE) {
        reject(new Refused(this.trouble || 'the serial line is busy'));
        return;
      }
      const waiting = { request, resolve, reject };
      if (first) this.#queue.unshift(waiting);
      else this.#queue.push(waiting);
      this.#next();
    });
  }

  close(): void {
    this.#connection.close();
    this.#abandon('closed');
  }

  #next(): void {
    if (this.#current !== null) return;
    const next = this.#queue.shift();
    if (next === undefined) return;
    this.#current = next;
    this.#inBytes = 0;
    const frame = withCrc(next.request);
    this.#timer = setTimeout(() => this.#fail(`no reply within ${REPLY_MS} ms`), REPLY_MS);
    if (this.#connection.link?.write(frame, frame.length) !== true)
      this.#fail('the serial line takes no bytes');
  }

  #onBytes(bytes: Uint8Array, length: number): void {
    // Bytes that nobody waits for: a late reply, or noise.
    if (this.#current === null) return;
    const room = Math.min(length, MAX_FRAME_BYTES - this.#inBytes);
    this.#in.set(bytes.subarray(0, room), this.#inBytes);
    this.#inBytes += room;
    const frame = this.#in.subarray(0, this.#inBytes);
    const wanted = frameBytes(this.#current.request, frame);
    if (wanted === 0 || this.#inBytes < wanted) return;
    if (this.#inBytes > wanted || !isCrcGood(frame)) this.#fail('a malformed reply');
    else this.#take(frame.subarray(0, wanted - 2));
  }

  #take(reply: Uint8Array): void {
    const registers = decodeReply(this.#current!.request, reply);
    if (typeof registers === 'string') this.#fail(registers);
    else this.#end((waiting) => waiting.resolve(registers));
  }

  #fail(why: string): void {
    this.busErrors++;
    this.#end((waiting) => waiting.reject(new Refused(why)));
  }

  #end(tell: (waiting: Waiting) => void): void {
    clearTimeout(this.#timer);
    const done = this.#current;
    this.#current = null;
    if (done !== null) tell(done);
    this.#next();
  }

  #abandon(why: string): void {
    clearTimeout(this.#timer);
    const left = this.#current === null ? this.#queue.splice(0) : [this.#current, ...this.#queue.splice(0)];
    this.#current = null;
    for (const waiting of left) waiting.reject(new Refused(why));
  }
}
