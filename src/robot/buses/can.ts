import type { Clock } from '../../core/time/clock.ts';
import { type CanFrame, frameBits } from './can-frame.ts';
import { Reconnecting } from './reconnecting.ts';

/** What a link reports, on the event loop of the thread that opened it. */
export interface CanEvents {
  /** The frame is reused after the call. */
  onFrame(frame: CanFrame): void;
  /** The bus or the adapter reported an error; the link stays up. */
  onError(what: string): void;
  /** The link is gone. Called once; nothing follows. */
  onLost(why: string): void;
}

/** One connection to a bus. */
export interface CanLink {
  /**
   * Hands frames to the operating system before it returns. Returns how many it accepted; the rest are lost.
   * Never throws.
   */
  send(frames: readonly CanFrame[], count: number): number;
  /** Drops accepted frames that are still queued. */
  discard(): void;
  close(): void;
}

/** Opens a bus: SocketCAN, a serial adapter, a loopback. */
export interface CanBackend {
  /** For messages: `slcan /dev/ttyACM0`. */
  readonly name: string;
  /** Rejects with a `TeleopError` if it cannot be opened. */
  open(events: CanEvents): Promise<CanLink>;
}

export interface CanStats {
  received: number;
  sent: number;
  /** Frames that the operating system or the adapter did not accept. */
  dropped: number;
  /** Error frames, and frames the adapter rejected. */
  errors: number;
  /** The last error. */
  lastError: string;
  /** How often the link was lost. */
  lost: number;
}

export interface CanBusOptions {
  bitrate: number;
  /** For FD data with bit rate switch; defaults to the same rate. */
  dataBitrate?: number;
  onFrame(frame: CanFrame): void;
  onLost?(why: string): void;
  /** The bus reconnected after a loss. Frames sent in between are not repeated. */
  onBack?(): void;
}

const LOAD_WINDOW_NS = 1e9;
const LOOK_MS = 5;

/** A CAN bus that reconnects when its adapter reappears. Its user decides what may be sent after a loss. */
export class CanBus {
  readonly stats: CanStats = { received: 0, sent: 0, dropped: 0, errors: 0, lastError: '', lost: 0 };
  readonly name: string;
  readonly #options: CanBusOptions;
  readonly #clock: Clock;
  readonly #connection: Reconnecting<CanLink>;
  readonly #waiting = new Set<() => void>();
  #cycle: NodeJS.Timeout | undefined;
  #bits = 0;
  #windowBits = 0;
  #windowNs: number;
  #load = 0;

  private constructor(backend: CanBackend, options: CanBusOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
    this.name = backend.name;
    this.#windowNs = clock.nowNs();
    this.#connection = new Reconnecting((onLost) => this.#openLink(backend, onLost), {
      onLost: (why) => {
        this.stats.lost++;
        options.onLost?.(why);
      },
      onBack: () => options.onBack?.(),
    });
  }

  /** Rejects if the backend does; only a bus that has been open once reopens by itself. */
  static async open(backend: CanBackend, options: CanBusOptions, clock: Clock): Promise<CanBus> {
    const bus = new CanBus(backend, options, clock);
    await bus.#connection.open();
    return bus;
  }

  get isUp(): boolean {
    return this.#connection.link !== null;
  }

  /** Why the bus is down; empty while it is up. */
  get trouble(): string {
    return this.#connection.trouble;
  }

  /**
   * Share of the bit rate in use over the last whole second, an upper bound: our frames and everyone else's.
   */
  load(): number {
    const nowNs = this.#clock.nowNs();
    const passedNs = nowNs - this.#windowNs;
    if (passedNs >= LOAD_WINDOW_NS) {
      this.#load = (this.#bits - this.#windowBits) / (this.#options.bitrate * (passedNs / 1e9));
      this.#windowBits = this.#bits;
      this.#windowNs = nowNs;
    }
    return this.#load;
  }

  /** Hot path. True if all were accepted; the others are counted and lost. */
  send(frames: readonly CanFrame[], count = frames.length): boolean {
    const taken = this.#connection.link?.send(frames, count) ?? 0;
    for (let i = 0; i < taken; i++) this.#bits += this.#bitsOf(frames[i]!);
    this.stats.sent += taken;
    this.stats.dropped += count - taken;
    return taken === count;
  }

  /** Jumps the queue: for a stop. */
  sendUrgent(frames: readonly CanFrame[]): boolean {
    this.#connection.link?.discard();
    return this.send(frames);
  }

  /** Looks at `isDone` after every frame and every few milliseconds; false on timeout or when the bus is down. */
  until(isDone: () => boolean, timeoutMs: number): Promise<boolean> {
    if (isDone()) return Promise.resolve(true);
    const endNs = this.#clock.nowNs() + timeoutMs * 1e6;
    return new Promise((resolve) => {
      const end = (isSo: boolean): void => {
        clearInterval(timer);
        this.#waiting.delete(look);
        resolve(isSo);
      };
      const look = (): void => {
        if (isDone()) end(true);
        else if (!this.isUp || this.#clock.nowNs() > endNs) end(false);
      };
      const timer = setInterval(look, LOOK_MS);
      this.#waiting.add(look);
    });
  }

  /** Calls `turn` repeatedly until the bus is closed, for devices that send only when polled. */
  every(periodMs: number, turn: (nowNs: number) => void): void {
    clearInterval(this.#cycle);
    this.#cycle = setInterval(() => turn(this.#clock.nowNs()), periodMs);
  }

  close(): void {
    clearInterval(this.#cycle);
    this.#connection.close();
  }

  #bitsOf(frame: CanFrame): number {
    const { bitrate, dataBitrate = bitrate } = this.#options;
    return frameBits(frame, dataBitrate / bitrate);
  }

  #openLink(backend: CanBackend, onLost: (why: string) => void): Promise<CanLink> {
    return backend.open({
      onFrame: (frame) => {
        if (this.#connection.isClosed) return;
        this.stats.received++;
        this.#bits += this.#bitsOf(frame);
        this.#options.onFrame(frame);
        for (const look of this.#waiting) look();
      },
      onError: (what) => {
        this.stats.errors++;
        this.stats.lastError = what;
      },
      onLost,
    });
  }
}
