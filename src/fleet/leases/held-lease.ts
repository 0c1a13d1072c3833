import { TeleopError } from '../../core/errors.ts';
import type { Signed } from './grant.ts';
import type { LeaseClient } from './lease-client.ts';
import { makeKey, signer } from './lease-keys.ts';

export const RENEW_MS = 2000;

export interface HeldLeaseHandlers {
  /** Another holder has it, or it was taken away. */
  lost(): void;
  /** A renewal was granted. */
  granted?(grant: Signed): void;
}

/**
 * A robot's lease, renewed until it is released or lost. A silent broker does not end it: the robot decides
 * how long it continues.
 */
export class HeldLease {
  readonly robot: string;
  readonly token: number;
  /** Made for this acquisition; proves to the robot that the path ends here. */
  readonly key: string;
  readonly sign: (text: string) => string;
  /** The robot's newest; empty: none yet. */
  nonce = '';
  readonly #client: LeaseClient;
  readonly #handlers: HeldLeaseHandlers;
  readonly #timer: NodeJS.Timeout;
  #busy = false;
  #over = false;

  private constructor(
    client: LeaseClient,
    taken: { robot: string; token: number; key: string; privatePem: string },
    handlers: HeldLeaseHandlers,
  ) {
    this.#client = client;
    this.#handlers = handlers;
    this.robot = taken.robot;
    this.token = taken.token;
    this.key = taken.key;
    this.sign = signer(taken.privatePem);
    this.#timer = setInterval(() => void this.#renew(), RENEW_MS);
  }

  /** Throws if another holder has it. */
  static async take(client: LeaseClient, robot: string, handlers: HeldLeaseHandlers): Promise<HeldLease> {
    const { privatePem, publicKey: key } = makeKey();
    const { token } = await client.take(robot, key);
    return new HeldLease(client, { robot, key, privatePem, token }, handlers);
  }

  /** A grant that the robot which made this nonce accepts. Throws if the lease is over. */
  async grantFor(nonce: string): Promise<Signed> {
    this.nonce = nonce;
    const held = this.#over ? null : await this.#client.renew(this.robot, this.token, nonce);
    if (held !== null) return held.grant;
    this.#lost();
    throw new TeleopError('lease-held', `the lease of ${this.robot} is over`, { hint: 'Take it again.' });
  }

  /** False: it was no longer held, or nobody answered. `to`: whom it is handed over to. */
  async release(to?: string): Promise<boolean> {
    const wasOver = this.#over;
    this.stop();
    return wasOver ? false : this.#client.release(this.robot, this.token, to).catch(() => false);
  }

  /** The lease service announced a change: a higher token means that this lease is over. */
  announced(token: number): void {
    if (token > this.token) this.#lost();
  }

  /** Without releasing it. */
  stop(): void {
    this.#over = true;
    clearInterval(this.#timer);
  }

  #lost(): void {
    if (this.#over) return;
    this.stop();
    this.#handlers.lost();
  }

  async #renew(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    try {
      const held = await this.#client.renew(this.robot, this.token, this.nonce);
      if (this.#over) return;
      if (held === null) this.#lost();
      else this.#handlers.granted?.(held.grant);
    } catch {
      // No answer: the robot continues for its term, and the next renewal may succeed.
    } finally {
      this.#busy = false;
    }
  }
}
