import { networkOf, type Priors } from './network-memory.ts';
import type { PriorJson } from './playout/adaptive/prior.ts';
import type { PlayoutPolicy } from './playout/playout-policy.ts';

/**
 * Interval at which the prior is saved. A session on a new network that lasts less than this is not saved.
 */
const LEARNT_NS = 60e9;
/** Network name that is never saved, for networks that change at run time, such as emulated ones. */
const FORGOTTEN = 'none';

/** Tracks the operator's network: loads playout's prior for it and saves what playout learns. */
export class NetworkLearning {
  readonly #policy: PlayoutPolicy;
  readonly #priors: Priors;
  readonly #name: string;
  readonly #onLearnt: (network: string, prior: PriorJson) => void;
  #network = '';
  #enteredNs = 0;
  #learntNs = 0;

  /** `name` is the network's name from the rig; if empty, the name is derived from the operator's address. */
  constructor(
    policy: PlayoutPolicy,
    priors: Priors,
    name: string,
    onLearnt: (network: string, prior: PriorJson) => void,
  ) {
    this.#policy = policy;
    this.#priors = priors;
    this.#name = name;
    this.#onLearnt = onLearnt;
  }

  /**
   * Starts a session from its network's prior; on the network already in use, playout keeps its newer state.
   */
  enter(address: string, nowNs: number): void {
    const network = this.#name || networkOf(address);
    this.leave(nowNs);
    if (network === this.#network) return this.#policy.restart?.();
    this.#policy.restart?.(this.#priors[network] ?? null);
    this.#network = network;
    this.#enteredNs = nowNs;
  }

  /** Called every cycle while an operator is connected. Hot path. */
  tick(nowNs: number): void {
    if (nowNs - this.#learntNs > LEARNT_NS) this.leave(nowNs);
  }

  leave(nowNs: number): void {
    this.#learntNs = nowNs;
    const isKnown = this.#priors[this.#network] !== undefined;
    if (
      this.#network === '' ||
      this.#network === FORGOTTEN ||
      (!isKnown && nowNs - this.#enteredNs < LEARNT_NS)
    )
      return;
    const prior = this.#policy.exportPrior?.();
    if (prior === undefined) return;
    this.#priors[this.#network] = prior;
    this.#onLearnt(this.#network, prior);
  }
}
