import type { Clock } from '../../../core/time/clock.ts';
import {
  BRACHIOPLEXUS_MAX_BYTES,
  BRACHIOPLEXUS_PERIOD_MS,
  type BrachioplexusPacket,
  decodeBrachioplexus,
  emptyBrachioplexus,
  encodeBrachioplexus,
  PACKET,
} from './brachioplexus-codec.ts';

/** Carries the link's datagrams: a UDP socket, or memory in simulated time. */
export interface BrachioplexusWire {
  /** Resolves once listening; `receive` gets every datagram and whether the arm's host sent it. */
  open(receive: (bytes: Uint8Array, isFromArm: boolean) => void): Promise<void>;
  send(bytes: Uint8Array, length: number): void;
  close(): void;
}

/** Enough buffers that none is reused while the system may still read it. */
const BUFFERS = 16;
const POLL_MS = 5;

/**
 * The controller's end of the link: sends packets, keeps the newest feedback, calls `beat` every 15 ms. Never
 * throws.
 */
export class BrachioplexusLink {
  /** The last positions and speeds received. */
  readonly feedback = emptyBrachioplexus(PACKET.feedback);
  /** Their arrival time on the given clock; NaN before the first. */
  feedbackNs = Number.NaN;
  /** The last camera position received; null before one was requested. */
  camera: readonly number[] | null = null;
  rejected = 0;
  lastRejection = '';
  readonly #clock: Clock;
  readonly #wire: BrachioplexusWire;
  readonly #in = emptyBrachioplexus();
  readonly #buffers = Array.from({ length: BUFFERS }, () => Buffer.alloc(BRACHIOPLEXUS_MAX_BYTES));
  #sent = 0;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(wire: BrachioplexusWire, clock: Clock) {
    this.#wire = wire;
    this.#clock = clock;
  }

  /** Listens, and calls `beat` every 15 ms from then on. */
  async open(beat: () => void): Promise<void> {
    await this.#wire.open((bytes, isFromArm) => this.#receive(bytes, isFromArm));
    this.#timer = setInterval(beat, BRACHIOPLEXUS_PERIOD_MS);
  }

  /** Resolves to whether it became true in time. */
  async until(condition: () => boolean, ms: number): Promise<boolean> {
    const endNs = this.#clock.nowNs() + ms * 1e6;
    while (!condition() && this.#clock.nowNs() < endNs)
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    return condition();
  }

  send(packet: BrachioplexusPacket): void {
    if (this.#closed) return;
    const buffer = this.#buffers[this.#sent++ % BUFFERS]!;
    this.#wire.send(buffer, encodeBrachioplexus(packet, buffer));
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#timer);
    this.#wire.close();
  }

  #receive(bytes: Uint8Array, isFromArm: boolean): void {
    const packet = this.#in;
    const rejection = isFromArm ? decodeBrachioplexus(bytes, bytes.length, packet) : 'unknown-source';
    if (rejection !== null) return this.#reject(rejection);
    if (packet.type === PACKET.feedback) {
      this.feedback.positions.set(packet.positions);
      this.feedback.speeds.set(packet.speeds);
      this.feedbackNs = this.#clock.nowNs();
    } else if (packet.type === PACKET.cameraPosition) this.camera = [...packet.camera];
    else this.#reject('not-for-a-controller');
  }

  #reject(reason: string): void {
    this.rejected++;
    this.lastRejection = reason;
  }
}
