import type { KeyObject } from 'node:crypto';
import { z } from 'zod';
import { parseJson } from '../../core/parse-json.ts';
import { isSignedBy, publicKey } from './lease-keys.ts';

/** A signed statement of the lease service: who may drive a robot, under which token. */

const MAX_BODY_BYTES = 1024;
export const ANNOUNCED = 'announced';

/** As sent: the text that was signed, and the signature. */
export const signedSchema = z.strictObject({
  body: z.string().max(MAX_BODY_BYTES),
  sig: z.string().max(88),
});
export type Signed = z.infer<typeof signedSchema>;

const grantSchema = z.strictObject({
  robot: z.string().max(128),
  /** Empty: nobody. */
  user: z.string().max(64),
  /** Made by the holder for this acquisition; signs its part of the path. */
  key: z.string().max(64),
  token: z.int().min(1),
  /** Made by the robot; `announced`: not a grant, only an announcement, which begins nothing. */
  nonce: z.string().max(64),
  termMs: z.int().min(1000).max(60_000),
});
export type Grant = z.infer<typeof grantSchema>;

export const signGrant = (grant: Grant, sign: (text: string) => string): Signed => {
  const body = JSON.stringify(grant);
  return { body, sig: sign(body) };
};

/** The keys of a robot's lease service. */
export class GrantKeys {
  readonly #keys: KeyObject[];

  constructor(keys: readonly string[]) {
    this.#keys = keys.flatMap((key) => publicKey(key) ?? []);
  }

  get isEmpty(): boolean {
    return this.#keys.length === 0;
  }

  /**
   * The statement about this robot; null: not signed by its lease service, about another robot, or with a token
   * below `least`, whose signature is not checked at all.
   */
  opened({ body, sig }: Signed, robot: string, least = 0): Grant | null {
    const grant = parseJson(body, grantSchema, MAX_BODY_BYTES);
    if (typeof grant === 'string' || grant.robot !== robot || grant.token < least) return null;
    return this.#keys.some((key) => isSignedBy(key, body, sig)) ? grant : null;
  }
}
