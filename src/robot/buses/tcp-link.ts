import { connect, type Socket } from 'node:net';

export interface TcpLinkOptions {
  host: string;
  port: number;
  /** No bytes for this long: the connection counts as lost. */
  silenceMs: number;
}

/** Called on the event loop. `bytes` is only valid during the call. */
export interface TcpLinkEvents {
  up(): void;
  bytes(chunk: Buffer): void;
  /** The connection ended or could not be made; the next attempt is already planned. */
  down(why: string): void;
}

const CONNECT_TIMEOUT_MS = 2000;
const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 5000;
/** A connection that held this long was a good one: the next attempt comes soon again. */
const GOOD_AFTER_MS = 2000;
const LOOKS = 5;

/** A TCP connection that is made again whenever it ends, with growing pauses. */
export class TcpLink {
  readonly #options: TcpLinkOptions;
  readonly #events: TcpLinkEvents;
  #socket: Socket | null = null;
  #up = false;
  #retryMs = FIRST_RETRY_MS;
  #retry: NodeJS.Timeout | undefined;
  #good: NodeJS.Timeout | undefined;
  #listening: NodeJS.Timeout | undefined;
  /** Looks since the last bytes came. */
  #quiet = 0;
  #disposed = false;

  constructor(options: TcpLinkOptions, events: TcpLinkEvents) {
    this.#options = options;
    this.#events = events;
    this.#connect();
  }

  get up(): boolean {
    return this.#up;
  }

  /** All earlier bytes are with the operating system: the next `send` goes out at once and its buffer is free again. */
  get clear(): boolean {
    return this.#up && this.#socket!.writableLength === 0;
  }

  get localAddress(): string {
    return this.#socket?.localAddress ?? '';
  }

  /** Hands bytes to the operating system. False, and nothing sent, when there is no connection. */
  send(bytes: Uint8Array): boolean {
    if (!this.#up) return false;
    this.#socket!.write(bytes);
    return true;
  }

  /** Ends this connection, for a stated reason, and plans the next. */
  drop(why: string): void {
    const socket = this.#socket;
    if (socket === null) return;
    this.#socket = null;
    this.#up = false;
    clearTimeout(this.#good);
    clearInterval(this.#listening);
    socket.destroy();
    if (this.#disposed) return;
    this.#retry = setTimeout(() => this.#connect(), this.#retryMs);
    this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS);
    this.#events.down(why);
  }

  dispose(): void {
    this.#disposed = true;
    clearTimeout(this.#retry);
    this.drop('closed');
  }

  /**
   * Node's own timeout is of no use here: what we send counts for it. Looks are counted, not time, so that a pause of
   * this process is not taken for silence of the peer.
   */
  #listen(socket: Socket): void {
    const { silenceMs } = this.#options;
    socket.setTimeout(0);
    this.#quiet = 0;
    this.#listening = setInterval(() => {
      if (++this.#quiet > LOOKS) this.drop(`silent for ${silenceMs} ms`);
    }, silenceMs / LOOKS);
  }

  #connect(): void {
    const { host, port } = this.#options;
    const socket = connect({ host, port, noDelay: true, timeout: CONNECT_TIMEOUT_MS });
    this.#socket = socket;
    const current = (act: () => void) => () => {
      if (this.#socket === socket) act();
    };
    socket.on(
      'connect',
      current(() => {
        this.#up = true;
        this.#listen(socket);
        this.#good = setTimeout(() => {
          this.#retryMs = FIRST_RETRY_MS;
        }, GOOD_AFTER_MS);
        this.#events.up();
      }),
    );
    socket.on('data', (chunk: Buffer) => {
      this.#quiet = 0;
      if (this.#socket === socket) this.#events.bytes(chunk);
    });
    socket.on(
      'timeout',
      current(() => this.drop('no answer')),
    );
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (this.#socket === socket) this.drop(error.code ?? error.message);
    });
    socket.on(
      'close',
      current(() => this.drop('closed by the robot')),
    );
  }
}
