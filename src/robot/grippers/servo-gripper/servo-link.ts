import { createSocket, type Socket } from 'node:dgram';
import type { GripperLink } from '../../buses/polled-gripper.ts';
import { Refused } from '../../buses/wait.ts';
import type { GripperReading } from '../../gripper.ts';
import { decodeServoReply, encodeRequest, FULL, type ServoRequest } from './servo-codec.ts';

/** A datagram may be lost: asks again after this. */
const REPLY_MS = 200;

/** A servo behind a microcontroller with a network interface, over UDP. */
export class ServoLink implements GripperLink {
  busErrors = 0;
  readonly #socket: Socket;
  #number = 0;
  #closed = false;
  #answer: ((position: number) => void) | null = null;
  #error = '';

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('message', (bytes) => this.#onMessage(bytes));
    // A port that nobody listens on: the missing replies say so.
    socket.on('error', (error) => {
      this.#error = error.message;
    });
  }

  /** Rejects if the address cannot be resolved. */
  static async open(host: string, port: number): Promise<ServoLink> {
    const socket = createSocket('udp4');
    const link = new ServoLink(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.connect(port, host, () => {
        socket.off('error', reject);
        resolve();
      });
    });
    return link;
  }

  /** Empty: a datagram needs no connection. Missing replies are reported by `cycle`. */
  readonly trouble = '';

  async prepare(_signal: AbortSignal): Promise<void> {
    await this.#ask('H');
  }

  async cycle(target: number, out: GripperReading): Promise<void> {
    out.position = await this.#ask(Number.isNaN(target) ? '?' : Math.round(target * FULL));
  }

  stop(): void {
    this.#send('H');
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    // The last datagram leaves before the socket closes.
    setImmediate(() => this.#socket.close());
  }

  #send(request: ServoRequest): void {
    this.#number++;
    if (!this.#closed) this.#socket.send(encodeRequest(this.#number, request), () => {});
  }

  #ask(request: ServoRequest): Promise<number> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#answer = null;
        this.busErrors++;
        reject(new Refused(this.#error || 'no reply'));
      }, REPLY_MS);
      this.#answer = (position) => {
        clearTimeout(timer);
        this.#answer = null;
        this.#error = '';
        resolve(position);
      };
      this.#send(request);
    });
  }

  #onMessage(bytes: Buffer): void {
    const reply = decodeServoReply(bytes);
    if (reply === null) this.busErrors++;
    else if (reply.number === this.#number) this.#answer?.(reply.position);
  }
}
