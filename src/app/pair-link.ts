import { createSocket, type Socket } from 'node:dgram';
import { SnapshotBoard } from '../core/memory/snapshot.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import { readRobotBoard } from '../messages/robot-board.ts';
import { type PairBoard, pairBoard } from '../robot/pair-watch.ts';
import type { SupervisorConfig } from '../robot/supervisor/supervisor-config.ts';
import { socketError } from '../wire/transports/socket-error.ts';
import type { RoleMemory } from './role-memory.ts';

type PairConfig = NonNullable<SupervisorConfig['pair']>;

const HOST = '127.0.0.1';
const EVERY_MS = 5;
/**
 * "FHPR", flags u8 (bit 0: stopped), joint count u8, two bytes padding, then float64: measurement time,
 * joints.
 */
const MAGIC = 0x52504846;
const HEAD_BYTES = 16;

/**
 * Sends this arm's joints and whether it is stopped to the other arm's process, 200 times a second over
 * loopback, and puts what it receives from that process into shared memory. Runs on the main thread: late or
 * lost datagrams count as silence, and silence causes a hold.
 */
export class PairLink {
  /** Datagrams that were malformed or not from the other arm. */
  refused = 0;
  readonly #config: PairConfig;
  readonly #socket: Socket;
  readonly #own: SnapshotBoard;
  readonly #joints: number;
  readonly #other: PairBoard;
  readonly #otherRad: Float64Array;
  #timer: NodeJS.Timeout | undefined;

  private constructor(
    config: PairConfig,
    memory: RoleMemory,
    model: RobotModel,
    neighbour: RobotModel,
    socket: Socket,
  ) {
    this.#config = config;
    this.#socket = socket;
    this.#own = new SnapshotBoard(memory.board);
    this.#joints = model.joints.length;
    this.#other = pairBoard(memory.pair, neighbour.joints.length);
    this.#otherRad = new Float64Array(neighbour.joints.length);
    socket.on('message', (bytes, { port }) => {
      if (port !== config.otherPort || !this.#take(bytes)) this.refused++;
    });
    socket.on('error', () => {});
    this.#timer = setInterval(() => this.#send(), EVERY_MS);
  }

  static open(
    config: PairConfig,
    memory: RoleMemory,
    model: RobotModel,
    neighbour: RobotModel,
  ): Promise<PairLink> {
    const socket = createSocket('udp4');
    return new Promise((resolve, reject) => {
      socket.once('error', (error: NodeJS.ErrnoException) => {
        socket.close();
        const spec = { name: 'pair', host: HOST, port: config.port, portKey: 'robot.pair.port' };
        reject(socketError(spec, error.code ?? String(error)));
      });
      socket.bind(config.port, HOST, () => {
        socket.removeAllListeners('error');
        resolve(new PairLink(config, memory, model, neighbour, socket));
      });
    });
  }

  close(): void {
    clearInterval(this.#timer);
    this.#socket.close();
  }

  #send(): void {
    const state = readRobotBoard(this.#own, this.#joints);
    if (state === null || !state.measuredRad.every(Number.isFinite)) return;
    const bytes = Buffer.alloc(HEAD_BYTES + 8 * this.#joints);
    bytes.writeUInt32LE(MAGIC, 0);
    bytes[4] = state.state === 'stopped' ? 1 : 0;
    bytes[5] = this.#joints;
    bytes.writeDoubleLE(state.robotNs, 8);
    state.measuredRad.forEach((rad, i) => {
      bytes.writeDoubleLE(rad, HEAD_BYTES + 8 * i);
    });
    this.#socket.send(bytes, this.#config.otherPort, HOST);
  }

  #take(bytes: Buffer): boolean {
    const joints = this.#otherRad.length;
    if (bytes.length !== HEAD_BYTES + 8 * joints || bytes.readUInt32LE(0) !== MAGIC || bytes[5] !== joints)
      return false;
    for (let i = 0; i < joints; i++) this.#otherRad[i] = bytes.readDoubleLE(HEAD_BYTES + 8 * i);
    const measuredNs = bytes.readDoubleLE(8);
    if (!Number.isFinite(measuredNs) || !this.#otherRad.every(Number.isFinite)) return false;
    this.#other.value.measuredNs = measuredNs;
    this.#other.value.isStopped = (bytes[4]! & 1) !== 0;
    this.#other.value.positionsRad.set(this.#otherRad);
    this.#other.write();
    return true;
  }
}
