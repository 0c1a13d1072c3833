import type { Peer } from '../reactor.ts';
import { peerPort } from '../reactor.ts';
import { impairmentSchema } from './impairment.ts';
import { LinkModel } from './link-model.ts';
import { PROFILES, type ProfileName } from './profiles.ts';

const DATAGRAM_BYTES = 600;

/** Both directions of an emulated link between two roles in one thread; also what it costs at the moment. */
export class LocalLink {
  upS = 0;
  downS = 0;
  readonly #models: readonly LinkModel[];
  readonly #firstOperatorPort: number;

  /** Ports of the robot are below `firstOperatorPort`. */
  constructor(name: ProfileName, seed: number, startNs: number, firstOperatorPort: number) {
    const impairment = impairmentSchema.parse(PROFILES[name].impairment);
    const direction = { label: name, impairment, events: [], trace: null, tracePhaseNs: 0 };
    this.#models = ['forward', 'return'].map((way) => new LinkModel(direction, seed, way, startNs));
    this.#firstOperatorPort = firstOperatorPort;
  }

  /** Null: lost. */
  delayNs(to: Peer, nowNs: number): number | null {
    const isUp = peerPort(to) < this.#firstOperatorPort;
    const outNs = this.#models[isUp ? 0 : 1]!.admit(nowNs, DATAGRAM_BYTES);
    if (outNs === null) return null;
    const delayS = (outNs - nowNs) / 1e9;
    if (isUp) this.upS = delayS;
    else this.downS = delayS;
    return outNs - nowNs;
  }
}
