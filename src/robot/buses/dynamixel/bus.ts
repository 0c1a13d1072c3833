import type { Clock } from '../../../core/time/clock.ts';
import type { Line, LineBackend } from './line.ts';
import { INSTRUCTION } from './packets.ts';
import { type DynamixelPacket, PacketParser, type ParserStats } from './parser.ts';

/** One or more packets to send together, and the answers to the last of them. May be submitted again once done. */
export interface Exchange {
  bytes: Uint8Array;
  byteCount: number;
  /** How many; 0 where nothing is answered. */
  answers: number;
  /** What the answers take on the wire, for the timeout. */
  answerBytes: number;
  /** How many of the awaited answers this packet brought. It is reused after the call. */
  onStatus(packet: DynamixelPacket): number;
  /** Once: all answers came, or they did not in time, or the line is gone. */
  onDone(complete: boolean): void;
}

export interface BusStats extends ParserStats {
  exchanges: number;
  timeouts: number;
  /** Our own packets, heard again. */
  echoes: number;
  /** Good packets that nobody waited for. */
  unexpected: number;
  /** Times the line was lost. */
  lost: number;
}

const MS = 1e6;
/** Beside the time on the wire: two times the 16 ms that a USB adapter may keep bytes back. */
const DEFAULT_SLACK_MS = 32;
/** A thread that stood still finds its timers due before it has read what came meanwhile: so much longer, once. */
const GRACE_MS = 4;
/** After a timeout: what still arrives belongs to the past. */
const DEAF_MS = 3;
const MAX_QUEUE = 256;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 3000;
/** Start, eight data bits, stop. */
const BITS_PER_BYTE = 10;

/** Milliseconds that bytes take on the wire. */
export const wireMs = (bytes: number, baudRate: number): number => (bytes * BITS_PER_BYTE * 1000) / baudRate;

export interface BusOptions {
  slackMs?: number;
  onLost?(why: string): void;
  /** The line can be reached again. Nothing is repeated. */
  onBack?(): void;
}

/**
 * A half-duplex bus of Dynamixel motors: one exchange at a time, in the order submitted. The line comes back by itself
 * when its adapter does; what to send then is for the bus's user to decide. Owns all timers of its users.
 */
export class DynamixelBus {
  readonly name: string;
  readonly baudRate: number;
  readonly #backend: LineBackend;
  readonly #options: BusOptions;
  readonly #clock: Clock;
  readonly #parser: PacketParser;
  readonly #queue: Exchange[] = [];
  readonly #own = { exchanges: 0, timeouts: 0, echoes: 0, unexpected: 0, lost: 0 };
  #line: Line | null = null;
  #trouble = 'not open';
  #current: Exchange | null = null;
  #awaited = 0;
  #deaf = false;
  #timer: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;
  #cycle: NodeJS.Timeout | undefined;
  #closed = false;
  /** When something was last sent. */
  sentNs = Number.NEGATIVE_INFINITY;

  private constructor(backend: LineBackend, clock: Clock, options: BusOptions) {
    this.name = backend.name;
    this.baudRate = backend.baudRate;
    this.#backend = backend;
    this.#clock = clock;
    this.#options = options;
    this.#parser = new PacketParser((packet) => this.#onPacket(packet));
  }

  /** Rejects where the line cannot be opened; only one that was open once is opened again by itself. */
  static async open(backend: LineBackend, clock: Clock, options: BusOptions = {}): Promise<DynamixelBus> {
    const bus = new DynamixelBus(backend, clock, options);
    await bus.#connect();
    return bus;
  }

  get isUp(): boolean {
    return this.#line !== null;
  }

  /** Why the line is down; empty while it is up. */
  get trouble(): string {
    return this.#trouble;
  }

