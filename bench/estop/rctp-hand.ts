import { createSocket } from 'node:dgram';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { emptyRctp, encodeRctp, RCTP_BYTES } from '../../src/input/codecs/rctp-codec.ts';

const PERIOD_MS = 20;

/** A hand at rest, sent 50 times a second from this process. */
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

  /** Sends one extra packet with the flag; returns the time just before it was passed to the kernel. */
  estop(): number {
    return this.#send(true);
  }

  /** Stops tracking; returns the time just before the first such packet was passed to the kernel. */
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
