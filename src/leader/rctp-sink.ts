import { createSocket, type Socket } from 'node:dgram';
import { hostPort } from '../core/ip-address.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import { emptyRctp, encodeRctp, RCTP_BYTES } from '../input/codecs/rctp-codec.ts';
import { LeaderPose } from './leader-pose.ts';
import type { LeaderSink } from './sink.ts';

/** Sends the leader's hand like a headset's, to an operator's `rctp` input. */
export class RctpSink implements LeaderSink {
  readonly name: string;
  /** A hand has no clutch here. */
  readonly follows = false;
  readonly #to: { host: string; port: number };
  readonly #pose: LeaderPose;
  readonly #socket: Socket;
  readonly #packet = emptyRctp();
  readonly #bytes = new Uint8Array(RCTP_BYTES);
  #isOpen = true;

  constructor(to: { host: string; port: number }, model: RobotModel) {
    this.name = `RCTP ${hostPort(to.host, to.port)}`;
    this.#socket = createSocket(to.host.includes(':') ? 'udp6' : 'udp4');
    this.#to = to;
    this.#pose = new LeaderPose(model);
    this.#socket.on('error', () => {});
  }

  take(jointsRad: Float64Array, open: number, seconds: number): Promise<void> {
    this.#pose.into(jointsRad, open, this.#packet);
    this.#packet.tracking = true;
    return this.#send(seconds);
  }

  lose(seconds: number): Promise<void> {
    this.#packet.tracking = false;
    return this.#send(seconds);
  }

  close(): void {
    if (this.#isOpen) this.#socket.close();
    this.#isOpen = false;
  }

  #send(seconds: number): Promise<void> {
    if (!this.#isOpen) return Promise.resolve();
    this.#packet.timestampS = seconds;
    encodeRctp(this.#packet, this.#bytes);
    const { host, port } = this.#to;
    return new Promise((resolve) => this.#socket.send(this.#bytes, port, host, () => resolve()));
  }
}