  get stats(): BusStats {
    return { ...this.#parser.stats, ...this.#own };
  }

  /** Queued behind the others; `first` puts it before them. Without a line it is done at once, incomplete. */
  submit(exchange: Exchange, first = false): void {
    if (this.#line === null || this.#queue.length >= MAX_QUEUE) {
      exchange.onDone(false);
      return;
    }
    if (first) this.#queue.unshift(exchange);
    else this.#queue.push(exchange);
    this.#next();
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, ms));
  }

  /** Calls `turn` that many times a second until the bus is closed; turns that were missed are not made up. */
  every(hz: number, turn: (nowNs: number) => void): void {
    const periodMs = 1000 / hz;
    let dueMs = this.#clock.nowNs() / MS;
    const run = (): void => {
      const nowMs = this.#clock.nowNs() / MS;
      dueMs += periodMs;
      if (dueMs < nowMs - periodMs) dueMs = nowMs;
      // A timer may fire up to a millisecond late, so it aims early.
      this.#cycle = setTimeout(run, Math.max(0, dueMs - nowMs - 0.5));
      turn(nowMs * MS);
    };
    clearTimeout(this.#cycle);
    run();
  }

  close(): void {
    this.#closed = true;
    for (const timer of [this.#timer, this.#retry, this.#cycle]) clearTimeout(timer);
    this.#line?.close();
    this.#line = null;
    this.#trouble = 'closed';
    this.#abandon();
  }

  #next(): void {
    while (this.#current === null && !this.#deaf && this.#line !== null) {
      const exchange = this.#queue.shift();
      if (exchange === undefined) return;
      this.#own.exchanges++;
      const sent = this.#transmit(exchange.bytes, exchange.byteCount);
      if (!sent || exchange.answers === 0) exchange.onDone(sent);
      else this.#await(exchange);
    }
  }

  #transmit(bytes: Uint8Array, byteCount: number): boolean {
    const sent = this.#line?.write(bytes, byteCount) ?? false;
    if (sent) this.sentNs = this.#clock.nowNs();
    return sent;
  }

  #await(exchange: Exchange): void {
    this.#current = exchange;
    this.#awaited = exchange.answers;
    const { slackMs = DEFAULT_SLACK_MS } = this.#options;
    const ms = wireMs(exchange.byteCount + exchange.answerBytes, this.baudRate) + slackMs;
    this.#timer = setTimeout(this.#onDue, ms);
  }

  readonly #onDue = (): void => {
    this.#timer = setTimeout(this.#onTimeout, GRACE_MS);
  };

  readonly #onTimeout = (): void => {
    this.#own.timeouts++;
    this.#parser.reset();
    this.#deaf = true;
    this.#timer = setTimeout(() => {
      this.#deaf = false;
      this.#parser.reset();
      this.#next();
    }, DEAF_MS);
    this.#finish(false);
  };

  #onPacket(packet: DynamixelPacket): void {
    if (packet.instruction !== INSTRUCTION.status) this.#own.echoes++;
    else {
      const brought = this.#current?.onStatus(packet) ?? 0;
      if (brought === 0) this.#own.unexpected++;
      this.#awaited -= brought;
      if (this.#current !== null && this.#awaited <= 0) {
        clearTimeout(this.#timer);
        this.#finish(true);
      }
    }
  }

  #finish(complete: boolean): void {
    const done = this.#current;
    this.#current = null;
    done?.onDone(complete);
    this.#next();
  }

  async #connect(): Promise<void> {
    let lostWhy: string | null = null;
    const line = await this.#backend.open({
      onBytes: (bytes, length) => {
        if (!this.#closed && !this.#deaf) this.#parser.push(bytes, length);
      },
      onLost: (why) => {
        lostWhy = why;
        if (this.#line !== null) this.#lose(why);
      },
    });
    if (this.#closed) line.close();
    else if (lostWhy !== null) throw new Error(lostWhy);
    else {
      this.#line = line;
      this.#trouble = '';
      this.#parser.reset();
    }
  }

  #lose(why: string): void {
    this.#line = null;
    if (this.#closed) return;
    this.#own.lost++;
    this.#trouble = why;
    clearTimeout(this.#timer);
    this.#deaf = false;
    this.#abandon();
    this.#options.onLost?.(why);
    this.#retryIn(FIRST_RETRY_MS);
  }

  #abandon(): void {
    const left = this.#current === null ? this.#queue.splice(0) : [this.#current, ...this.#queue.splice(0)];
    this.#current = null;
    for (const exchange of left) exchange.onDone(false);
  }

  #retryIn(ms: number): void {
    this.#retry = setTimeout(() => {
      this.#connect().then(
        () => {
          if (!this.#closed) this.#options.onBack?.();
        },
        () => {
          if (!this.#closed) this.#retryIn(Math.min(LAST_RETRY_MS, ms * 2));
        },
      );
    }, ms);
  }
}
