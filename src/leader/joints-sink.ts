import { createSocket, type Socket } from 'node:dgram';
import type { RobotModel } from '../geometry/robot-model.ts';
import type { JointTarget } from '../input/joint-targets.ts';
import type { LeaderSink } from './sink.ts';

const HOST = '127.0.0.1';

/**
 * Sends the leader's joints, one to one, to the input `leader` or `joints` of an operator on this machine. The follower
 * moves only while a person holds it engaged: it first drives slowly to the leader's pose. Any loss ends the
 * engagement.
 */
export class JointsSink implements LeaderSink {
  readonly name: string;
  readonly #port: number;
  readonly #model: RobotModel;
  readonly #socket: Socket = createSocket('udp4');
  readonly #jointsRad: number[];
  #closed = 1;
  #follows = false;
  #handBacks = 0;
  #isOpen = true;

  constructor(port: number, model: RobotModel) {
    this.name = `joints ${HOST}:${port}`;
    this.#port = port;
    this.#model = model;
    this.#jointsRad = [...model.homeRad];
    this.#socket.on('error', () => {});
  }

  get follows(): boolean {
    return this.#follows;
  }

  /** Engages or releases. */
  toggle(): boolean {
    this.#follows = !this.#follows;
    return this.#follows;
  }

  /** Lets the policy that was interrupted drive again. */
  handBack(): void {
    this.#follows = false;
    this.#handBacks++;
  }

  /** Clamped to the follower's range: a leader may be turned further. */
  take(jointsRad: Float64Array, open: number): Promise<void> {
    this.#model.joints.forEach(({ minRad, maxRad }, i) => {
      this.#jointsRad[i] = Math.max(minRad, Math.min(maxRad, jointsRad[i]!));
    });
    this.#closed = 1 - open;
    return this.#send();
  }

  lose(): Promise<void> {
    this.#follows = false;
    return this.#send();
  }

  close(): void {
    if (this.#isOpen) this.#socket.close();
    this.#isOpen = false;
  }

  #send(): Promise<void> {
    if (!this.#isOpen) return Promise.resolve();
    const text = encodeTarget({
      jointsRad: this.#jointsRad,
      gripper: this.#closed,
      clutch: this.#follows,
      handBacks: this.#handBacks,
    });
    return new Promise((resolve) => this.#socket.send(text, this.#port, HOST, () => resolve()));
  }
}

/** The bytes of one message. */
export const encodeTarget = (target: JointTarget): string => JSON.stringify(target);
