import { readFileSync } from 'node:fs';
import { TeleopError } from '../core/errors.ts';
import type { FleetConfig } from '../rig/fleet-config.ts';
import type { IceServer } from './messages.ts';
import { turnCredentials } from './turn.ts';

/** Servers for both ends of a session, with credentials that expire. */
export function iceServersFor(user: string, config: FleetConfig): IceServer[] {
  const { iceServers, turnSecretFile, turnHours } = config;
  const secret = turnSecretFile === '' ? '' : secretOf(turnSecretFile);
  const expiresS = Date.now() / 1000 + turnHours * 3600;
  return iceServers.map((url) =>
    url.startsWith('turn:') ? { url, ...turnCredentials(secret, user, expiresS) } : { url },
  );
}

function secretOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new TeleopError('file-unreadable', `the TURN secret ${file} cannot be read`, {
      hint: 'Write the TURN server’s static-auth-secret into it, or leave fleet.turnSecretFile empty.',
      cause,
    });
  }
}
