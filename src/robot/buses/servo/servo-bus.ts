import type { Clock } from '../../../core/time/clock.ts';
import { Reconnecting } from '../reconnecting.ts';
import type { Line, LineBackend } from '../serial-line.ts';
import { PacketParser, type ParserStats } from './packet-parser.ts';
import type { ServoPacket, ServoProtocol } from './servo-protocol.ts';

/**
 * One or more packets to send together, and the replies to the last of them. May be resubmitted once done.
 */
export interface Exchange {
  bytes: Uint8Array;
  byteCount: number;
  /** Number of replies; 0 only for broadcasts without a reply. */
  answers: number;
  /** Bytes of all replies, for the timeout. */
  answerBytes: number;
  /** Returns how many awaited replies this packet held. The packet is reused after the call. */
  onStatus(packet: ServoPacket): number;
  /** Called once: on all replies, on timeout, or when the line is lost. */
  onDone(complete: boolean): void;
}

export interface BusStats extends ParserStats {
  exchanges: number;
  timeouts: number;
  /** Our own packets, echoed by the adapter. */
  echoes: number;
  /** Valid packets that nothing waited for. */
  unexpected: number;
  /** How often the line was lost. */
  lost: number;
}

const MS = 1e6;
/** On top of the wire time: twice the 16 ms for which a USB adapter may buffer bytes. */
const DEFAULT_SLACK_MS = 32;
/** After a stall, timers fire before the received bytes are read: extend the timeout by this, once. */
const GRACE_MS = 4;
/** After a timeout: drop late replies for this long. */
const DISCARD_MS = 3;
const MAX_QUEUE = 256;
/** Start, eight data bits, stop. */
const BITS_PER_BYTE = 10;

/** Transmission time of bytes in milliseconds. */
export const wireMs = (bytes: number, baudRate: number): number => (bytes * BITS_PER_BYTE * 1000) / baudRate;

export interface BusOptions {
  slackMs?: number;
  onLost?(why: string): void;
  /** The line reconnected. Nothing is repeated. */
  onBack?(): void;
}

/**
 * A half-duplex servo bus: one exchange at a time, in the order submitted. It reconnects when its adapter
 * reappears; its user decides what to send then. Owns all timers of its users.
 */
export class ServoBus {
  readonly name: string;
  readonly baudRate: number;
  readonly protocol: ServoProtocol;
  readonly #slackMs: number;
  readonly #clock: Clock;
  readonly #connection: Reconnecting<Line>;
  readonly #parser: PacketParser;
  readonly #queue: Exchange[] = [];
  readonly #own = { exchanges: 0, timeouts: 0, echoes: 0, unexpected: 0, lost: 0 };
  #current: Exchange | null = null;
  #awaited = 0;
  /** Bytes of the current exchange whose echo has come. */
  #echoed = 0;
  #discarding = false;
  #timer: NodeJS.Timeout | undefined;
  #cycle: NodeJS.Timeout | undefined;
  /** When something was last sent. */
  sentNs = Number.NEGATIVE_INFINITY;
  /** How often a servo was asked for a reply that cannot be another's (`isInStep`). */
  marks = 0;

