import type { Reason } from '../core/counters.ts';
import type { Clock } from '../core/time/clock.ts';
import { decodeProbe, emptyProbe, encodeProbeReply } from '../wire/codecs/sync.ts';
import type { SharedClock } from '../wire/shared-clock.ts';

/** Cap on the measured reply cost, so that one stall does not distort the estimate. */
const MAX_REPLY_COST_NS = 300e3;

/** Answers the operator's probes of the robot's clock. Hot path. */
export class ClockReplies {
  readonly #clock: Clock;
  readonly #boot: number;
  readonly #shared: SharedClock | undefined;
  readonly #probe = emptyProbe();
  #startNs = 0;
  #replyCostNs = 0;

  /** `boot`: random per start. `shared`: absent in simulations. */
  constructor(clock: Clock, boot: number, shared: SharedClock | undefined) {
    this.#clock = clock;
    this.#boot = boot;
    this.#shared = shared;
  }

  read(bytes: Uint8Array, length: number): Reason | null {
    return decodeProbe(bytes, length, this.#probe);
  }

  /** Encodes the reply to the probe just read, which arrived at `arrivedNs`. Returns the length. */
  write(arrivedNs: number, out: Uint8Array): number {
    const probe = this.#probe;
    probe.boot = this.#boot;
    probe.clock = this.#shared?.id ?? '';
    probe.wallUs = this.#shared?.wallUs() ?? Number.NaN;
    probe.t1 = arrivedNs;
    // The reply leaves only after encoding and sealing, which takes about as long as last time.
    this.#startNs = this.#clock.nowNs();
    probe.t2 = this.#startNs + this.#replyCostNs;
    return encodeProbeReply(probe, out);
  }

  sent(sentNs: number): void {
    this.#replyCostNs = Math.max(0, Math.min(sentNs - this.#startNs, MAX_REPLY_COST_NS));
  }
}
