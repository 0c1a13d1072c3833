import { type Clock, NS_PER_MS } from '../../core/time/clock.ts';
import type { DatagramHandler, Outbox, Peer } from '../reactor.ts';
import { type DirectionSettings, LinkModel } from './link-model.ts';
import { Schedule } from './schedule.ts';
import type { DirectionCounters } from './stats.ts';

/** forward: client to target. */
export const DIRECTIONS = ['forward', 'return'] as const;
const FORWARD = 0;
const RETURN = 1;

/** Deliveries per wake-up, so that a flood cannot keep the sockets waiting. */
const MAX_DELIVERIES = 64;
const ASK_PERIOD_NS = 20 * NS_PER_MS;

export interface RelayParts {
  clock: Clock;
  outbox: Outbox;
  /** Mapping i listens on socket 2 i and sends to this target through socket 2 i + 1. */
  targets: readonly Peer[];
  settings: readonly [DirectionSettings, DirectionSettings];
  counters: readonly [DirectionCounters, DirectionCounters];
  seed: number;
  /** Most datagrams in flight, both directions together. */
  capacity: number;
  /** Called with every datagram as it enters the link, before its fate is known. The bytes are reused. */
  onEntry?: ((direction: 0 | 1, mapping: number, bytes: Uint8Array, length: number) => void) | undefined;
  /** Called every 20 ms, to check for changed settings. */
  onIdle: () => void;
}

/**
 * Forwards datagrams between clients and targets as one link would: all mappings share its two directions.
 * Sans I/O; a reactor drives it. Answers go to the most recent sender on the listening socket. Hot path.
 */
export class LinkRelay implements DatagramHandler {
  readonly #parts: RelayParts;
  readonly #schedule: Schedule;
  readonly #models: [LinkModel, LinkModel];
  readonly #clients: Float64Array;
  readonly #newestOut = [-1, -1];
  #askNs: number;

  constructor(parts: RelayParts) {
    const startNs = parts.clock.nowNs();
    const { settings, seed } = parts;
    this.#parts = parts;
    this.#schedule = new Schedule(parts.capacity);
    this.#models = [
      new LinkModel(settings[FORWARD], seed, DIRECTIONS[FORWARD], startNs),
      new LinkModel(settings[RETURN], seed, DIRECTIONS[RETURN], startNs),
    ];
    this.#clients = new Float64Array(parts.targets.length);
    this.#askNs = startNs + ASK_PERIOD_NS;
  }

  /** Takes effect now; datagrams in flight keep their time. Time 0 of events, traces and weather is now. */
  change(settings: readonly [DirectionSettings, DirectionSettings], seed: number): void {
    const nowNs = this.#parts.clock.nowNs();
    for (const direction of [FORWARD, RETURN] as const) {
      const { lastDeliverNs } = this.#models[direction];
      const name = DIRECTIONS[direction];
      this.#models[direction] = new LinkModel(settings[direction], seed, name, nowNs, lastDeliverNs);
    }
  }

  onDatagram(
    socket: number,
    bytes: Uint8Array,
    length: number,
    from: Peer,
    receivedNs: number,
    kernelNs: number,
  ): void {
    const mapping = socket >> 1;
    const direction = (socket & 1) as 0 | 1;
    const counters = this.#parts.counters[direction];
    if (direction === RETURN && from !== this.#parts.targets[mapping]) return counters.add('unknownSource');
    if (direction === FORWARD) this.#clients[mapping] = from;
    counters.add('received');
    this.#parts.onEntry?.(direction, mapping, bytes, length);
    const arrivedNs = Number.isNaN(kernelNs) ? receivedNs : kernelNs;
    const model = this.#models[direction];
    const deliverNs = model.admit(arrivedNs, length);
    if (deliverNs === null) return counters.add(model.loss);
    if (!this.#schedule.push(deliverNs, arrivedNs, mapping, direction, bytes, length))
      return counters.add('overflow');
    counters.add('queued');
    if (Number.isNaN(model.copyNs)) return;
    if (!this.#schedule.push(model.copyNs, arrivedNs, mapping, direction, bytes, length)) return;
    counters.add('queued');
    counters.add('duplicated');
  }

  onOversize(socket: number): void {
    const counters = this.#parts.counters[(socket & 1) as 0 | 1];
    counters.add('received');
    counters.add('oversize');
  }

  nextDeadlineNs(): number {
    return Math.min(this.#askNs, this.#schedule.nextNs);
  }

  onDeadline(nowNs: number): void {
    const { clock, onIdle } = this.#parts;
    for (let i = 0; i < MAX_DELIVERIES && this.#schedule.nextNs <= clock.nowNs(); i++) this.#deliver();
    if (nowNs < this.#askNs) return;
    this.#askNs = nowNs + ASK_PERIOD_NS;
    onIdle();
  }

  #deliver(): void {
    const { clock, outbox, targets, counters } = this.#parts;
    const item = this.#schedule.shift()!;
    const direction = item.direction as 0 | 1;
    const count = counters[direction];
    const to = direction === FORWARD ? targets[item.mapping]! : this.#clients[item.mapping]!;
    count.add('queued', -1);
    if (to === 0) return count.add('noClient');
    const nowNs = clock.nowNs();
    // Sent through the mapping's other socket.
    if (!outbox.send(2 * item.mapping + 1 - direction, item.bytes, item.length, to))
      return count.add('sendFailed');
    count.add('forwarded');
    count.delay.add(item.deliverNs - item.arrivedNs);
    count.error.add(nowNs - item.deliverNs);
    if (item.order < this.#newestOut[direction]!) count.add('reordered');
    else this.#newestOut[direction] = item.order;
  }
}