  private constructor(backend: LineBackend, protocol: ServoProtocol, clock: Clock, options: BusOptions) {
    this.name = backend.name;
    this.baudRate = backend.baudRate;
    this.protocol = protocol;
    this.#slackMs = options.slackMs ?? DEFAULT_SLACK_MS;
    this.#clock = clock;
    this.#parser = new PacketParser(protocol, (packet) => this.#onPacket(packet));
    this.#connection = new Reconnecting((onLost) => this.#openLine(backend, onLost), {
      onLost: (why) => {
        this.#onLost();
        options.onLost?.(why);
      },
      onBack: () => options.onBack?.(),
    });
  }

  /** Rejects if the line cannot be opened; only a line that has been open once reopens by itself. */
  static async open(
    backend: LineBackend,
    protocol: ServoProtocol,
    clock: Clock,
    options: BusOptions = {},
  ): Promise<ServoBus> {
    const bus = new ServoBus(backend, protocol, clock, options);
    await bus.#connection.open();
    return bus;
  }

  get isUp(): boolean {
    return this.#connection.link !== null;
  }

  /** Why the line is down; empty while it is up. */
  get trouble(): string {
    return this.#connection.trouble;
  }

  get stats(): BusStats {
    return { ...this.#parser.stats, ...this.#own };
  }

  /** Appends to the queue; `first` puts it in front. Without a line it completes at once, incomplete. */
  submit(exchange: Exchange, first = false): void {
    if (!this.isUp || this.#queue.length >= MAX_QUEUE) {
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

  /** Calls `turn` at this rate until the bus is closed; missed turns are not made up. */
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
    clearTimeout(this.#timer);
    clearTimeout(this.#cycle);
    this.#connection.close();
    this.#abandon();
  }

  #next(): void {
    while (this.#current === null && !this.#discarding && this.isUp) {
      const exchange = this.#queue.shift();
      if (exchange === undefined) return;
      this.#own.exchanges++;
      const sent = this.#transmit(exchange.bytes, exchange.byteCount);
      if (!sent || exchange.answers === 0) exchange.onDone(sent);
      else this.#await(exchange);
    }
  }

  #transmit(bytes: Uint8Array, byteCount: number): boolean {
    const sent = this.#connection.link?.write(bytes, byteCount) ?? false;
    if (sent) this.sentNs = this.#clock.nowNs();
    return sent;
  }

  #await(exchange: Exchange): void {
    this.#current = exchange;
    this.#awaited = exchange.answers;
    this.#echoed = 0;
    const ms = wireMs(exchange.byteCount + exchange.answerBytes, this.baudRate) + this.#slackMs;
    this.#timer = setTimeout(this.#onDue, ms);
  }

  readonly #onDue = (): void => {
    this.#timer = setTimeout(this.#onTimeout, GRACE_MS);
  };

  readonly #onTimeout = (): void => {
    this.#own.timeouts++;
    this.#parser.reset();
    this.#discarding = true;
    this.#timer = setTimeout(() => {
      this.#discarding = false;
      this.#parser.reset();
      this.#next();
    }, DISCARD_MS);
    this.#finish(false);
  };

  #onPacket(packet: ServoPacket): void {
    if (this.#isEcho(packet)) {
      this.#own.echoes++;
      return;
    }
    const brought = this.#current?.onStatus(packet) ?? 0;
    if (brought === 0) this.#own.unexpected++;
    this.#awaited -= brought;
    if (this.#current !== null && this.#awaited <= 0) {
      clearTimeout(this.#timer);
      this.#finish(true);
    }
  }

  /**
   * If nothing marks a status, the first packet equal to one we sent counts as its echo. A reply can equal it
   * too, if its error bits happen to match the instruction code: then it counts as missing, which is safe.
   */
  #isEcho({ id, instruction, wire, wireAt, wireBytes }: ServoPacket): boolean {
    const { status, broadcastId } = this.protocol;
    if (status !== null) return instruction !== status;
    if (id === broadcastId) return true;
    if (this.#current === null) return false;
    const { bytes, byteCount } = this.#current;
    for (let from = this.#echoed; from + wireBytes <= byteCount; from++) {
      let same = 0;
      while (same < wireBytes && bytes[from + same] === wire[wireAt + same]) same++;
      if (same < wireBytes) continue;
      this.#echoed = from + wireBytes;
      return true;
    }
    return false;
  }

  #finish(complete: boolean): void {
    const done = this.#current;
    this.#current = null;
    done?.onDone(complete);
    this.#next();
  }

  async #openLine(backend: LineBackend, onLost: (why: string) => void): Promise<Line> {
    const line = await backend.open({
      onBytes: (bytes, length) => {
        if (!this.#connection.isClosed && !this.#discarding) this.#parser.push(bytes, length);
      },
      onLost,
    });
    this.#parser.reset();
    return line;
  }

  #onLost(): void {
    this.#own.lost++;
    clearTimeout(this.#timer);
    this.#discarding = false;
    this.#abandon();
  }

  #abandon(): void {
    const left = this.#current === null ? this.#queue.splice(0) : [this.#current, ...this.#queue.splice(0)];
    this.#current = null;
    for (const exchange of left) exchange.onDone(false);
  }
}
