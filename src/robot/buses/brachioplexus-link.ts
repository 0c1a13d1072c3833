import { createSocket, type Socket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import type { Clock } from '../../core/clock.ts';
import { TeleopError } from '../../core/errors.ts';
import {
  BRACHIOPLEXUS_MAX_BYTES,
  BRACHIOPLEXUS_PERIOD_MS,
  type BrachioplexusPacket,
  decodeBrachioplexus,
  emptyBrachioplexus,
  encodeBrachioplexus,
  PACKET,
} from './brachioplexus-codec.ts';

export interface BrachioplexusAddress {
  host: string;
  port: number;
  listenHost: string;
  feedbackPort: number;
}

/** A buffer is not written again while the system may still be reading it. */
const BUFFERS = 16;
const POLL_MS = 5;

/** The controller's end of the link: sends packets, keeps the newest feedback, beats every 15 ms. Never throws. */
export class BrachioplexusLink {
  /** Positions and speeds as they last came. */
  readonly feedback = emptyBrachioplexus(PACKET.feedback);
  /** When, on the clock given; NaN before the first. */
  feedbackNs = Number.NaN;
  /** What the arm last told of its camera; null before it was asked. */
  camera: readonly number[] | null = null;
  refused = 0;
  lastRefusal = '';
  readonly #clock: Clock;
  readonly #address: BrachioplexusAddress;
  readonly #socket: Socket = createSocket('udp4');
  readonly #in = emptyBrachioplexus();
  readonly #buffers = Array.from({ length: BUFFERS }, () => Buffer.alloc(BRACHIOPLEXUS_MAX_BYTES));
  #peer = '';
  #sent = 0;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(address: BrachioplexusAddress, clock: Clock) {
    this.#address = address;
    this.#clock = clock;
  }

  /** Listens, and calls `beat` every 15 ms from then on. */
  async open(beat: () => void): Promise<void> {
    const { host, listenHost, feedbackPort } = this.#address;
    try {
      this.#peer = (await lookup(host, { family: 4 })).address;
    } catch (cause) {
      const hint = 'Give a name this machine can resolve, or an address (robot.options.host).';
      throw new TeleopError('name-unresolved', `the arm's host "${host}" has no IPv4 address`, {
        hint,
        cause,
      });
    }
    await new Promise<void>((resolve, reject) => {
      this.#socket.once('error', (error: NodeJS.ErrnoException) => reject(bindError(this.#address, error)));
      this.#socket.bind(feedbackPort, listenHost, resolve);
    });
    this.#socket.removeAllListeners('error');
    this.#socket.on('error', () => {});
    this.#socket.on('message', (bytes, from) => this.#receive(bytes, from.address));
    this.#timer = setInterval(beat, BRACHIOPLEXUS_PERIOD_MS);
  }

  /** Resolves with whether it became true in time. */
  async until(condition: () => boolean, ms: number): Promise<boolean> {
    const endNs = this.#clock.nowNs() + ms * 1e6;
    while (!condition() && this.#clock.nowNs() < endNs)
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    return condition();
  }

  send(packet: BrachioplexusPacket): void {
    if (this.#closed) return;
    const buffer = this.#buffers[this.#sent++ % BUFFERS]!;
    const length = encodeBrachioplexus(packet, buffer);
    this.#socket.send(buffer, 0, length, this.#address.port, this.#peer, noTrouble);
  }

  /** After what was sent last has left. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#timer);
    setImmediate(() => this.#socket.close());
  }

  #receive(bytes: Uint8Array, from: string): void {
    const packet = this.#in;
    const refusal = from === this.#peer ? decodeBrachioplexus(bytes, bytes.length, packet) : 'unknown-source';
    if (refusal !== null) return this.#refuse(refusal);
    if (packet.type === PACKET.feedback) {
      this.feedback.positions.set(packet.positions);
      this.feedback.speeds.set(packet.speeds);
      this.feedbackNs = this.#clock.nowNs();
    } else if (packet.type === PACKET.cameraPosition) this.camera = [...packet.camera];
    else this.#refuse('not-for-a-controller');
  }

  #refuse(reason: string): void {
    this.refused++;
    this.lastRefusal = reason;
  }
}

/** Nobody there shows in the feedback that does not come. */
const noTrouble = (): void => {};

function bindError(
  { listenHost, feedbackPort }: BrachioplexusAddress,
  error: NodeJS.ErrnoException,
): TeleopError {
  const taken = error.code === 'EADDRINUSE';
  const what = taken ? 'the port is in use' : error.message;
  const message = `UDP ${listenHost}:${feedbackPort} for the arm's feedback cannot be opened: ${what}`;
  const hint = taken
    ? 'Is brachIOplexus or another robot process running? The port is robot.options.feedbackPort.'
    : 'Check robot.options.listenHost.';
  return new TeleopError(taken ? 'port-in-use' : 'socket-failed', message, { hint, cause: error });
}
