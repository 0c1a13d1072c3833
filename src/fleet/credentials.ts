import { z } from 'zod';
import { parseJson } from '../core/parse-json.ts';
import { isSignedBy } from './leases/lease-keys.ts';
import { natsPublicKey, seedSigner } from './nkey.ts';

/** Holds the permissions of a user of many robots. */
export const MAX_CREDENTIALS_BYTES = 1 << 20;

const subjectsSchema = z.object({ allow: z.array(z.string()).optional() }).optional();
const claimsSchema = z.object({
  iss: z.string().max(64),
  name: z.string().max(128),
  nats: z.object({
    pub: subjectsSchema,
    sub: subjectsSchema,
    tags: z.array(z.string()).optional(),
    issuer_account: z.string().max(64).optional(),
  }),
});

export interface Credentials {
  uc: z.infer<typeof claimsSchema>;
  /** The user's token, as the broker checks it. */
  token: string;
  /** Signs with the user's key; base64url. */
  sign(text: string): string;
}

const BLOCK = /-{3,}BEGIN ([A-Z ]+)-{3,}\s+(\S+)\s+-{3,}END \1-{3,}/g;

/** Reads a credentials file; throws if it holds no valid ones. */
export function parseCredentials(text: string): Credentials {
  const blocks = new Map([...text.matchAll(BLOCK)].map(([, name = '', block = '']) => [name, block]));
  const [token, seed] = [blocks.get('NATS USER JWT'), blocks.get('USER NKEY SEED')];
  if (token === undefined || seed === undefined) throw new Error('bad credentials');
  const [head = '', body = '', signature = ''] = token.split('.');
  const uc = parseJson(Buffer.from(body, 'base64url'), claimsSchema, MAX_CREDENTIALS_BYTES);
  if (typeof uc === 'string') throw new Error(`bad credentials: ${uc}`);
  const issuer = natsPublicKey(uc.iss);
  if (issuer === null || !isSignedBy(issuer, `${head}.${body}`, signature))
    throw new Error('bad credentials: not signed by their account');
  return { uc, token, sign: seedSigner(seed) };
}
