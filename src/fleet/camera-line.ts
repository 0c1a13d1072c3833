import { MAX_SECTIONS, SLICE_HEADER_BYTES } from '../camera/slices.ts';
import { ACKNOWLEDGE_EVERY, CameraWindow } from './camera-window.ts';

/** With its headers a slice fits one packet on every path, also through TURN. */
const SLICE_PAYLOAD = 1100;
export const NUMBER_BYTES = 4;
/** Slices sent in one turn of the event loop: datagrams of the link come first. */
const BURST = 8;
/** A picture not completely sent by then is given up for a newer one. */
const MAX_AGE_NS = 400e6;

/**
 * One message of a camera's channel: the slice's number in 4 bytes, then a slice as in
 * `src/camera/slices.ts`.
 */
export const MAX_MESSAGE_BYTES = NUMBER_BYTES + SLICE_HEADER_BYTES + SLICE_PAYLOAD;

interface Leaving {
  jpeg: Uint8Array;
  at: number;
  section: number;
  takenNs: number;
}

/**
 * Sends the pictures of one camera over a channel that shares its connection with others: cut into slices,
 * only as many at a time as the path carries without queueing, newest picture only. No socket and no clock.
 */
export class CameraLine {
  readonly window = new CameraWindow();
  readonly #send: (message: Uint8Array) => boolean;
  readonly #message = new Uint8Array(MAX_MESSAGE_BYTES);
  readonly #view = new DataView(this.#message.buffer);
  #frame = 0n;
  #leaving: Leaving | null = null;
  #waiting: Leaving | null = null;
  sent = 0;
  /** Pictures that were never sent completely. */
  dropped = 0;

  /** `send` returns false if the channel would have to buffer the message. */
  constructor(send: (message: Uint8Array) => boolean) {
    this.#send = send;
  }

  /** True: call `pump`. The picture carries its own stamps. */
  offer(jpeg: Uint8Array, nowNs: number): boolean {
    if (jpeg.length > MAX_SECTIONS * SLICE_PAYLOAD) {
      this.dropped++;
      return false;
    }
    if (this.#waiting !== null) this.dropped++;
    this.#waiting = { jpeg, at: 0, section: 0, takenNs: nowNs };
    return true;
  }

  acknowledged(number: number, nowNs: number): boolean {
    return this.window.acknowledged(number, nowNs);
  }

  /** Sends what may be sent now. True: there is more for the next turn of the event loop. */
  pump(nowNs: number): boolean {
    for (let i = 0; i < BURST; i++) {
      if (!this.window.mayRun(nowNs)) return false;
      const picture = this.#next(nowNs);
      if (picture === null) return false;
      if (!this.#slice(picture, nowNs)) return false;
    }
    return this.#leaving !== null || this.#waiting !== null;
  }

  get isBusy(): boolean {
    return this.#leaving !== null || this.#waiting !== null;
  }

  #next(nowNs: number): Leaving | null {
    if (this.#leaving !== null && nowNs - this.#leaving.takenNs > MAX_AGE_NS) {
      this.#leaving = null;
      this.dropped++;
    }
    if (this.#leaving === null && this.#waiting !== null) {
      this.#leaving = this.#waiting;
      this.#waiting = null;
      this.#view.setBigUint64(NUMBER_BYTES, ++this.#frame, true);
    }
    return this.#leaving;
  }

  #slice(picture: Leaving, nowNs: number): boolean {
    const { jpeg, at, section } = picture;
    const length = Math.min(SLICE_PAYLOAD, jpeg.length - at);
    const header = NUMBER_BYTES + SLICE_HEADER_BYTES;
    this.#message[header - 1] = section;
    this.#message.set(jpeg.subarray(at, at + length), header);
    this.#view.setUint32(0, this.window.nextNumber >>> 0, true);
    if (!this.#send(this.#message.subarray(0, header + length))) return false;
    this.window.leaves(nowNs);
    picture.at += length;
    picture.section++;
    if (picture.at >= jpeg.length) {
      this.#leaving = null;
      this.sent++;
    }
    return true;
  }
}

/** Whether the receiver must acknowledge this slice: every few, and the last of a picture. */
export const isAcknowledgementDue = (number: number, messageBytes: number): boolean =>
  number % ACKNOWLEDGE_EVERY === 0 || messageBytes < MAX_MESSAGE_BYTES;
