import type { Clock } from '../../core/clock.ts';
import type { Counters, Reason } from '../../core/counters.ts';
import { ClockSync } from '../../wire/clock-sync.ts';
import { decodeProbeReply, emptyProbe, encodeProbe } from '../../wire/codecs/sync.ts';
import type { Outbox, Peer } from '../../wire/reactor.ts';

const FAST_PROBES = 10;
const FAST_PERIOD_NS = 100e6;
const PERIOD_NS = 1e9;

/** Probes the robot's clock: ten times in the first second, then once a second. */
export class SyncClient {
  readonly sync = new ClockSync();
  nextProbeNs: number;
  readonly #outbox: Outbox;
  readonly #socket: number;
  readonly #robot: Peer;
  readonly #clock: Clock;
  readonly #counters: Counters;
  readonly #probe = emptyProbe();
  readonly #reply = emptyProbe();
  readonly #bytes = new Uint8Array(256);
  #boot = 0;
  #answered = 0;
  #sentNs = 0;

  constructor(outbox: Outbox, socket: number, robot: Peer, clock: Clock, counters: Counters) {
    this.#outbox = outbox;
    this.#socket = socket;
    this.#robot = robot;
    this.#clock = clock;
    this.#counters = counters;
    this.nextProbeNs = clock.nowNs();
  }

  tick(nowNs: number): void {
    if (nowNs < this.nextProbeNs) return;
    this.nextProbeNs = nowNs + (this.#answered < FAST_PROBES ? FAST_PERIOD_NS : PERIOD_NS);
    this.#probe.id++;
    this.#probe.t0 = this.#clock.nowNs();
    const length = encodeProbe(this.#probe, this.#bytes);
    // The stamp in the probe only tells the answer apart; what counts is when it left, sealed.
    this.#sentNs = this.#outbox.send(this.#socket, this.#bytes, length, this.#robot);
    if (!this.#sentNs) this.#counters.add('send-failed');
  }

  onReply(bytes: Uint8Array, length: number, receivedNs: number, kernelNs: number): Reason | null {
    const reply = this.#reply;
    const reason = decodeProbeReply(bytes, length, reply);
    if (reason !== null) return reason;
    if (reply.id !== this.#probe.id || reply.t0 !== Math.round(this.#probe.t0)) return 'dropped-stale';
    if (reply.boot !== this.#boot) {
      this.#boot = reply.boot;
      this.sync.reset();
      this.#answered = 0;
    }
    this.#answered++;
    const t3 = Number.isFinite(kernelNs) ? kernelNs : receivedNs;
    return this.sync.add(this.#sentNs, reply.t1, reply.t2, t3) ? null : 'bad-range';
  }
}
