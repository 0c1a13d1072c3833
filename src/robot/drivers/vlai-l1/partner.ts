// UNVERIFIED ON HARDWARE
import { createSocket, type Socket } from 'node:dgram';
import { TeleopError } from '../../../core/errors.ts';

export interface PartnerConfig {
  port: number;
  otherPort: number;
  speaks: boolean;
  /** Silence after which the other process's target expires. */
  timeoutMs: number;
}

const HOST = '127.0.0.1';
const JOINTS = 7;
/** "FHVL"; one byte: bit 0: follow the target, bit 1: the sender reaches the node; then float64s. */
const MAGIC = 0x4c564846;
const HEAD_BYTES = 8;
const BYTES = HEAD_BYTES + 8 * (JOINTS + 1);

/**
 * The other arm's process, over loopback. The node's command holds both arms, so one process publishes for
 * both and the other sends it its target. A target expires when its process goes silent.
 */
export class Partner {
  readonly speaks: boolean;
  /** The other arm's target, in the node's numbers; valid only while fresh, see `moves`. */
  readonly targetRad = new Float64Array(JOINTS);
  gripperRad = 0;
  rejected = 0;
  readonly #socket: Socket;
  readonly #otherPort: number;
  readonly #timeoutNs: number;
  readonly #nowNs: () => number;
  readonly #out = Buffer.alloc(BYTES);
  #receivedNs = Number.NEGATIVE_INFINITY;
  #flags = 0;

  private constructor({ otherPort, speaks, timeoutMs }: PartnerConfig, socket: Socket, nowNs: () => number) {
    this.speaks = speaks;
    this.#otherPort = otherPort;
    this.#timeoutNs = timeoutMs * 1e6;
    this.#socket = socket;
    this.#nowNs = nowNs;
    this.#out.writeUInt32LE(MAGIC, 0);
    socket.on('error', () => {});
    socket.on('message', (bytes, { port }) => {
      if (port !== otherPort || !this.#take(bytes)) this.rejected++;
    });
  }

  static open(config: PartnerConfig, nowNs: () => number): Promise<Partner> {
    const socket = createSocket('udp4');
    return new Promise((resolve, reject) => {
      socket.once('error', (cause: NodeJS.ErrnoException) => {
        socket.close();
        const hint = 'Set `ros.partner.port` of each arm to a different free port.';
        const what = `cannot listen on ${HOST}:${config.port} for the other arm: ${cause.code}`;
        reject(new TeleopError('port-in-use', what, { hint, cause }));
      });
      socket.bind(config.port, HOST, () => {
        socket.removeAllListeners('error');
        resolve(new Partner(config, socket, nowNs));
      });
    });
  }

  /** The other process has a fresh target. */
  moves(nowNs: number): boolean {
    return this.#isFresh(nowNs) && (this.#flags & 1) !== 0;
  }

  /** The other process is alive and reaches the node. */
  reaches(nowNs: number): boolean {
    return this.#isFresh(nowNs) && (this.#flags & 2) !== 0;
  }

  send(targetRad: Float64Array, gripperRad: number, moves: boolean, reaches: boolean): void {
    this.#out[4] = (moves ? 1 : 0) | (reaches ? 2 : 0);
    for (let i = 0; i < JOINTS; i++) this.#out.writeDoubleLE(targetRad[i]!, HEAD_BYTES + 8 * i);
    this.#out.writeDoubleLE(gripperRad, HEAD_BYTES + 8 * JOINTS);
    this.#socket.send(Buffer.from(this.#out), this.#otherPort, HOST, () => {});
  }

  close(): void {
    this.#socket.close();
  }

  #isFresh(nowNs: number): boolean {
    return Math.abs(nowNs - this.#receivedNs) < this.#timeoutNs;
  }

  #take(bytes: Buffer): boolean {
    if (bytes.length !== BYTES || bytes.readUInt32LE(0) !== MAGIC) return false;
    for (let at = HEAD_BYTES; at < BYTES; at += 8) if (!Number.isFinite(bytes.readDoubleLE(at))) return false;
    for (let i = 0; i < JOINTS; i++) this.targetRad[i] = bytes.readDoubleLE(HEAD_BYTES + 8 * i);
    this.gripperRad = bytes.readDoubleLE(HEAD_BYTES + 8 * JOINTS);
    this.#flags = bytes[4]!;
    this.#receivedNs = this.#nowNs();
    return true;
  }
}
