// @ts-check
/** @import { Clock, Gripper, GripperReading, TickStatus } from 'farhand' */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { defineGripper, TeleopError, z } from 'farhand';

const config = z.strictObject({
  host: z.string().default('192.168.1.50').describe('address of the gripper'),
  port: z.int().min(1).max(65535).default(9100).describe('its UDP port'),
  silenceMs: z
    .number()
    .min(50)
    .max(5000)
    .default(300)
    .describe('without an answer for this long it is a fault'),
});

const POLL_MS = 20;
const OPEN_MS = 1000;
const ANSWER = /^at (\d\.\d{1,4})$/;

/**
 * Asks every 20 ms: `read`, or `to 0.500` while enabled. The device answers `at 0.500`. Replace this protocol by your
 * gripper's. The calls never wait, throw or allocate; the socket works on the driver's thread between them.
 *
 * @implements {Gripper}
 */
class NetworkGripper {
  fault = '';
  busErrors = 0;
  /** @type {import('node:dgram').Socket} */ #socket;
  /** @type {Clock} */ #clock;
  /** @type {number} */ #silenceNs;
  #position = Number.NaN;
  #target = Number.NaN;
  #answeredNs = Number.NaN;
  #isDisposed = false;
  /** @type {NodeJS.Timeout} */ #timer;

  /** @param {import('node:dgram').Socket} socket @param {Clock} clock @param {number} silenceMs */
  constructor(socket, clock, silenceMs) {
    this.#socket = socket;
    this.#clock = clock;
    this.#silenceNs = silenceMs * 1e6;
    socket.on('message', (bytes) => this.#take(bytes.toString()));
    socket.on('error', () => this.busErrors++);
    this.#timer = setInterval(() => this.#poll(), POLL_MS);
  }

  get hasAnswered() {
    return !Number.isNaN(this.#answeredNs);
  }

  /** @param {number} nowNs @returns {TickStatus} */
  enable(nowNs) {
    if (this.#isDisposed) return 'fault';
    if (this.#isSilent(nowNs)) return 'fault';
    this.fault = '';
    // Hold the present position: enabling must not move.
    if (Number.isNaN(this.#target)) this.#target = this.#position;
    return 'ok';
  }

  /** @param {number} nowNs @param {GripperReading} out @returns {TickStatus} */
  read(nowNs, out) {
    if (this.#isDisposed) return 'fault';
    if (this.fault === '' && this.#isSilent(nowNs)) this.fault = 'the gripper does not answer';
    out.robotNs = this.#answeredNs;
    out.position = this.#position;
    return this.fault === '' ? 'ok' : 'fault';
  }

  /** @param {number} _nowNs @param {number} position @returns {TickStatus} */
  write(_nowNs, position) {
    if (this.#isDisposed) return 'fault';
    if (!(position >= 0 && position <= 1)) {
      this.fault = 'a position out of range';
      return 'fault';
    }
    if (!Number.isNaN(this.#target)) this.#target = position;
    return this.fault === '' ? 'ok' : 'fault';
  }

  /** Keeps its grip: the last target stays at the device. @param {number} _nowNs */
  stop(_nowNs) {
    this.#target = Number.NaN;
    this.#send(`to ${this.#position.toFixed(4)}`);
  }

  dispose() {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    clearInterval(this.#timer);
    this.#socket.close();
  }

  /** @param {number} nowNs */
  #isSilent(nowNs) {
    return !(nowNs - this.#answeredNs < this.#silenceNs);
  }

  #poll() {
    this.#send(Number.isNaN(this.#target) ? 'read' : `to ${this.#target.toFixed(4)}`);
  }

  /** @param {string} text */
  #send(text) {
    if (!this.#isDisposed) this.#socket.send(text, () => {});
  }

  /** @param {string} text */
  #take(text) {
    const position = Number(ANSWER.exec(text.trim())?.[1] ?? Number.NaN);
    if (!(position >= 0 && position <= 1)) {
      this.busErrors++;
      return;
    }
    this.#position = position;
    this.#answeredNs = this.#clock.nowNs();
  }
}

export default defineGripper({
  about: 'NAME: a gripper on the network',
  config,
  open: async ({ host, port, silenceMs }, _arm, clock) => {
    const socket = createSocket('udp4');
    socket.connect(port, host);
    await once(socket, 'connect');
    const gripper = new NetworkGripper(socket, clock, silenceMs);
    for (let ms = 0; ms < OPEN_MS && !gripper.hasAnswered; ms += POLL_MS)
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    if (gripper.hasAnswered) return gripper;
    gripper.dispose();
    throw new TeleopError('bus-failed', `the gripper at ${host}:${port} does not answer`, {
      hint: 'Check its power and cable, then robot.gripperOptions.host and port.',
    });
  },
});
