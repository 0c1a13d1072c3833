import type { Counters, Reason } from '../core/counters.ts';
import type { DeskAction } from '../messages/desk-action.ts';
import type { RobotState } from '../messages/robot-state.ts';
import type { WorldRequest } from '../messages/world-state.ts';
import { decodeEstopAnswer, emptyDesk, encodeDesk } from '../wire/codecs/desk.ts';
import type { Outbox, Peer } from '../wire/reactor.ts';

const GIVE_UP_NS = 2e9;

/**
 * Sends arm, disarm, e-stop and reset to the robot: immediately, then every tick until the robot's state
 * acknowledges it. An e-stop replaces any other action and never times out; the robot's answer to it ends the
 * repeats too, as an operator without the lease gets no other state. Every press has its own number.
 */
export class DeskClient {
  readonly #outbox: Outbox;
  readonly #socket: number;
  readonly #robot: Peer;
  readonly #counters: Counters;
  readonly #message = emptyDesk();
  readonly #bytes = new Uint8Array(256);
  #pending = false;
  #sinceNs = 0;
  #estopSinceNs = Number.NaN;
  #estopNs = Number.NaN;
  #confirmedNs = Number.NaN;

  constructor(outbox: Outbox, socket: number, robot: Peer, session: number, counters: Counters) {
    this.#outbox = outbox;
    this.#socket = socket;
    this.#robot = robot;
    this.#counters = counters;
    this.#message.session = session;
  }

  /** Time from sending the last e-stop to the robot's acknowledgement; NaN before the first. */
  get estopNs(): number {
    return this.#estopNs;
  }

  /** When the last e-stop was acknowledged; NaN before the first. */
  get estopConfirmedNs(): number {
    return this.#confirmedNs;
  }

  /** A state was received. */
  received(robot: RobotState, nowNs: number): void {
    if (robot.state === 'stopped') this.#confirm(robot.ackRequest, nowNs);
  }

  /** The robot's answer to an e-stop, which may have been reset since. */
  onEstopAnswer(bytes: Uint8Array, length: number, nowNs: number): Reason | null {
    const request = decodeEstopAnswer(bytes, length, this.#message.session);
    if (typeof request === 'string') return request;
    if (this.#message.action === 'estop') this.#confirm(request, nowNs);
    return null;
  }

  #confirm(request: number, nowNs: number): void {
    if (request < this.#message.request || Number.isNaN(this.#estopSinceNs)) return;
    this.#estopNs = nowNs - this.#estopSinceNs;
    this.#confirmedNs = nowNs;
    this.#estopSinceNs = Number.NaN;
    this.#pending = false;
  }

  ask(action: DeskAction, epoch: number, nowNs: number, world: WorldRequest | null = null): void {
    const isRepeating = this.#pending && this.#message.action === 'estop';
    if (isRepeating && action !== 'estop') return;
    if (!isRepeating) this.#estopSinceNs = action === 'estop' ? nowNs : Number.NaN;
    this.#message.action = action;
    if (world !== null) this.#message.world = world;
    this.#message.epoch = epoch;
    this.#message.request++;
    this.#pending = true;
    this.#sinceNs = nowNs;
    this.#send();
  }

  tick(robot: RobotState, nowNs: number): void {
    if (!this.#pending) return;
    const isEstop = this.#message.action === 'estop';
    const done = robot.ackRequest >= this.#message.request && (!isEstop || robot.state === 'stopped');
    if (done || (!isEstop && nowNs - this.#sinceNs > GIVE_UP_NS)) this.#pending = false;
    else this.#send();
  }

  #send(): void {
    const length = encodeDesk(this.#message, this.#bytes);
    if (!this.#outbox.send(this.#socket, this.#bytes, length, this.#robot)) this.#counters.add('send-failed');
  }
}
