import type { Counters } from '../../core/counters.ts';
import type { DeskAction, RobotState } from '../../core/messages.ts';
import { emptyDesk, encodeDesk } from '../../wire/codecs/desk.ts';
import type { Outbox, Peer } from '../../wire/reactor.ts';

const GIVE_UP_NS = 2e9;

/**
 * Carries arm, disarm, e-stop and reset to the robot: sent at once, repeated at every tick until the robot's state
 * acknowledges it. An e-stop displaces anything else and is never given up.
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

  constructor(outbox: Outbox, socket: number, robot: Peer, session: number, counters: Counters) {
    this.#outbox = outbox;
    this.#socket = socket;
    this.#robot = robot;
    this.#counters = counters;
    this.#message.session = session;
  }

  ask(action: DeskAction, epoch: number, nowNs: number): void {
    if (this.#pending && this.#message.action === 'estop') return;
    this.#message.action = action;
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
