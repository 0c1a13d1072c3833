import type { Counters, Reason } from '../core/counters.ts';
import type { Clock } from '../core/time/clock.ts';
import { ClockSync } from '../wire/clock-sync.ts';
import { decodeProbeReply, emptyProbe, encodeProbe } from '../wire/codecs/sync.ts';
import type { Outbox, Peer } from '../wire/reactor.ts';
import { commonOffset, NO_SHARED_CLOCK, type SharedClock } from '../wire/shared-clock.ts';

const FAST_PROBES = 10;
const FAST_PERIOD_NS = 100e6;
const PERIOD_NS = 1e9;
/** Probes that may be in flight: allows round trips of a second and a half. */
const OPEN_PROBES = 16;
/**
 * Kernel stamps err by tens of microseconds, and the robot adds what its last reply took to send, at most 0.3 ms: on
 * loopback this can exceed the whole exchange.
 */
const ROUGH_NS = 500e3;

/** Probes the robot's clock: ten times in the first second, then once a second. */
export class SyncClient {
  readonly sync = new ClockSync();
  nextProbeNs = 0;
  readonly #outbox: Outbox;
  readonly #socket: number;
  readonly #robot: Peer;
  readonly #clock: Clock;
  readonly #counters: Counters;
  readonly #shared: SharedClock;
  readonly #wallErrorNs: number | null;
  readonly #probe = emptyProbe();
  readonly #reply = emptyProbe();
  readonly #bytes = new Uint8Array(256);
  readonly #open = Array.from({ length: OPEN_PROBES }, () => ({ id: 0, t0: 0, sentNs: 0 }));
  #boot = 0;
  #answered = 0;

  /** `wallErrorNs`: how well the wall clocks of both machines are declared to agree; null: not at all. */
  constructor(
    outbox: Outbox,
    socket: number,
    robot: Peer,
    clock: Clock,
    counters: Counters,
    shared: SharedClock = NO_SHARED_CLOCK,
    wallErrorNs: number | null = null,
  ) {
    this.#outbox = outbox;
    this.#socket = socket;
    this.#robot = robot;
    this.#clock = clock;
    this.#counters = counters;
    this.#shared = shared;
    this.#wallErrorNs = wallErrorNs;
    this.nextProbeNs = clock.nowNs();
  }

  tick(nowNs: number): void {
    if (nowNs < this.nextProbeNs) return;
    this.nextProbeNs = nowNs + (this.#answered < FAST_PROBES ? FAST_PERIOD_NS : PERIOD_NS);
    this.#probe.id++;
    this.#probe.t0 = Math.round(this.#clock.nowNs());
    const length = encodeProbe(this.#probe, this.#bytes);
    // The stamp in the probe only identifies the reply; what counts is when the sealed probe was sent.
    const sentNs = this.#outbox.send(this.#socket, this.#bytes, length, this.#robot);
    if (!sentNs) this.#counters.add('send-failed');
    const open = this.#open[this.#probe.id % OPEN_PROBES]!;
    open.id = this.#probe.id;
    open.t0 = this.#probe.t0;
    open.sentNs = sentNs;
  }

  onReply(bytes: Uint8Array, length: number, receivedNs: number, kernelNs: number): Reason | null {
    const reply = this.#reply;
    const reason = decodeProbeReply(bytes, length, reply);
    if (reason !== null) return reason;
    const open = this.#open[reply.id % OPEN_PROBES]!;
    if (open.id !== reply.id || open.t0 !== reply.t0 || open.sentNs === 0) return 'dropped-stale';
    const { sentNs } = open;
    open.sentNs = 0;
    if (reply.boot !== this.#boot) {
      this.#boot = reply.boot;
      this.sync.reset();
      this.#answered = 0;
    }
    this.#answered++;
    const t3 = Number.isFinite(kernelNs) ? kernelNs : receivedNs;
    const common = commonOffset(this.#shared, reply.clock, reply.wallUs, this.#wallErrorNs);
    if (this.sync.add(sentNs, reply.t1, reply.t2, t3, common)) return null;
    return isRough(sentNs, reply.t1, reply.t2, t3) ? 'rough-stamp' : 'bad-range';
  }
}

/** Impossible only by as much as stamps err. */
const isRough = (t0: number, t1: number, t2: number, t3: number): boolean =>
  Math.min(t3 - t0, t2 - t1, t3 - t0 - (t2 - t1)) > -ROUGH_NS;
