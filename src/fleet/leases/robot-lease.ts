import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { parseJson } from '../../core/parse-json.ts';
import { PRIVATE, writeWhole } from '../../files/write-whole.ts';
import type { Grant, GrantKeys, Signed } from './grant.ts';
import {
  announced,
  type GuardState,
  type LeaseRefusal,
  newGuard,
  presented,
  refusalOf,
  withNonce,
} from './grant-guard.ts';
import type { LeaseClient } from './lease-client.ts';

/** How often a driven robot renews its driver's lease. */
const KEEP_NS = 2e9;
/** A nonce is given out for this long. */
const NONCE_NS = 0.25e9;

export interface RobotLeaseOptions {
  client: LeaseClient;
  robot: string;
  keys: GrantKeys;
  /** Keeps the highest token over restarts. */
  file: string;
  termNs: number;
  /** Monotonic. */
  nowNs(): number;
}

const floorSchema = z.strictObject({ high: z.int().min(0), key: z.string().max(64) });
const MAX_FILE_BYTES = 1024;

/**
 * The robot's side of its lease: which operator it obeys, and until when. It renews the lease itself while
 * somebody drives, so that neither end depends on the other's path to the broker. All times are on its own
 * monotonic clock.
 */
export class RobotLease {
  readonly #options: RobotLeaseOptions;
  #state: GuardState;
  #keptNs = Number.NEGATIVE_INFINITY;
  #keeping = false;

  constructor(options: RobotLeaseOptions) {
    this.#options = options;
    const { high, key } = readFloor(options.file);
    this.#state = newGuard(high, key);
    if (high > 0) this.#raise();
  }

  get user(): string {
    return this.#state.user;
  }

  get untilNs(): number {
    return this.#state.untilNs;
  }

  refusal(key: string, token: number, nowNs: number): LeaseRefusal | null {
    return refusalOf(this.#state, key, token, nowNs);
  }

  /** For the next grant. */
  nonce(nowNs: number): string {
    const newest = this.#state.nonces.at(-1);
    if (newest !== undefined && nowNs - newest.madeNs < NONCE_NS) return newest.nonce;
    const nonce = randomBytes(12).toString('base64url');
    this.#state = withNonce(this.#state, nonce, nowNs, this.#options.termNs);
    return nonce;
  }

  /** A grant from anywhere. The grant if it counts, else why it does not. */
  present(signed: Signed, nowNs: number): Grant | LeaseRefusal {
    const { keys, robot, termNs } = this.#options;
    const grant = keys.opened(signed, robot);
    if (grant === null) return 'no-lease';
    const { state, refusal } = presented(this.#state, grant, nowNs, termNs);
    if (refusal === 'old-token') this.#raise();
    if (refusal !== null) return refusal;
    // On disk before the first command under a new token passes.
    if (state.high !== this.#state.high && !this.#save(state)) return 'not-saved';
    this.#state = state;
    return grant;
  }

  /** The lease service announced a change; true: it ended the current lease. */
  received(signed: Signed): boolean {
    // Renewals are announced, too, and change nothing.
    const change = this.#options.keys.opened(signed, this.#options.robot, this.#state.high + 1);
    if (change === null) return false;
    const state = announced(this.#state, change);
    const isOver = state.high !== this.#state.high && this.#state.user !== '';
    this.#state = state;
    return isOver;
  }

  /** While commands arrive. `tell`: passes the nonce to the operator, who may reach the broker when this robot does not. */
  keep(nowNs: number, tell: (nonce: string) => void): void {
    if (nowNs - this.#keptNs < KEEP_NS) return;
    this.#keptNs = nowNs;
    const nonce = this.nonce(nowNs);
    tell(nonce);
    if (!this.#keeping) void this.#ask(nonce);
  }

  /** The driver left: frees the lease. */
  leave(token: number): void {
    this.#state = { ...this.#state, user: '', untilNs: Number.NEGATIVE_INFINITY };
    void this.#options.client.drop(this.#options.robot, token).catch(() => {});
  }

  async #ask(nonce: string): Promise<void> {
    this.#keeping = true;
    const { client, robot } = this.#options;
    try {
      const held = await client.keep(robot, this.#state.high, nonce);
      if (held !== null) this.present(held.grant, this.#options.nowNs());
    } catch {
      // No answer: the deadline stays.
    } finally {
      this.#keeping = false;
    }
  }

  #raise(): void {
    const { client, robot } = this.#options;
    void client.raise(robot, this.#state.high).catch(() => {});
  }

  /** False: it could not be written, for example because the disk is full. */
  #save({ high, key }: GuardState): boolean {
    try {
      writeWhole(this.#options.file, `${JSON.stringify({ high, key })}\n`, PRIVATE);
      return true;
    } catch (error) {
      console.error(`farhand: fleet: nobody can drive this robot: ${(error as Error).message}`);
      return false;
    }
  }
}

/** A missing or damaged file is no reason to stay away: nonces from before a restart are void anyway. */
function readFloor(file: string): { high: number; key: string } {
  if (!existsSync(file)) return { high: 0, key: '' };
  const floor = parseJson(readFileSync(file), floorSchema, MAX_FILE_BYTES);
  return typeof floor === 'string' ? { high: 0, key: '' } : floor;
}
