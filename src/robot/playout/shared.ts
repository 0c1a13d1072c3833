import type { PlayoutPolicy } from './playout-policy.ts';

/** Ticks whose due time is remembered: more than a second of commands at 200 Hz. */
const REMEMBERED = 256;

/**
 * One playout for two arms: the two commands of a tick have one stamp and get one due time, so that the arms move
 * together. The first to arrive decides; one that arrives after that time is scheduled as usual, which is how the policy
 * learns of it.
 */
export class SharedPlayout {
  readonly #inner: PlayoutPolicy;
  readonly #stampsNs = new Float64Array(REMEMBERED).fill(Number.NaN);
  readonly #duesNs = new Float64Array(REMEMBERED);
  #next = 0;

  constructor(inner: PlayoutPolicy) {
    this.#inner = inner;
  }

  /** The policy of the arm whose operator's requests count. */
  get first(): PlayoutPolicy {
    const inner = this.#inner;
    return {
      ...this.second,
      get name() {
        return inner.name;
      },
      ...(inner.request && { request: inner.request.bind(inner) }),
      ...(inner.choose && { choose: inner.choose.bind(inner) }),
      ...(inner.restart && { restart: inner.restart.bind(inner) }),
      ...(inner.exportPrior && { exportPrior: inner.exportPrior.bind(inner) }),
    };
  }

  /** The policy of the other arm. */
  get second(): PlayoutPolicy {
    const inner = this.#inner;
    return {
      get name() {
        return inner.name;
      },
      schedule: (sampledRobotNs, receivedNs, syncEpoch, isRepeated) =>
        this.#schedule(sampledRobotNs, receivedNs, syncEpoch, isRepeated),
      ...(inner.choose && { choose: () => {} }),
    };
  }

  #schedule(sampledRobotNs: number, receivedNs: number, syncEpoch?: number, isRepeated?: boolean): number {
    const known = this.#dueOf(sampledRobotNs);
    if (receivedNs <= known) return known;
    const dueNs = this.#inner.schedule(sampledRobotNs, receivedNs, syncEpoch, isRepeated);
    this.#stampsNs[this.#next] = sampledRobotNs;
    this.#duesNs[this.#next] = dueNs;
    this.#next = (this.#next + 1) % REMEMBERED;
    return dueNs;
  }

  /** NaN if no command of that tick has arrived yet. The newest are looked at first. */
  #dueOf(sampledRobotNs: number): number {
    for (let back = 1; back <= REMEMBERED; back++) {
      const at = (this.#next - back + REMEMBERED) % REMEMBERED;
      if (this.#stampsNs[at] === sampledRobotNs) return this.#duesNs[at]!;
    }
    return Number.NaN;
  }
}
