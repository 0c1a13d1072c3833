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
  /** The connection ended or failed; the next attempt is already scheduled. */
  down(why: string): void;
}

const CONNECT_TIMEOUT_MS = 2000;
const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 5000;
/** A connection that lasted this long resets the pause between attempts. */
const GOOD_AFTER_MS = 2000;
const LOOKS = 5;

/** A TCP connection that reconnects whenever it ends, with growing pauses. */
export class TcpLink {
  readonly #options: TcpLinkOptions;
  readonly #events: TcpLinkEvents;
  #socket: Socket | null = null;
  #up = false;
  #retryMs = FIRST_RETRY_MS;
  #retry: NodeJS.Timeout | undefined;
  #good: NodeJS.Timeout | undefined;
  #listening: NodeJS.Timeout | undefined;
  /** Checks since the last bytes arrived. */
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

  /**
   * The operating system has all earlier bytes: the next `send` goes out at once and its buffer may be
   * reused.
   */
  get clear(): boolean {
    return this.#up && this.#socket!.writableLength === 0;
  }

  get localAddress(): string {
    return this.#socket?.localAddress ?? '';
  }

  /** Hands bytes to the operating system. Returns false, and sends nothing, without a connection. */
  send(bytes: Uint8Array): boolean {
    if (!this.#up) return false;
    this.#socket!.write(bytes);
    return true;
  }

  /** Ends this connection with a reason and schedules the next. */
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
   * Node's own timeout is no use here: bytes we send reset it. We count checks rather than time, so that a
   * pause of this process does not look like a silent peer.
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
      current(() => this.drop('connection timed out')),
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
