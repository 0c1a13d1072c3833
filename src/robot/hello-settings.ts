import type { Reason } from '../core/counters.ts';
import type { PlayoutRequest } from '../messages/playout-request.ts';
import { NO_REQUEST } from '../wire/codecs/desk.ts';
import type { OperatorHello } from './operator-hello.ts';
import type { PlayoutPolicy } from './playout/playout-policy.ts';

/** What the operator's hello chooses, within the robot's own limits. */
export class HelloSettings {
  /** How long the arm holds through a silence of the operator before it stops. */
  outageHoldS = 0;
  readonly #policy: PlayoutPolicy;
  readonly #maxOutageHoldS: number;
  readonly #inForce: PlayoutRequest = { ...NO_REQUEST };

  constructor(policy: PlayoutPolicy, maxOutageHoldS: number) {
    this.#policy = policy;
    this.#maxOutageHoldS = maxOutageHoldS;
  }

  /** Returns why the message was rejected; its sender may still renew the lease. */
  take(hello: OperatorHello): Reason | null {
    if (hello.malformed !== null) return hello.malformed;
    this.outageHoldS = Math.min(hello.outageHoldS, this.#maxOutageHoldS);
    this.#takePlayoutRequest(hello.request);
    return null;
  }

  #takePlayoutRequest(request: PlayoutRequest): void {
    const { quality, capMs, mode = null } = this.#inForce;
    if (request.quality === quality && request.capMs === capMs && (request.mode ?? null) === mode) return;
    Object.assign(this.#inForce, request);
    this.#policy.request?.(request.quality, request.capMs);
    if ((request.mode ?? null) !== mode) this.#policy.choose?.(request.mode ?? null);
  }
}
