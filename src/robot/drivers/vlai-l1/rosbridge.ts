// UNVERIFIED ON HARDWARE: tested against our own server, which roslib's client also works with.
import type { RawData, WebSocket } from 'ws';
import { z } from 'zod';
import { EntryBoundary } from '../../../core/entry-boundary.ts';
import { TeleopError } from '../../../core/errors.ts';
import { parseJson } from '../../../core/parse-json.ts';

/** A server message; the subscriber validates `msg`. */
const messageSchema = z.discriminatedUnion('op', [
  z.object({ op: z.literal('publish'), topic: z.string(), msg: z.unknown() }),
  z.object({ op: z.literal('status'), level: z.string().optional() }),
]);

export interface RosbridgeOptions {
  url: string;
  /** Advertised when connected: topic → type. */
  publishes: Readonly<Record<string, string>>;
  /** Subscribed to when connected: topic → type. */
  subscribes: Readonly<Record<string, string>>;
  onMessage(topic: string, message: unknown): void;
  /** An invalid message, or an error reported by the server. */
  onRejected(reason: string): void;
}

const CONNECT_MS = 5000;
const RETRY_MS = 500;
const MAX_TEXT_BYTES = 65_536;
/** Send nothing to a congested connection: queued messages would arrive late. */
const MAX_BUFFERED_BYTES = 65_536;
const LOOK_MS = 5;

/** A client of rosbridge (version 2 of its protocol, JSON over a WebSocket). Reconnects by itself. */
export class Rosbridge {
  readonly #options: RosbridgeOptions;
  readonly #WebSocket: typeof WebSocket;
  #socket: WebSocket | null = null;
  #retry: NodeJS.Timeout | undefined;
  readonly #boundary = new EntryBoundary('rosbridge');
  #closed = false;
  trouble = 'not connected';

  private constructor(options: RosbridgeOptions, Socket: typeof WebSocket) {
    this.#options = options;
    this.#WebSocket = Socket;
  }

  /** Rejects if there is no server; only a connection that has been open once reopens by itself. */
  static async open(options: RosbridgeOptions): Promise<Rosbridge> {
    const { WebSocket: Socket } = await import('ws');
    const bridge = new Rosbridge(options, Socket);
    try {
      await bridge.#connect();
    } catch (cause) {
      bridge.close();
      throw new TeleopError(
        'robot-unreachable',
        `no rosbridge at ${options.url}: ${(cause as Error).message}`,
        {
          hint: 'Start it on the robot: `ros2 launch rosbridge_server rosbridge_websocket_launch.xml`, and check the address.',
          cause,
        },
      );
    }
    return bridge;
  }

  get isUp(): boolean {
    return this.#socket !== null;
  }

  publish(topic: string, message: unknown): boolean {
    const socket = this.#socket;
    if (socket === null || socket.bufferedAmount > MAX_BUFFERED_BYTES) return false;
    socket.send(JSON.stringify({ op: 'publish', topic, msg: message }));
    return true;
  }

  async until(condition: () => boolean, timeoutMs: number): Promise<boolean> {
    for (let left = Math.ceil(timeoutMs / LOOK_MS); !condition(); left--) {
      if (left <= 0) return false;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    return true;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#retry);
    this.#socket?.close();
    this.#socket = null;
    this.trouble = 'closed';
  }

  #connect(): Promise<void> {
    const { url, publishes, subscribes } = this.#options;
    return new Promise((resolve, reject) => {
      const socket = new this.#WebSocket(url, {
        handshakeTimeout: CONNECT_MS,
        maxPayload: MAX_TEXT_BYTES,
        perMessageDeflate: false,
      });
      socket.on('open', () => {
        for (const [topic, type] of Object.entries(publishes))
          socket.send(JSON.stringify({ op: 'advertise', topic, type }));
        for (const [topic, type] of Object.entries(subscribes))
          socket.send(JSON.stringify({ op: 'subscribe', topic, type, queue_length: 1, throttle_rate: 0 }));
        this.#socket = socket;
        this.trouble = '';
        resolve();
      });
      socket.on('message', (data, isBinary) => this.#onMessage(data, isBinary));
      socket.on('error', (error) => {
        this.trouble = error.message;
        reject(error);
      });
      socket.on('close', () => this.#onClose(socket));
    });
  }

  #onClose(socket: WebSocket): void {
    if (socket !== this.#socket) return;
    this.#socket = null;
    this.trouble ||= 'the server closed the connection';
    this.#retryLater();
  }

  #retryLater(): void {
    if (this.#closed) return;
    this.#retry = setTimeout(() => {
      this.#connect().catch(() => this.#retryLater());
    }, RETRY_MS);
  }

  #onMessage(data: RawData, isBinary: boolean): void {
    const { onMessage, onRejected, subscribes } = this.#options;
    const message = isBinary ? 'malformed' : parseJson(String(data), messageSchema, MAX_TEXT_BYTES);
    if (typeof message === 'string') return onRejected('malformed');
    if (message.op === 'publish') {
      if (!Object.hasOwn(subscribes, message.topic)) return onRejected('malformed');
      return this.#boundary.run(
        () => onMessage(message.topic, message.msg),
        () => onRejected('malformed'),
      );
    }
    if (message.level === 'error' || message.level === 'warning') onRejected('server error');
  }
}
