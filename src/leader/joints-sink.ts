import { createSocket, type Socket } from 'node:dgram';
import type { RobotModel } from '../geometry/robot-model.ts';
import { type LeaderGripper, leaderOpen, leaderRad } from './leader-pose.ts';
import type { LeaderSink } from './sink.ts';

const HOST = '127.0.0.1';

/**
 * The leader's joints, one for one, to the input `joints` of an operator on this machine. The follower follows only
 * while a person says so: it drives slowly to where the leader stands first. Whatever is lost ends that.
 */
export class JointsSink implements LeaderSink {
  readonly name: string;
  readonly #port: number;
  readonly #model: RobotModel;
  readonly #gripper: LeaderGripper;
  readonly #socket: Socket = createSocket('udp4');
  readonly #jointsRad: number[];
  #closed = 1;
  #follows = false;

  constructor(port: number, model: RobotModel, gripper: LeaderGripper) {
    this.name = `joints ${HOST}:${port}`;
    this.#port = port;
    this.#model = model;
    this.#gripper = gripper;
    this.#jointsRad = [...model.homeRad];
    this.#socket.on('error', () => {});
  }

  get follows(): boolean {
    return this.#follows;
  }

  /** Follow, or let go. */
  toggle(): boolean {
    this.#follows = !this.#follows;
    return this.#follows;
  }

  /** Inside the follower's range: a leader may be turned farther. */
  take(ticks: Float64Array): Promise<void> {
    this.#model.joints.forEach(({ minRad, maxRad }, i) => {
      this.#jointsRad[i] = Math.max(minRad, Math.min(maxRad, leaderRad(ticks[i]!)));
    });
    this.#closed = 1 - leaderOpen(ticks[this.#model.joints.length]!, this.#gripper);
    return this.#send();
  }

  lose(): Promise<void> {
    this.#follows = false;
    return this.#send();
  }

  close(): void {
    this.#socket.close();
  }

  #send(): Promise<void> {
    const text = JSON.stringify({
      jointsRad: this.#jointsRad,
      gripper: this.#closed,
      clutch: this.#follows,
    });
    return new Promise((resolve) => this.#socket.send(text, this.#port, HOST, () => resolve()));
  }
}
