import { createServer, type Server, type Socket } from 'node:net';
import { ConnectionTable } from '../../../core/connection-table.ts';
import { encodeReverseFrame, REVERSE_FRAME_BYTES, REVERSE_MODE } from './reverse-frame.ts';

/** A connection that does not send its token within this time is dropped. */
const TOKEN_TIMEOUT_MS = 1000;
/** Beyond this many connections without a token, a new one replaces the oldest. */
const LIMITS = { local: 0, known: 0, strangers: 4, perAddress: 4 };

/** The connection over which a control program on the robot reads its setpoints. */
export class ReverseSession {
  readonly #socket: Socket;
  readonly #frame = Buffer.alloc(REVERSE_FRAME_BYTES);
  #open = true;

  constructor(socket: Socket, closed: () => void) {
    this.#socket = socket;
    const end = () => {
      if (!this.#open) return;
      this.#open = false;
      socket.destroy();
      closed();
    };
    socket.on('close', end);
    socket.on('end', end);
  }

  get open(): boolean {
    return this.#open;
  }

  /**
   * Hands a frame to the operating system. False without a connection, or if the last frame is still
   * buffered: an old setpoint must not wait there. Hot path.
   */
  send(timeoutMs: number, values: Float64Array | null, mode: number): boolean {
    if (!this.#open || this.#socket.writableLength > 0) return false;
    encodeReverseFrame(this.#frame, timeoutMs, values, mode);
    this.#socket.write(this.#frame);
    return true;
  }

  /** Tells the program to stop the robot and end, then closes. */
  stop(): void {
    if (!this.#open) return;
    this.#open = false;
    const frame = Buffer.alloc(REVERSE_FRAME_BYTES);
    encodeReverseFrame(frame, 100, null, REVERSE_MODE.stop);
    this.#socket.end(frame);
    this.#socket.setTimeout(TOKEN_TIMEOUT_MS, () => this.#socket.destroy());
  }

  destroy(): void {
    this.#open = false;
    this.#socket.destroy();
  }
}

/**
 * Waits for control programs to connect. Accepts only the one with the current token, once; all others are
 * dropped and counted.
 */
export class ReverseServer {
  readonly #server: Server;
  readonly #callers = new Set<Socket>();
  readonly #table = new ConnectionTable<Socket>(LIMITS, () => false);
  #expect: { token: number; taken(socket: Socket): void } | null = null;
  rejected = 0;

  private constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket) => this.#called(socket));
  }

  static open(host: string, port: number): Promise<ReverseServer> {
    return new Promise((resolve, reject) => {
      const server = createServer({ noDelay: true });
      server.once('error', reject);
      server.listen({ host, port }, () => {
        server.off('error', reject);
        server.on('error', () => {});
        resolve(new ReverseServer(server));
      });
    });
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  /** From now on accept the program with this token. */
  expect(token: number, taken: (socket: Socket) => void): void {
    this.#expect = { token, taken };
  }

  expectNone(): void {
    this.#expect = null;
  }

  dispose(): void {
    this.#expect = null;
    for (const socket of this.#callers) socket.destroy();
    this.#server.close();
  }

  #called(socket: Socket): void {
    socket.on('error', () => {});
    if (this.#expect === null) return this.#reject(socket);
    const dropped = this.#table.add(socket, socket.remoteAddress ?? '');
    if (dropped !== null) this.#reject(dropped);
    this.#callers.add(socket);
    socket.on('close', () => this.#forget(socket));
    socket.setTimeout(TOKEN_TIMEOUT_MS, () => this.#reject(socket));
    const token = Buffer.alloc(4);
    let tokenBytes = 0;
    const listen = (chunk: Buffer) => {
      tokenBytes += chunk.copy(token, tokenBytes);
      if (tokenBytes < 4) return;
      socket.off('data', listen);
      const expected = this.#expect;
      if (expected === null || token.readInt32BE(0) !== expected.token) return this.#reject(socket);
      this.#expect = null;
      this.#forget(socket);
      socket.setTimeout(0);
      socket.resume();
      expected.taken(socket);
    };
    socket.on('data', listen);
  }

  #forget(socket: Socket): void {
    this.#callers.delete(socket);
    this.#table.delete(socket);
  }

  #reject(socket: Socket): void {
    this.rejected++;
    socket.destroy();
  }
}
