import { networkOf, type Priors } from './network-memory.ts';
import type { PriorJson } from './playout/adaptive/prior.ts';
import type { PlayoutPolicy } from './playout/playout-policy.ts';

/** What was learnt is left behind so often, and when the operator goes; not if it stayed for less. */
const LEARNT_NS = 60e9;
/** A network that changes under the robot, such as an emulated one, is not worth remembering. */
const FORGOTTEN = 'none';

/** Which network the operator is on, what playout knew of it, and what it leaves behind. */
export class NetworkLearning {
  readonly #policy: PlayoutPolicy;
  readonly #priors: Priors;
  readonly #name: string;
  readonly #onLearnt: (network: string, prior: PriorJson) => void;
  #network = '';
  #enteredNs = 0;
  #learntNs = 0;

  /** `name` is the network's where a rig gives one; else it goes by the operator's address. */
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

  /** A new session: begins from what was learnt about its network; on the one in use, playout knows better. */
  enter(address: string, nowNs: number): void {
    const network = this.#name || networkOf(address);
    this.leave(nowNs);
    if (network === this.#network) return this.#policy.restart?.();
    this.#policy.restart?.(this.#priors[network] ?? null);
    this.#network = network;
    this.#enteredNs = nowNs;
  }

  /** Now and then, while an operator is there. Hot path. */
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
