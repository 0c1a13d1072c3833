import { z } from 'zod';
import { parseJson } from '../core/parse-json.ts';
import { isSignedBy } from './leases/lease-keys.ts';
import { natsPublicKey } from './nkey.ts';
import { subjects } from './subjects.ts';

const MAX_TOKEN_BYTES = 16 * 1024;

const claimsSchema = z.object({
  iss: z.string().max(64),
  sub: z.string().max(64),
  exp: z.number().optional(),
  nats: z.object({ sub: z.object({ allow: z.array(z.string()) }) }),
});

export interface RobotProof {
  /** The robot's credentials, without their key. */
  token: string;
  /** Of `text`, with that key. */
  sig: string;
  text: string;
}

/**
 * Whether a text was signed by a robot of this name: by the key in credentials that the fleet's own account
 * issued for it. `account`: the public key of the account that issued our credentials. `nowS`: Unix time.
 */
export function isFromRobot(
  { token, sig, text }: RobotProof,
  robot: string,
  account: string,
  nowS: number,
): boolean {
  const [head = '', body = '', signature = ''] = token.split('.');
  const issuer = natsPublicKey(account);
  if (issuer === null || !isSignedBy(issuer, `${head}.${body}`, signature)) return false;
  const claims = parseJson(Buffer.from(body, 'base64url'), claimsSchema, MAX_TOKEN_BYTES);
  if (typeof claims === 'string' || claims.iss !== account || (claims.exp ?? nowS + 1) <= nowS) return false;
  const key = natsPublicKey(claims.sub);
  const isRobot = claims.nats.sub.allow.includes(subjects.signal(robot, '*'));
  return isRobot && key !== null && isSignedBy(key, text, sig);
}
