import { createSocket } from 'node:dgram';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { emptyRctp, encodeRctp, RCTP_BYTES } from '../../src/input/codecs/rctp-codec.ts';

const PERIOD_MS = 20;

/** A hand at rest in front of its owner, sent 50 times a second from this process. */
export class RctpHand {
  readonly #socket = createSocket('udp4');
  readonly #port: number;
  readonly #timer: NodeJS.Timeout;
  readonly #packet = { ...emptyRctp(), tracking: true, gripper: 1 };
  readonly #bytes = new Uint8Array(RCTP_BYTES);

  constructor(port: number) {
    this.#port = port;
    this.#packet.positionM.set([0, 1.2, -0.3]);
    this.#packet.quatXyzw[3] = 1;
    this.#timer = setInterval(() => this.#send(false), PERIOD_MS);
  }

  /** One packet with the flag, now and beside the others; returns the instant before it was handed to the kernel. */
  estop(): number {
    return this.#send(true);
  }

  /** From now on no hand is seen; returns the instant before the first such packet was handed to the kernel. */
  loseTracking(): number {
    this.#packet.tracking = false;
    return this.#send(false);
  }

  #send(estop: boolean): number {
    const sentNs = monotonicClock.nowNs();
    this.#packet.timestampS = sentNs / 1e9;
    this.#packet.estop = estop;
    encodeRctp(this.#packet, this.#bytes);
    this.#socket.send(this.#bytes, this.#port, '127.0.0.1');
    return sentNs;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#socket.close();
  }
}
