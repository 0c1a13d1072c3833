import { createHmac } from 'node:crypto';

export interface TurnCredentials {
  username: string;
  password: string;
}

/**
 * Credentials that a TURN server with this secret accepts until `expiresS` (Unix time): coturn's
 * `use-auth-secret`.
 */
export function turnCredentials(secret: string, user: string, expiresS: number): TurnCredentials {
  const username = `${Math.floor(expiresS)}:${user}`;
  return { username, password: createHmac('sha1', secret).update(username).digest('base64') };
}
